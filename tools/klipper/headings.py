"""The headings of a Markdown page, as GitHub reads them, and its sections, by what people and pages call
them."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from tools.toolkit import ToolError, nearest_names

# A line with at most three blanks, then a heading (one to six marks, then a blank or the end of the line), or
# the fence of a code block: marks and what is behind them; or the date that begins an entry of a page of
# dated ones (`Config_Changes.md`).
HEADING_OR_FENCE = re.compile(
    r"(?m)^(?: {0,3}(?:(#{1,6})(?![^ \t\r\n])([^\n]*)|(`{3,}|~{3,})([^\n]*))|(20\d\d)(\d\d)(\d\d): )"
)
# Marks that close a heading, apart from its text.
CLOSING_MARKS = re.compile(r"(?<![^ \t])#+$")
# Marks that a reader does not see: the address of a link, marks of emphasis and code. Bounded, so that it
# stays linear.
MARKUP = re.compile(r"\[([^\[\]]{0,300})\]\([^()]{0,300}\)|[`*]|(?<!\w)__?|__?(?!\w)")
# Characters that an anchor leaves out.
NOT_IN_ANCHOR = re.compile(r"[^\w\- ]")
# A dated entry is below every heading.
ENTRY_LEVEL = 7
# Words of three characters or more.
LONG_WORD = re.compile(r"\w{3,}")
# Places that describe a name, the likeliest first: as a section or an option of printer.cfg, as a command in
# a list, anywhere as code.
DESCRIPTIONS = (
    r"(?im)^#? ?\[?{}(?: [^\]\n]{{1,80}})?(?:\]|:)",
    r"(?im)^ *[-*] [^`\n]{{0,200}}`{}\b",
    r"(?i)`{}\b",
)


class PageSection(NamedTuple):
    """A section: its heading as plain text, its level (1 to 6), and its text from `offset`, the line of its
    heading, to `end`, the next heading of the same or a higher level."""

    heading: str
    level: int
    offset: int
    end: int = 0


def headings(text: str) -> Iterator[PageSection]:
    """Yield a page's headings (`# …`) and dated entries in order, without their ends. A `#` in a fenced code
    block is not a heading."""
    fence = ""
    for match in HEADING_OR_FENCE.finditer(text):
        marks, title, opening, after, *date = match.groups()
        if fence:  # a block ends with a fence that is at least as long and has nothing behind it
            if opening and opening.startswith(fence) and not after.strip():
                fence = ""
        elif marks:
            plain = _plain(CLOSING_MARKS.sub("", title.strip()))
            yield PageSection(plain, len(marks), match.start())
        elif not opening:
            yield PageSection("-".join(date), ENTRY_LEVEL, match.start())
        elif "`" not in after or opening[0] == "~":  # else it is code in running text
            fence = opening


def _plain(text: str) -> str:
    """Write inline Markdown as a reader sees it: links by their text, without emphasis and code marks."""
    return MARKUP.sub(lambda match: match[1] or "", text).strip()


def anchor(text: str) -> str:
    """Name the anchor that GitHub gives a heading: `#` links end in it."""
    return NOT_IN_ANCHOR.sub("", _plain(text).lower()).replace(" ", "-")


def page_sections(text: str) -> dict[str, PageSection]:
    """List a page's sections by their anchor (the second of two equal ones is `…-1`, as on GitHub), in
    order."""
    starts = list(headings(text))
    by_anchor = {}
    for number, section in enumerate(starts):
        name = base = anchor(section.heading)
        repeats = 0
        while name in by_anchor:
            repeats += 1
            name = f"{base}-{repeats}"
        ends = (later.offset for later in starts[number + 1 :] if later.level <= section.level)
        by_anchor[name] = section._replace(end=next(ends, len(text)))
    return by_anchor


def section_named(text: str, heading: str, path: str) -> PageSection:
    """Find the section that is meant: by its heading or anchor, a section of printer.cfg, a command, an option
    or a date.

    Raises ToolError HEADING_NOT_FOUND with the nearest, HEADING_AMBIGUOUS with all that fit.
    """
    by_anchor = page_sections(text)
    sections = list(by_anchor.values())
    if section := _headed_section(heading, by_anchor):
        return section
    # Sections that describe the name, or else those whose headings have all the words.
    name = heading.strip("[]").partition(" ")[0].strip(":`")
    described = _describing_sections(text, name, sections)
    words = set(LONG_WORD.findall(heading.lower()))
    headed = [
        section for section in sections if words <= set(LONG_WORD.findall(section.heading.lower()))
    ]
    for candidates in (described, headed):
        if len(candidates) == 1:
            return candidates[0]
    if described:
        raise ToolError(
            f"{len(described)} sections of {path} match {heading}",
            f"Name one as heading: {'; '.join(section.heading for section in described)}.",
            "HEADING_AMBIGUOUS",
        )
    # The nearest headings, or else the first ones.
    key = anchor(heading)
    suggestions = (
        nearest_names(key, by_anchor, cutoff=0.4)
        or [name for name in by_anchor if key in name][:3]
        or list(by_anchor)[:5]
    )
    listed = "; ".join(by_anchor[name].heading for name in suggestions)
    hint = f"Nearest: {listed}" if suggestions else f"{path} has no headings."
    raise ToolError(f"No such heading in {path}: {heading}", hint, "HEADING_NOT_FOUND")


def _headed_section(typed: str, by_anchor: dict[str, PageSection]) -> PageSection | None:
    """Find the section of this heading, anchor, date or section of printer.cfg."""
    is_section = typed.startswith("[")
    kind, _, name = typed.strip("[]").lower().partition(" ")
    if is_section and name:  # [mcu EBBCan] is as [mcu my_extra_mcu]
        for section in by_anchor.values():
            if section.heading.startswith(f"[{kind} "):
                return section
    dated = re.sub(r"(20\d\d)(\d\d)(\d\d)\b", r"\1-\2-\3", typed)
    spellings = [anchor(dated.rstrip(": "))]
    if is_section or "_" in kind:
        base = kind.rstrip("0123456789")
        # [heater_fan hotend], [extruder2] as [extruder1], [stepper_x] as [stepper]
        spellings += [kind, base + "1", re.sub(r"_[a-z]$", "", base)]
    return next((by_anchor[spelling] for spelling in spellings if spelling in by_anchor), None)


def _describing_sections(text: str, name: str, sections: list[PageSection]) -> list[PageSection]:
    """Find the innermost sections that describe a section of printer.cfg, an option or a command."""
    if not name:
        return []
    for description in DESCRIPTIONS:
        described = []
        for match in re.finditer(description.format(re.escape(name)), text):
            begun = [section for section in sections if section.offset <= match.start()]
            described += begun[-1:]
        if described:
            return list(dict.fromkeys(described))
    return []
