"""Order of the pages that have something of a question.

Every part of a page's score is a sum over terms of how rare they are (`rarity`), so the parts compare: the best passage
counts in full, the next ones less and less, then what the page is called, what other pages say where they link to it, and
a deduction for its length, for in a long page something always fits. No page is known by its name.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import pairwise
from typing import NamedTuple

from tools.klipper.markdown import Outline, Spot
from tools.klipper.search.evidence import PASSAGE, Evidence, Hit
from tools.klipper.search.query import ALTERNATIVE, Question
from tools.klipper.search.sections import Section, split


@dataclass(frozen=True)
class Weights:
    """What each kind of evidence counts, fitted to 270 questions: without any one of them MRR falls by 0.002 to 0.06."""

    saturation: float = 3.0
    """Hits of a term in a passage that count half of the most that text can."""
    code_saturation: float = 0.9
    """The same for an identifier as a whole: where it stands once, it is meant."""
    heading: float = 1.0
    """A term in the heading, beside 1 for any number of hits in the text."""
    coverage: float = 0.7
    """Exponent of the share of the question that a passage has."""
    adjacent: float = 0.3
    """Two terms side by side as in the question."""
    near: float = 0.3
    """The terms that stand within NEAR characters."""
    defined: float = 0.45
    """A term that begins a line and ends in a colon: an option where it is described."""
    next_passage: float = 0.32
    """The second passage beside the first; each further one this much of …"""
    further: float = 0.6
    page: float = 0.12
    """The terms that stand anywhere in the page."""
    name: float = 1.2
    """A term in the file name or title."""
    called: float = 0.75
    """A file name that is made of the question's terms alone."""
    linked: float = 0.35
    """The terms beside the best link to the page."""
    length: float = 0.035
    """Deduction for the length of the page: by this of the question's rarity each time it is 2.7 times as long."""


WEIGHTS = Weights()
NEAR = 100
PAGES, PASSAGES = 12, 5
"""So many pages are looked at closely, those that promise most, and so many passages of each are counted."""
CLOSE_GAP, GAP = 3, 16
"""Characters between two terms side by side, where the question has nothing and where it has stop words between."""


ANOTHER = 0.8
"""The share of the best passage's score that another section's has to have to be shown beside it."""


class Place(NamedTuple):
    """A match: the heading it stands under, and where it begins."""

    heading: Spot | None
    at: int


@dataclass(frozen=True)
class Ranked:
    """A page with its score, its title, the place of its best passage, and of one nearly as good in another section."""

    path: str
    score: float
    title: Spot | None
    best: Place
    another: Place | None


@dataclass(frozen=True)
class _Passage:
    score: float
    place: Place


def ranked(
    pages: Sequence[Evidence], question: Question, read: Callable[[str], str], weights: Weights = WEIGHTS
) -> list[Ranked]:
    """The most promising pages, best first. `read` gives the text of one by its path, empty where it has gone."""
    scale = _Scale(pages, question, weights)
    found = [scale.page(page, text) for page in scale.promising(pages) if (text := read(page.path))]
    return sorted(found, key=lambda one: (-one.score, one.path))


class _Scale:
    """The rarity of each term, and what follows from it."""

    def __init__(self, pages: Sequence[Evidence], question: Question, weights: Weights):
        self.weights = weights
        self.pairs = question.pairs
        self.count = question.count
        self.plain = len(question.terms)
        passages = sum(page.size for page in pages) / PASSAGE + 1
        standing = [page.named for page in pages] + [terms for page in pages for terms, _, _ in page.passages]
        counts = [sum(terms >> number & 1 for terms in standing) for number in range(self.count)]
        self.rarity = [math.log(1 + passages / (count + 0.5)) if count else 0.0 for count in counts]
        self.total = sum(self.rarity) or 1.0
        self.sums: dict[int, float] = {}
        self.linked = self.links(pages)

    def of(self, terms: int) -> float:
        """The rarity of the terms together."""
        if terms not in self.sums:
            self.sums[terms] = sum(rarity for number, rarity in enumerate(self.rarity) if terms >> number & 1)
        return self.sums[terms]

    def squared(self, terms: int) -> float:
        """The same, times their share of the question: all terms are worth more than twice a half of them."""
        return self.of(terms) ** 2 / self.total

    def links(self, pages: Sequence[Evidence]) -> dict[str, float]:
        """For each page the best of what other pages have beside a link to it."""
        best: dict[str, float] = {}
        for page in pages:
            for target, terms in page.links:
                if target != page.path:
                    best[target] = max(best.get(target, 0.0), self.squared(terms))
        return best

    def promising(self, pages: Sequence[Evidence]) -> list[Evidence]:
        return nlargest(PAGES, pages, key=self.promise)

    def promise(self, page: Evidence) -> float:
        """What a page is worth as far as it shows without its headings."""
        best = max((self.squared(terms) for terms, _, _ in page.passages), default=0.0)
        return best + self.whole(page, page.named)

    def whole(self, page: Evidence, named: int) -> float:
        """What counts of the page as a whole; `named` are the terms in its file name or title."""
        weights = self.weights
        everywhere = named
        for terms, _, _ in page.passages:
            everywhere |= terms
        words = page.named.bit_count()
        return (
            weights.page * self.squared(everywhere)
            + weights.linked * self.linked.get(page.path, 0.0)
            + weights.name * self.of(named)
            + weights.called * self.squared(page.named) * words / max(words, page.words)
            - weights.length * self.total * math.log(1 + page.size / PASSAGE)
        )

    def page(self, page: Evidence, text: str) -> Ranked:
        outline = Outline(text)
        title = outline.below(0)
        named = page.named
        if title:
            for hit in page.hits:
                if hit[0] > title.end:
                    break
                if hit[0] >= title.offset and hit[3] == 1:
                    named |= 1 << hit[2]
        passages = sorted(self.passages(page, named, text, outline), key=lambda one: -one.score)[:PASSAGES]
        score = self.whole(page, named)
        for number, passage in enumerate(passages):
            share = self.weights.next_passage * self.weights.further ** (number - 1) if number else 1.0
            score += passage.score * share
        best = passages[0] if passages else _Passage(0.0, Place(title, 0))
        others = (
            p.place for p in passages if p.place.heading != best.place.heading and p.score >= ANOTHER * best.score
        )
        return Ranked(page.path, score, title, best.place, next(others, None))

    def passages(self, page: Evidence, named: int, text: str, outline: Outline) -> Iterator[_Passage]:
        for _, first, end in nlargest(PASSAGES + 2, page.passages, key=lambda one: self.squared(one[0])):
            for section in split(text, outline, page.hits, first, end):
                near, at = self.nearest(section.hits)
                score = self.strength(section, named) + self.weights.near * near
                score += self.adjacent(section) + self.weights.defined * self.of(section.defined)
                yield _Passage(score, Place(section.spot, at))

    def strength(self, section: Section, named: int) -> float:
        """What the terms of a passage count by their number and by the heading they are in, and how many there are."""
        counts: dict[int, float] = {}
        for _, _, number, weight in section.hits:
            counts[number] = counts.get(number, 0.0) + weight
        heading = section.named | section.nearly
        have = named | heading | section.terms
        score = self.weights.heading * (self.of(section.named) + ALTERNATIVE * self.of(section.nearly & ~section.named))
        for number, count in counts.items():
            if not heading >> number & 1:
                saturation = self.weights.saturation if number < self.plain else self.weights.code_saturation
                score += self.rarity[number] * count / (count + saturation)
        return score * (self.of(have) / self.total) ** self.weights.coverage

    def adjacent(self, section: Section) -> float:
        """What the pairs of terms count that stand side by side as in the question, each pair once."""
        pairs: set[tuple[int, int]] = set()
        for before, hit in pairwise(section.hits):
            pair = before[2], hit[2]
            gap = hit[0] - before[1]
            if pair in self.pairs and 0 <= gap <= (CLOSE_GAP if self.pairs[pair] else GAP):
                pairs.add(pair)
        return self.weights.adjacent * sum(self.of(1 << first | 1 << second) / 2 for first, second in pairs)

    def nearest(self, hits: Sequence[Hit]) -> tuple[float, int]:
        """The best of what stands within NEAR characters, and where that begins."""
        best, at = -1.0, 0
        left = 0
        counts = [0] * self.count
        terms = 0
        for start, _, number, _ in hits:
            counts[number] += 1
            terms |= 1 << number
            while hits[left][0] < start - NEAR:
                gone = hits[left][2]
                counts[gone] -= 1
                if not counts[gone]:
                    terms ^= 1 << gone
                left += 1
            if (value := self.squared(terms)) > best:
                best, at = value, hits[left][0]
        return best, at
