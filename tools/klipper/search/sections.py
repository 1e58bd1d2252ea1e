"""The sections of a page that say most about a question."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tools.klipper.markdown import Outline, Spot
from tools.klipper.search.evidence import Hit

DEFINING = (":", "]")


@dataclass
class Section:
    """A passage under one heading: its hits, and as bits the terms `named` in the heading, those it has `nearly`, in
    other words, and those `defined` as options."""

    spot: Spot | None
    hits: list[Hit] = field(default_factory=list)
    named: int = 0
    nearly: int = 0
    defined: int = 0
    terms: int = 0

    @property
    def offset(self) -> int:
        """Where it begins."""
        return self.spot.offset if self.spot else 0


def split(text: str, outline: Outline, hits: Sequence[Hit], first: int, end: int) -> Iterator[Section]:
    """The hits of a passage (`hits[first:end]`) under the headings they stand under."""
    while first < end:
        spot = outline.above(hits[first][0])
        below = outline.below(hits[first][0] + 1)
        last = bisect_left(hits, (below.offset,), first, end) if below else end
        section = Section(spot, list(hits[first : max(last, first + 1)]))
        if spot:
            _name(section, hits[bisect_left(hits, (spot.offset,)) : bisect_left(hits, (spot.end,))])
        for hit in section.hits:
            section.terms |= 1 << hit[2]
            if hit[3] == 1 and text[hit[1] : hit[1] + 1] in DEFINING and _defines(text, hit):
                section.defined |= 1 << hit[2]
        yield section
        first = max(last, first + 1)


def _name(section: Section, hits: Sequence[Hit]) -> None:
    for hit in hits:
        if hit[3] == 1:
            section.named |= 1 << hit[2]
        else:
            section.nearly |= 1 << hit[2]


def _defines(text: str, hit: Hit) -> bool:
    """Whether the term ends the name that a line begins with, as in `#max_velocity: 300` and `[bed_mesh]`."""
    start, end = hit[:2]
    if text.startswith("](", end):
        return False
    before = text[text.rfind("\n", 0, start) + 1 : start].lstrip("#[")
    return not before or before.replace("_", "a").isalnum()
