"""The order of pages and their sections: BM25 over sections (Robertson and Zaragoza, The Probabilistic Relevance Framework)."""

# A section scores for each term its rarity, times how often it has it, which saturates (SATURATION), for its length (LENGTH).
# What the page's file name and title have counts in each of its sections as if it were there NAMED times. A heading that
# says the question and little else counts besides (HEADED). The sum is worth less, the less of the question a section has
# (COVERAGE). A page is its best section and a part (NEXT) of each next one, and what its name has of the question
# (OF_NAME). The constants are textbook values, or were moved only where both halves of the questions gained.

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tools.klipper.search.index import Index
from tools.klipper.search.query import Term

SATURATION, LENGTH = 1.2, 0.75
NAMED, HEADED, OF_NAME = 4, 0.5, 1
COVERAGE = 0.7
WHOLE = 0.9
"""The share of a question that a page's name has to have to be the answer itself."""
NEXT, MOST_NEXT = 0.4, 4


class Ranked(NamedTuple):
    """A page by its number with its score; the numbers of its sections, best first, each with its score."""

    page: int
    score: float
    sections: list[tuple[float, int]]


def ranked(index: Index, terms: Sequence[Term]) -> list[Ranked]:
    """The pages that have something of a question, best first."""
    scores: defaultdict[int, float] = defaultdict(float)
    shares: defaultdict[int, float] = defaultdict(float)
    names: defaultdict[int, float] = defaultdict(float)
    rarities = []
    for term in terms:
        counts, named = _counts(index, term)
        rarity = term.weight * math.log(1 + (len(index.places) - len(counts) + 0.5) / (len(counts) + 0.5))
        rarities.append(rarity)
        for page, share in named.items():
            names[page] += rarity * share
            for section in index.sections[page]:
                counts[section] += NAMED * share
        for section, count in counts.items():
            size = max(index.places[section].size / index.mean, 1)  # a short section is not more about it
            score = count * (SATURATION + 1) / (count + SATURATION * (1 - LENGTH + LENGTH * size))
            scores[section] += rarity * score
            shares[section] += rarity
    for section, score in _headed(index, terms, rarities):
        scores[section] += HEADED * score
    total = sum(rarities) or 1
    pages: defaultdict[int, list[tuple[float, int]]] = defaultdict(list)
    for section, score in scores.items():
        pages[index.places[section].page].append((score * (shares[section] / total) ** COVERAGE, section))
    result = []
    for page, sections in pages.items():
        sections.sort(key=lambda scored: (-scored[0], scored[1]))
        if names[page] >= WHOLE * total:  # who asks for what the page is called wants its beginning
            title = index.sections[page][0]
            sections = [(sections[0][0], title), *(scored for scored in sections if scored[1] != title)]
        together = sum(score * NEXT**number for number, (score, _) in enumerate(sections[:MOST_NEXT]))
        result.append(Ranked(page, together + OF_NAME * names[page], sections))
    return sorted(result, key=lambda page: (-page.score, index.files[page.page].path))


def _counts(index: Index, term: Term) -> tuple[defaultdict[int, float], dict[int, float]]:
    """The count of a term in each section, and its share in each page's name."""
    counts: defaultdict[int, float] = defaultdict(float)
    for word, weight in term.words.items():
        row = index.rows.get(word, ())
        for place in range(0, len(row), 2):
            counts[row[place]] += row[place + 1] * weight
    words = term.words.keys()
    named = {
        page: max(map(term.words.__getitem__, both))
        for page, names in enumerate(index.names)
        if (both := names & words)
    }
    return counts, named


def _headed(index: Index, terms: Sequence[Term], rarities: Sequence[float]) -> Iterator[tuple[int, float]]:
    """The rarity of the terms in each heading, times the share that they are of its words."""
    of_word: dict[str, set[int]] = {}
    for number, term in enumerate(terms):
        for word in term.words:
            of_word.setdefault(word, set()).add(number)
    for section, words in enumerate(index.headed):
        if both := words & of_word.keys():
            having = set().union(*map(of_word.__getitem__, both))
            yield section, sum(rarities[number] for number in having) * len(both) / len(words)
