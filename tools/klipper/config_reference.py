"""The configuration reference by section and option."""

from typing import Annotated

from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.schema import Limits
from tools.core.tool import Tool
from tools.klipper import pages
from tools.klipper.config import changes, shown
from tools.klipper.config.blocks import Block
from tools.klipper.config.reference import PAGE, Reference

Name = Annotated[str | None, Limits(max_length=200)]


@Tool("config_reference", requires=pages.require_docs)
def config_reference(section: Name = None, option: Name = None, full: bool = False) -> JsonObject:
    """Look up a printer.cfg section's options (default, required, text), or the sections that have an option; with what
    Config_Changes says. Texts are shortened unless `full`.

    Source: Config_Reference.md and Config_Changes.md as they are in the checkout. Without either name: all sections.
    """
    reference = Reference(pages.read(pages.resolve(PAGE)))
    entries = changes.entries(pages.read(pages.resolve(changes.PAGE)))
    if not section and not option:
        return {
            "sections": list(reference.kinds),
            "common": [blocks[0].heading for blocks in reference.commons.values()],
        }
    blocks = shown.sections(reference, section) if section else []
    if section and not blocks:
        raise _unknown(f"No such section in {PAGE}: {section}", shown.nearest(reference, section))
    if not option:
        return shown.section(blocks, entries, full=full)
    if described := shown.option(reference, _with_shared(reference, blocks), option, entries):
        return described
    gone = changes.about(entries, option)
    if gone:
        return {"option": option, "changes": [f"{entry.date}: {entry.text}" for entry in gone[:3]]}
    where = f" in [{section}]" if section else f" in {PAGE}"
    raise _unknown(f"No such option{where}: {option}", shown.nearest_options(blocks or reference.blocks, option))


def _with_shared(reference: Reference, blocks: list[Block]) -> list[Block]:
    """The blocks and those they refer to."""
    return [*blocks, *(block for block, _ in reference.referred(blocks))]


def _unknown(message: str, near: list[str]) -> ToolError:
    hint = f"Nearest: {', '.join(near)}." if near else "Without a name config_reference lists all sections."
    return ToolError(message[:300], hint, code="NOT_FOUND")
