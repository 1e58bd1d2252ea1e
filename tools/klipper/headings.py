"""The sections of a page, by what people and pages call them."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from tools.core.errors import ToolError
from tools.core.suggest import several
from tools.klipper import markdown
from tools.klipper.markdown import Outline, anchor, heading_text

CENTURY = "\n20"
# The line end before an entry of a page of dated ones (`Config_Changes.md`), and the date that begins it. A search looks
# through every page that it shows: fixed characters at the beginning are found much faster than `^`.
DATED = re.compile(CENTURY + r"(\d\d)(\d\d)(\d\d): ")

# A date as it is typed, with the number of an entry among those of the same day.
DATE = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(-\d+)?$")

ENTRY_LEVEL = 7
"""A dated entry is below every heading."""

FEWEST_ENTRIES = 3

# What tells the sections of a series apart: `extruder2`, `stepper_x`.
LAST_NUMBER = re.compile(r"\d+$")
AXIS = re.compile(r"_[a-z]$")
MOST_PLACES = 40


class Section(NamedTuple):
    """A section from `offset` to `end`, where the next heading of its or a higher level begins."""

    heading: str
    level: int
    offset: int
    end: int

    def following(self, text: str) -> str:
        """What the section after it is called; "" at the end of the page."""
        spot = Outline(text).below(self.end) if self.level < ENTRY_LEVEL else None
        if spot:
            return heading_text(spot.raw)
        match = DATED.match(text, self.end - 1)
        return _date(match) if match else ""


def sections(text: str) -> dict[str, Section]:
    """The sections of a page by their anchor (the second of two equal ones is `…-1`, as on GitHub), in order."""
    starts = [(heading.text, heading.level, heading.offset) for heading in markdown.headings(text)]
    entries = [(date, ENTRY_LEVEL, offset) for date, offset in _dates(text)]
    return _anchored(_closed(sorted(starts + entries, key=lambda start: start[2]), len(text)))


def entries(text: str) -> list[Section]:
    """The dated entries of a page, in order; without a look at its headings if it has none."""
    dates = _dates(text)
    if not dates:
        return []
    headings = [(heading.text, heading.level, heading.offset) for heading in markdown.headings(text)]
    starts = [(date, ENTRY_LEVEL, offset) for date, offset in dates]
    every = _closed(sorted(headings + starts, key=lambda start: start[2]), len(text))
    return [section for section in every if section.level == ENTRY_LEVEL]


def _dates(text: str) -> list[tuple[str, int]]:
    """The date and the offset of each dated entry; none if there are too few for a page of them."""
    if CENTURY not in text:
        return []
    dates = [(_date(match), match.start() + 1) for match in DATED.finditer(text)]
    return dates if len(dates) >= FEWEST_ENTRIES else []


def _date(match: re.Match[str]) -> str:
    return "20" + "-".join(match.groups())


def _closed(starts: list[tuple[str, int, int]], size: int) -> Iterator[Section]:
    """The sections that begin there, each with its end."""
    ends: list[int] = []
    last_of_level = [size] * (ENTRY_LEVEL + 1)
    for _, level, offset in reversed(starts):
        ends.append(min(last_of_level[: level + 1]))
        last_of_level[level] = offset
    for (heading, level, offset), end in zip(starts, reversed(ends), strict=True):
        yield Section(heading, level, offset, end)


def _anchored(every: Iterator[Section]) -> dict[str, Section]:
    named: dict[str, Section] = {}
    counts: dict[str, int] = {}
    for section in every:
        base = anchor(section.heading)
        number = counts.get(base, 0)
        while (name := f"{base}-{number}" if number else base) in named:
            number += 1
        counts[base] = number
        named[name] = section
    return named


def find(text: str, wanted: str, path: str) -> Section:
    """The section that is meant: by its heading or anchor, a section of printer.cfg, a command, an option or a date.

    Raises ToolError HEADING_NOT_FOUND with the nearest, HEADING_AMBIGUOUS with all that fit.
    """
    if section := _exact(text, wanted.strip()):
        return section
    named = sections(text)
    for name in _spellings(wanted):
        if name and name in named:
            return named[name]
    places = _places(text, wanted, list(named.values()))
    if len(places) == 1:
        return places[0]
    if places:
        raise ToolError(
            f"{len(places)} sections of {path} have {wanted[:80]}",
            f"Name one as heading: {'; '.join(place.heading for place in places)}.",
            code="HEADING_AMBIGUOUS",
        )
    raise _not_found(named, wanted, path)


def _exact(text: str, wanted: str) -> Section | None:
    """The first section whose heading stands in the page as it is wanted: found without the other headings."""
    line = f" {wanted}\n"
    outline: Outline | None = None
    place = text.find(line)
    while place >= 0:
        outline = outline or Outline(text)
        heading = outline.above(place)
        if heading and heading.end == place + len(line) - 1 and heading.raw.strip() == wanted:
            following = outline.below(heading.end)
            while following and following.level > heading.level:
                following = outline.below(following.end)
            end = following.offset if following else len(text)
            return Section(heading_text(heading.raw), heading.level, heading.offset, end)
        place = text.find(line, place + len(line))
    return None


def _spellings(wanted: str) -> Iterator[str]:
    """The anchors that may be meant, the likeliest first."""
    stripped = wanted.strip()
    yield stripped.removeprefix("#")
    yield anchor(stripped.lstrip("# \t"))
    if match := DATE.match(stripped.strip("#: ")):
        yield "-".join(match.groups()[:3]) + (match[4] or "")
    word = stripped.strip("#[] \t").partition(" ")[0].lower()
    if stripped.startswith("[") or "_" in word:
        yield word  # [heater_fan hotend]
        base = LAST_NUMBER.sub("", word)
        if base != word:
            yield base + "1"  # [extruder2] is as [extruder1]
        yield AXIS.sub("", base)  # [stepper_x] is as [stepper]


def _places(text: str, wanted: str, every: list[Section]) -> list[Section]:
    """The innermost sections in which a section of printer.cfg, an option or a command is described."""
    name = wanted.strip().strip("[]:#` \t").partition(" ")[0]
    if not name or len(name) > 80:
        return []
    quoted = re.escape(name)
    offsets = [section.offset for section in every]
    for pattern in (
        rf"^#? ?\[?{quoted}(?: [^\]\n]{{1,80}})?(?:\]|:)",
        rf"^ *[-*] [^`\n]{{0,200}}`{quoted}\b",
        rf"`{quoted}\b",
    ):
        places: dict[Section, None] = {}
        for match in re.finditer(pattern, text, re.MULTILINE | re.IGNORECASE):
            if (at := bisect_right(offsets, match.start())) and len(places) < MOST_PLACES:
                places[every[at - 1]] = None
        if places:
            return list(places)
    return []


def _not_found(named: dict[str, Section], wanted: str, path: str) -> ToolError:
    key = anchor(wanted.lstrip("# \t"))
    near = several(key, named, cutoff=0.4) or [name for name in named if key in name][:3]
    shown = "; ".join(named[name].heading for name in near or list(named)[:5])
    return ToolError(
        f"No such heading in {path}: {wanted[:200]}",
        f"Nearest: {shown}" if shown else f"{path} has no headings.",
        code="HEADING_NOT_FOUND",
    )
