"""The configuration reference by section and option, in few words."""

from collections.abc import Sequence
from itertools import chain, groupby
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
LONGEST_CHANGE, LONGEST_TEXT, MOST_TEXTS = 160, 300, 6


@Tool("config_reference", title="Options of printer.cfg", requires=pages.require_docs, envelope=True)
def config_reference(section: Name = None, option: Name = None, full: bool = False) -> JsonObject:
    """Look up a printer.cfg section's options (default, required, text), or the sections that have an option;
    with what Config_Changes says. Texts are shortened unless `full`.

    Source: Config_Reference.md and Config_Changes.md as they are in the checkout. Without either name: all
    sections.
    """
    checker = checking.current()
    reference, entries = checker.reference, checker.entries
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
    key = option.strip().strip("#: ").lower()
    shared = [block for block, _ in reference.referred(blocks)]
    where = [*blocks, *shared] or reference.blocks
    if described := _option(where, key, entries):
        return described
    if gone := _changes(entries, key, full=True):
        return {"option": option, "changes": gone[:MOST_CHANGES]}
    names = {named.key for named in chain.from_iterable(block.options for block in where)}
    near = several(key, sorted(names), cutoff=0.5)
    if meant := options.meant_by_marlin(key):
        near = [f"{meant}, which is Marlin's {key}"]
    place = f"[{section}]" if section else PAGE
    raise _unknown(f"No such option in {place}: {option}", near)


def _unknown(message: str, near: list[str]) -> ToolError:
    hint = f"Nearest: {', '.join(near)}." if near else "Without a name config_reference lists all sections."
    return ToolError(message[:300], hint, code="NOT_FOUND")


def _blocks(reference: Reference, name: str) -> list[Block]:
    """The blocks of a section by its name as typed: `[stepper_x]`, `heater_fan hotend`, `common spi
    settings`."""
    wanted = " ".join(name.lower().strip().strip("[]").split())
    kind = reference.kind(wanted)
    own = reference.kinds.get(kind, [])
    if AXIS_STEPPER.fullmatch(kind) and not any(block.options for block in own):
        return reference.kinds["stepper_x"]  # the page describes all axes there
    headings = (wanted, f"[{wanted}]")
    headed = [block for block in reference.blocks if block.heading.lower() in headings]
    return own if any(block in headed for block in own) or not headed else headed


def _section(blocks: Sequence[Block], entries: Sequence[Entry], *, full: bool) -> JsonObject:
    """The options of a section: `name (default): text` each, or those of a group together."""
    described = [_groups(block) for block in blocks]
    lengths = [len(names) + 5 for groups in described for names, _ in groups]
    room = max(LEAST, (BUDGET - sum(lengths)) // max(1, len(lengths)))
    variants = []
    for block, groups in zip(blocks, described, strict=True):
        texts = [(names, text if full else short(text, room)) for names, text in groups]
        place = "" if block.heading.startswith("[") else f", {block.heading}"
        lines = [f"{names}: {text}".rstrip(": ") for names, text in texts]
        variants.append({"of": f"[{block.name}]{place}", "options": lines})
    first = blocks[0]
    answer: JsonObject = {"section": first.name or first.heading, "page": PAGE, "heading": first.heading}
    if len(variants) == 1:
        answer["options"] = variants[0]["options"]
    else:
        answer["variants"] = [variant for variant in variants if variant["options"]]
    answer["see"] = sorted({name for block in blocks for name, _ in block.refers})
    answer["changes"] = _changes(entries, first.kind or first.heading, full=full)
    return {name: value for name, value in answer.items() if value}


def _groups(block: Block) -> list[tuple[str, str]]:
    """The names of each group of options that have a text in common, and that text."""
    groups = []
    for _, group in groupby(block.options, lambda option: option.text or option):
        options = list(group)
        names = ", ".join(_marked(option.name, option) for option in options)
        groups.append((names, options[0].text))
    return groups


def _option(blocks: Sequence[Block], name: str, entries: Sequence[Entry]) -> JsonObject:
    """The reference's words for an option in every one of some blocks that has it."""
    every = [(block, option) for block in blocks for option in block.options]
    found = Options({option.key: option for _, option in reversed(every)}).find(name)  # the first of a series
    if not found:
        return {}
    owners = [(block, option) for block, option in every if option.key == found.key]
    places: dict[str, dict[str, None]] = {}
    for block, option in owners:
        place = _marked(f"[{block.name}]" if block.name else block.heading, option)
        places.setdefault(option.text, {})[place] = None
    room = BUDGET if len(places) == 1 else LONGEST_TEXT
    ordered = sorted(places, key=lambda text: (text.startswith("See the") or not text, -len(places[text])))
    sections = []
    for text in ordered[:MOST_TEXTS]:
        sections.append({"in": list(places[text])[:MOST_OWNERS], "text": short(text, room)})
    answer: JsonObject = {"option": found.name, "page": PAGE, "sections": sections}
    if changed := _changes(entries, name, full=False):
        answer["changes"] = changed
    return answer


def _marked(name: str, option: Option) -> str:
    """A name with the option's default, or that it is required."""
    mark = option.default or ("required" if option.required else "")
    return f"{name} ({mark})" if mark else name


def _changes(entries: Sequence[Entry], name: str, *, full: bool) -> list[str]:
    """The entries of the page on changes that have a name: each entry's date, and of its text the first
    sentence that has it."""
    listed = []
    for entry in changes.about(entries, name):
        text = entry.text if full else short(changes.saying(entry, name), LONGEST_CHANGE)
        listed.append(f"{entry.date}: {text}")
    return listed if full else listed[:MOST_CHANGES]
