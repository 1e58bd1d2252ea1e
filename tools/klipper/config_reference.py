"""The configuration reference by section and option, in few words."""

from collections.abc import Sequence
from itertools import groupby
from typing import Annotated

from tools.core.errors import ToolError, several
from tools.core.json_types import JsonObject
from tools.core.schema import Limits
from tools.core.tool import Tool
from tools.klipper import pages
from tools.klipper.config import changes, checking, options
from tools.klipper.config.changes import Entry
from tools.klipper.config.machine import short
from tools.klipper.config.reference import AXIS_STEPPER, PAGE, Block, Option, Options, Reference
from tools.klipper.search import index

Name = Annotated[str | None, Limits(max_length=200)]
BUDGET = 2500
"""Characters of a section's options with shortened texts."""
LEAST = 24
MOST_CHANGES = 4
MOST_OWNERS, MOST_NEAR = 30, 4
LONGEST_CHANGE = 160


@Tool("config_reference", title="Options of printer.cfg", requires=pages.require_docs, envelope=True)
def config_reference(section: Name = None, option: Name = None, full: bool = False) -> JsonObject:
    """Look up a printer.cfg section's options (default, required, text), or the sections that have an option;
    with what Config_Changes says. Texts are shortened unless `full`.

    Source: Config_Reference.md and Config_Changes.md as they are in the checkout. Without either name: all
    sections.
    """
    known = checking.current()
    reference, entries = known.reference, known.entries
    if not section and not option:
        common = [blocks[0].heading for blocks in reference.commons.values()]
        return {"sections": list(reference.kinds), "common": common}
    blocks = _blocks(reference, section) if section else []
    if section and not blocks:
        word = section.strip().strip("[]").lower().partition(" ")[0]
        by_meaning = [name for name, words in index.asked_words()[PAGE].items() if word in words]
        near = by_meaning[:MOST_NEAR] or several(word, reference.kinds)
        raise _unknown(f"No such section in {PAGE}: {section}", near)
    if not option:
        return _section(blocks, entries, full=full)
    with_shared = [*blocks, *(block for block, _ in reference.referred(blocks))]
    if described := _option(reference, with_shared, option, entries):
        return described
    if gone := changes.about(entries, option):
        return {"option": option, "changes": [f"{entry.date}: {entry.text}" for entry in gone[:3]]}
    names = dict.fromkeys(named.key for block in blocks or reference.blocks for named in block.options)
    key = option.strip().lower()
    meant = options.meant_by_marlin(key)
    near = [f"{meant}, which is Marlin's {key}"] if meant else several(key, names, cutoff=0.5)
    raise _unknown(f"No such option in {f'[{section}]' if section else PAGE}: {option}", near)


def _unknown(message: str, near: list[str]) -> ToolError:
    hint = f"Nearest: {', '.join(near)}." if near else "Without a name config_reference lists all sections."
    return ToolError(message[:300], hint, code="NOT_FOUND")


def _blocks(reference: Reference, name: str) -> list[Block]:
    """The blocks of a section by its name as typed: `[stepper_x]`, `heater_fan hotend`, `common spi
    settings`."""
    wanted = " ".join(name.strip().strip("[]").split())
    headed = [
        block
        for block in reference.blocks
        if block.heading.lower() in (f"[{wanted.lower()}]", wanted.lower())
    ]
    kind = reference.kind(wanted) or reference.kind(wanted.lower())
    own = reference.kinds.get(kind, [])
    if AXIS_STEPPER.fullmatch(kind) and not any(block.options for block in own):
        own = reference.kinds["stepper_x"]  # the page describes all axes there
    return own if any(block in headed for block in own) or not headed else headed


def _section(blocks: Sequence[Block], entries: Sequence[Entry], *, full: bool) -> JsonObject:
    """The options of a section: `name (default): text` each, or those of a group together."""
    shown: JsonObject = {
        "section": blocks[0].name or blocks[0].heading,
        "page": PAGE,
        "heading": blocks[0].heading,
    }
    described = []  # of each block the names of each group of options, and the group's text
    for block in blocks:
        groups = [list(group) for _, group in groupby(block.options, lambda option: option.text or option)]
        described.append(
            [(", ".join(_marked(one.name, one) for one in group), group[0].text) for group in groups]
        )
    lengths = [len(names) + 5 for block in described for names, _ in block]
    room = max(LEAST, (BUDGET - sum(lengths)) // max(1, len(lengths)))
    listed = [
        [f"{names}: {text if full else short(text, room)}".rstrip(": ") for names, text in group]
        for group in described
    ]
    if len(blocks) == 1:
        shown["options"] = listed[0]
    else:
        variants: dict[str, list[str]] = {}
        titles: list[str] = []
        for block, lines in zip(blocks, listed, strict=True):
            title = f"[{block.name}]" if block.heading.startswith("[") else f"[{block.name}], {block.heading}"
            titles.append(title)
            count = titles.count(title)
            if lines:
                variants[f"{title} ({count})" if count > 1 else title] = lines
        shown["variants"] = variants
    if refers := sorted({name for block in blocks for name, _ in block.refers}):
        shown["see"] = refers
    return shown | _changes(entries, blocks[0].kind or blocks[0].heading, full=full)


def _option(reference: Reference, blocks: Sequence[Block], name: str, entries: Sequence[Entry]) -> JsonObject:
    """The reference's words for an option: in the section given by its blocks, or in every section that has
    it."""
    key = name.strip().strip("#: ").lower()
    every = [(block, named) for block in blocks or reference.blocks for named in block.options]
    owners = [(block, named) for block, named in every if named.key == key]
    # Else one of a series or a pattern: `screw7_name`, `variable_<name>`.
    owners = owners or [(block, named) for block, named in every if Options({named.key: named}).find(key)]
    if not owners:
        return {}
    texts: dict[str, list[str]] = {}
    for block, named in owners:
        place = _marked(f"[{block.name}]" if block.name else block.heading, named)
        texts.setdefault(named.text, []).append(place)
    described = sorted(
        texts.items(), key=lambda item: (not item[0] or item[0].startswith("See the"), -len(item[1]))
    )
    shown: JsonObject = {"option": owners[0][1].name, "page": PAGE}
    shown["sections"] = [
        {
            "in": list(dict.fromkeys(places))[:MOST_OWNERS],
            "text": text if len(described) == 1 else short(text, 300),
        }
        for text, places in described[:6]
    ]
    return shown | _changes(entries, key, full=False)


def _marked(name: str, option: Option) -> str:
    """A name with the option's default, or that it is required."""
    mark = option.default or ("required" if option.required else "")
    return f"{name} ({mark})" if mark else name


def _changes(entries: Sequence[Entry], name: str, *, full: bool) -> JsonObject:
    """The entries of the page on changes that have a name: each entry's date, and of its text the first
    sentence that has it."""
    named = changes.about(entries, name)[: None if full else MOST_CHANGES]
    texts = (entry.text if full else short(changes.saying(entry, name), LONGEST_CHANGE) for entry in named)
    told = [f"{entry.date}: {text}" for entry, text in zip(named, texts, strict=True)]
    return {"changes": told} if told else {}
