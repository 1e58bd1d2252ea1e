"""Sections and options of the reference in few words."""

from collections.abc import Iterable, Sequence

from tools.core.json_types import JsonObject
from tools.core.suggest import several
from tools.klipper.config import changes
from tools.klipper.config.blocks import Block, Option
from tools.klipper.config.changes import Entry
from tools.klipper.config.reference import PAGE, Reference
from tools.klipper.config.report import short

BUDGET = 2500
"""Characters of a section's options with shortened texts."""

LEAST = 24
MOST_CHANGES = 4
MOST_OWNERS = 30
LONGEST_CHANGE = 160


def sections(reference: Reference, name: str) -> list[Block]:
    """The blocks of a section by its name as typed: `[stepper_x]`, `heater_fan hotend`, `common spi settings`."""
    wanted = " ".join(name.strip().strip("[]").split())
    headed = [block for block in reference.blocks if block.heading.lower() in (f"[{wanted.lower()}]", wanted.lower())]
    kind = reference.kind(wanted) or reference.kind(wanted.lower())
    own = reference.kinds.get(kind, [])
    return own if any(block in headed for block in own) or not headed else headed


def section(blocks: Sequence[Block], entries: Sequence[Entry], *, full: bool) -> JsonObject:
    """The options of a section: `name (default): text` each, or those of a group together."""
    shown: JsonObject = {"section": blocks[0].name or blocks[0].heading, "page": PAGE, "heading": blocks[0].heading}
    groups = [_groups(block.options) for block in blocks]
    count = sum(map(len, groups))
    names = sum(len(_names(group)) + 5 for block in groups for group in block)
    room = max(LEAST, (BUDGET - names) // max(1, count))
    listed = [[_described(group, 0 if full else room) for group in block] for block in groups]
    if len(blocks) == 1:
        shown["options"] = listed[0]
    else:
        titles = [_title(block) for block in blocks]
        shown["variants"] = {title: lines for title, lines in zip(_numbered(titles), listed, strict=True) if lines}
    if refers := sorted({name for block in blocks for name, _ in block.refers}):
        shown["see"] = refers
    return shown | _changes(entries, blocks[0].kind or blocks[0].heading, full=full)


def option(reference: Reference, blocks: Sequence[Block], name: str, entries: Sequence[Entry]) -> JsonObject:
    """What the reference says of an option: in the section given by its blocks, or in every section that has it."""
    key = name.strip().strip("#: ").lower()
    owners = [(block, named) for block in blocks or reference.blocks for named in block.options if named.key == key]
    if not owners:
        return {}
    texts: dict[str, list[str]] = {}
    for block, named in owners:
        value = f" ({_mark(named)})" if _mark(named) else ""
        texts.setdefault(named.text, []).append((f"[{block.name}]" if block.name else block.heading) + value)
    described = sorted(texts.items(), key=lambda item: (not item[0] or item[0].startswith("See the"), -len(item[1])))
    shown: JsonObject = {"option": owners[0][1].name, "page": PAGE}
    shown["sections"] = [
        {"in": list(dict.fromkeys(places))[:MOST_OWNERS], "text": text if len(described) == 1 else short(text, 300)}
        for text, places in described[:6]
    ]
    return shown | _changes(entries, key, full=False)


def nearest(reference: Reference, name: str) -> list[str]:
    """The names of sections most like one."""
    word = name.strip().strip("[]").lower().partition(" ")[0]
    names = [*reference.kinds, *(block.heading[1:-1] for block in reference.blocks if block.heading.startswith("["))]
    return several(word, dict.fromkeys(names))


def nearest_options(blocks: Iterable[Block], name: str) -> list[str]:
    """The names of options most like one."""
    names = dict.fromkeys(option.key for block in blocks for option in block.options)
    return several(name.strip().lower(), names, cutoff=0.5)


def _groups(options: Sequence[Option]) -> list[list[Option]]:
    """The options, those with one text together."""
    groups: list[list[Option]] = []
    for current in options:
        if groups and current.text and groups[-1][-1].text == current.text:
            groups[-1].append(current)
        else:
            groups.append([current])
    return groups


def _names(group: Sequence[Option]) -> str:
    marked = (f"{option.name} ({_mark(option)})" if _mark(option) else option.name for option in group)
    return ", ".join(marked)


def _mark(option: Option) -> str:
    """The default, or that it is required."""
    return option.default or ("required" if option.required else "")


def _described(group: Sequence[Option], most: int) -> str:
    text = group[0].text
    return f"{_names(group)}: {short(text, most) if most else text}".rstrip(": ")


def _title(block: Block) -> str:
    return f"[{block.name}]" if block.heading.startswith("[") else f"[{block.name}], {block.heading}"


def _numbered(titles: Sequence[str]) -> list[str]:
    """The titles, told apart by a number where one comes again."""
    return [
        f"{title} ({titles[:at].count(title) + 1})" if title in titles[:at] else title
        for at, title in enumerate(titles)
    ]


def _changes(entries: Sequence[Entry], name: str, *, full: bool) -> JsonObject:
    """What the page on changes says of a name: each entry's date, and of its text the first sentence that has it."""
    about = changes.about(entries, name)
    if not about:
        return {}
    if full:
        return {"changes": [f"{entry.date}: {entry.text}" for entry in about]}
    return {
        "changes": [
            f"{entry.date}: {short(changes.saying(entry, name), LONGEST_CHANGE)}" for entry in about[:MOST_CHANGES]
        ]
    }
