"""Hits by the section they stand in."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tools.klipper.markdown import Outline, Spot
from tools.klipper.search.evidence import Hit, Window


class Passage(NamedTuple):
    """The hits of a window that stand under one heading (None before the first), and the set of terms in the heading."""

    heading: Spot | None
    hits: Sequence[Hit]
    named: int


def split(outline: Outline, hits: Sequence[Hit], window: Window) -> Iterator[Passage]:
    """The hits of a window by the headings they stand under."""
    first = window.first
    while first < window.end:
        start = hits[first][0]
        heading, following = outline.above(start), outline.below(start + 1)
        last = bisect_left(hits, (following.offset,), first + 1, window.end) if following else window.end
        yield Passage(heading, hits[first:last], terms_in(heading, hits) if heading else 0)
        first = last


def terms_in(heading: Spot, hits: Sequence[Hit]) -> int:
    """The set of terms in a heading."""
    terms = 0
    for _, _, number in hits[bisect_left(hits, (heading.offset,)) : bisect_left(hits, (heading.end,))]:
        terms |= 1 << number
    return terms
