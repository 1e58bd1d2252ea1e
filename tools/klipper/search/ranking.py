"""Order of the pages that have something of a question.

Every part of a page's score is a sum over terms of how rare they are (`rarity`), so the parts compare: the best passage
counts in full, the next ones less and less, then its file name and title, what other pages say where they link to it, and
a deduction for its length, for in a long page something always fits. No page is known by its name.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import pairwise
from typing import NamedTuple

from tools.klipper.markdown import Outline, Spot
from tools.klipper.search.evidence import WINDOW, Evidence, Hit
from tools.klipper.search.query import Question
from tools.klipper.search.sections import Passage, split, terms_in


@dataclass(frozen=True)
class Weights:
    """What each kind of evidence counts beside 1 for a term in a heading.

    Fitted to 270 questions, on which hit@1 is 0.944 and MRR 0.970. Without any one of them MRR falls by 0.013 to 0.05,
    except three: without `closeness` or `page` it falls by less, but a question loses its page; `phrase` is there because
    an exact phrase has to win.
    """

    saturation: float = 3.0
    """Hits of a term in a passage that count half of the most that text can, which is 1, too."""
    coverage: float = 0.7
    """Exponent of the share of the question that a passage has."""
    closeness: float = 0.3
    """Terms that stand together, the less the further apart they are."""
    phrase: float = 0.3
    """Two terms side by side as in the question: an exact phrase has the most of them."""
    next_passage: float = 0.4
    """Each further passage beside the one before it."""
    page: float = 0.12
    """Terms that stand anywhere in the page."""
    name: float = 1.2
    """A term in the file name or title."""
    linked: float = 0.35
    """Terms beside the best link to the page."""
    length: float = 0.035
    """Deduction for the length of the page: this share of the whole question each time it is 2.7 times as long."""


WEIGHTS = Weights()
CLOSE = 200
"""Characters over which closeness falls to nothing."""

SIDE_BY_SIDE = 3
"""Characters that may stand between two terms side by side."""

PAGES, WINDOWS, PASSAGES = 14, 7, 5
"""So many pages are looked at closely, those that promise most; so many windows of each; so many of their passages count."""

ANOTHER = 0.8
"""The share of the best passage's score that another section's has to have to be shown beside it."""


class Place(NamedTuple):
    """A match: the heading it stands under, and where it begins."""

    heading: Spot | None
    offset: int


class Ranked(NamedTuple):
    """A page with its score, its title, the place of its best passage, and of one nearly as good in another section."""

    path: str
    score: float
    title: Spot | None
    best: Place
    another: Place | None


class _Scored(NamedTuple):
    score: float
    place: Place


def ranked(
    pages: Sequence[Evidence], question: Question, read: Callable[[str], str], weights: Weights = WEIGHTS
) -> list[Ranked]:
    """The most promising pages, best first. `read` gives the text of one by its path, empty if the page has gone."""
    scale = _Scale(pages, question, weights)
    close = [scale.page(page, text) for page in nlargest(PAGES, pages, scale.promise) if (text := read(page.path))]
    return sorted(close, key=lambda page: (-page.score, page.path))


class _Scale:
    """The rarity of each term, and the scores that follow from it."""

    def __init__(self, pages: Sequence[Evidence], question: Question, weights: Weights):
        self.weights = weights
        self.count = question.count
        windows = sum(page.size for page in pages) / WINDOW + 1
        sets = [page.named for page in pages] + [window.terms for page in pages for window in page.windows]
        counts = [sum(terms >> number & 1 for terms in sets) for number in range(self.count)]
        self.rarity = [math.log(1 + windows / (count + 0.5)) if count else 0.0 for count in counts]
        self.total = sum(self.rarity) or 1.0
        self.sums: dict[int, float] = {}
        self.linked = self.links(pages)

    def of(self, terms: int) -> float:
        """The rarity of a set of terms."""
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
            for link in page.links:
                if link.path != page.path:
                    best[link.path] = max(best.get(link.path, 0.0), self.squared(link.terms))
        return best

    def promise(self, page: Evidence) -> float:
        """The score of a page as far as it shows without its headings."""
        best = nlargest(PASSAGES, (self.squared(window.terms) for window in page.windows))
        return self.together(best) + self.whole(page, page.named)

    def together(self, scores: Iterable[float]) -> float:
        """What passages count together, the best one first."""
        return sum(score * self.weights.next_passage**number for number, score in enumerate(scores))

    def whole(self, page: Evidence, named: int) -> float:
        """What counts of the page as a whole; `named` are the terms in its file name or title."""
        weights = self.weights
        return (
            weights.page * self.squared(page.named | page.terms)
            + weights.linked * self.linked.get(page.path, 0.0)
            + weights.name * self.of(named)
            - weights.length * self.total * math.log(1 + page.size / WINDOW)
        )

    def page(self, page: Evidence, text: str) -> Ranked:
        """The score of a page with its headings."""
        outline = Outline(text)
        title = outline.below(0)
        named = page.named | (terms_in(title, page.hits) if title else 0)
        passages = nlargest(PASSAGES, self.passages(page, named, outline), key=lambda passage: passage.score)
        score = self.whole(page, named) + self.together(passage.score for passage in passages)
        best = passages[0] if passages else _Scored(0.0, Place(title, 0))
        others = (
            passage.place
            for passage in passages
            if passage.place.heading != best.place.heading and passage.score >= ANOTHER * best.score
        )
        return Ranked(page.path, score, title, best.place, next(others, None))

    def passages(self, page: Evidence, named: int, outline: Outline) -> Iterator[_Scored]:
        """The passages of the windows that have most of the question, with their scores."""
        for window in nlargest(WINDOWS, page.windows, key=lambda window: self.squared(window.terms)):
            for passage in split(outline, page.hits, window):
                closeness, offset = self.closest(passage.hits)
                score = self.strength(passage, named) + self.weights.closeness * closeness
                score += self.weights.phrase * self.phrases(passage.hits)
                yield _Scored(score, Place(passage.heading, offset))

    def strength(self, passage: Passage, named: int) -> float:
        """What the terms of a passage count by their number and by its heading, and how much of the question it has."""
        counts: dict[int, int] = {}
        for _, _, number in passage.hits:
            counts[number] = counts.get(number, 0) + 1
        score = self.of(passage.named)
        terms = named | passage.named
        for number, count in counts.items():
            terms |= 1 << number
            if not passage.named >> number & 1:
                score += self.rarity[number] * count / (count + self.weights.saturation)
        return score * (self.of(terms) / self.total) ** self.weights.coverage

    def phrases(self, hits: Sequence[Hit]) -> float:
        """The rarity of the pairs of terms that stand side by side as in the question, each pair once."""
        pairs = {
            (first, second)
            for (_, end, first), (start, _, second) in pairwise(hits)
            if second == first + 1 and 0 <= start - end <= SIDE_BY_SIDE
        }
        return sum(self.rarity[first] + self.rarity[second] for first, second in pairs) / 2

    def closest(self, hits: Sequence[Hit]) -> tuple[float, int]:
        """The best of the groups of hits that stand close together: what it counts, and where it begins.

        A group ends with each hit in turn and begins as late as it can without the loss of a term.
        """
        best, offset = -1.0, 0
        first = terms = 0
        counts = [0] * self.count
        for start, _, last in hits:
            counts[last] += 1
            terms |= 1 << last
            while counts[hits[first][2]] > 1 or hits[first][0] <= start - CLOSE:
                number = hits[first][2]
                counts[number] -= 1
                if not counts[number]:
                    terms ^= 1 << number
                first += 1
            group = self.squared(terms) * (1 - (start - hits[first][0]) / CLOSE)
            if group > best:
                best, offset = group, hits[first][0]
        return best, offset
