"""The terms of a question, and the pages that have them, best first.

The order is BM25 over sections (Robertson and Zaragoza, The Probabilistic Relevance Framework).
"""

# A section scores the rarity of each term times its count, which saturates (SATURATION) and is set off
# against the section's length (LENGTH). A heading that is most of the question counts extra (HEADING_WEIGHT,
# WHOLE_HEADING_FACTOR). The sum is multiplied by the share of the question that the section has (COVERAGE). A
# page scores its best section, a part (NEXT_SECTION_SHARE) of each further one, and the terms in its name
# (NAME_WEIGHT): its first heading and its file name. The constants are textbook values, or were moved only
# where both halves of the questions gained.

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from ..pages import DocsPage
from .index import CHUNK, WORD_JOINT, Index, IndexedSection
from .spelling import STOP_WORDS, nearest, words

# Decimals and single digits: coordinates and versions, which no page is about.
MERE_NUMBER = r"(?<![^\W_])(?:\d+\.)*\d+\.\d+(?![^\W_])|(?<![^\W_])\d(?![^\W_])"

# Printing terms in the words of users, and what the English documentation calls them: a line of
# `glossary.txt` has entries `key: meaning`. A Russian key is stems; each fits the words that begin
# with it; an English key is whole words. `a/b` in a meaning are alternatives for one word. A search looks for
# the meaning beside the words as they were typed. Of the keys that fit, the one with most words wins.
GLOSSARY = Path(__file__).with_name("glossary.txt")
# BM25's k1 and b: how soon a count saturates, how much the length of a section weighs.
SATURATION = 1.2
LENGTH = 0.75
# The weight of a heading, by the share of it that the question says.
HEADING_WEIGHT = 0.5
# The factor of a section whose heading is the whole question, of two words or more: `filament sensors`.
WHOLE_HEADING_FACTOR = 1.75
# The power of the share of the question that a section has.
COVERAGE = 0.7
# The weight of what a page's name has of the question.
NAME_WEIGHT = 2.0
# The part of its score that a page's next section adds, again of that the one after it.
NEXT_SECTION_SHARE = 0.4
# The factor of a page of a further source, unless the question names the source.
FURTHER_SOURCE_FACTOR = 0.8
# The terms of a question that are looked for: a pasted log has no more to say than its first lines.
MOST_TERMS = 32
# The sections of a page that add to its score.
MOST_SECTIONS = 4

# A term: the words of the pages that mean it.
Term = frozenset[str]


def question_terms(text: str, index: Index) -> tuple[list[Term], list[str]]:
    """Take a question apart: its terms, each once, without stop words; the typed words that no page has."""
    plain = re.sub(MERE_NUMBER, " ", text)
    # Each typed word with its term, empty if no page has it; of words that are an expression of the glossary
    # the first, with the terms of the meaning.
    words_and_terms = []
    typed = words(plain)
    while typed:
        size, meaning = meaning_of(typed)
        group, typed = typed[:size], typed[size:]
        word = group[0]
        if size == 1 and (len(word) == 1 or "'" in word or word in STOP_WORDS):
            continue
        forms = _forms_of_any(group, index)
        group_terms = [
            forms | _forms_of_any(alternatives.split("/"), index) for alternatives in meaning
        ]
        if not any(group_terms):
            group_terms = [_near_words(other, index) for other in group]
        words_and_terms += [(word, term) for term in group_terms]

    terms = [term for _, term in words_and_terms]
    # Identifiers as one word, or as a part of one: `SET_PRESSURE_ADVANCE`, `ed_mes`.
    for chunk in CHUNK.findall(plain.lower()):
        joined = WORD_JOINT.sub("", chunk)
        if joined != chunk:
            terms.append(index.forms(joined) or index.containing(joined))
    absent = [word for word, term in words_and_terms if not term and not index.containing(word)]
    distinct = list(filter(None, dict.fromkeys(terms)))
    return distinct[:MOST_TERMS], list(dict.fromkeys(absent))


def _forms_of_any(alternatives: Iterable[str], index: Index) -> Term:
    """Words of the pages that are a form of any of these words."""
    return Term().union(*(index.forms(WORD_JOINT.sub("", word)) for word in alternatives))


def _near_words(word: str, index: Index) -> Term:
    """Find words that contain one that no page has; if there are none, the word that was meant."""
    containing = index.containing(word) if len(word) > 2 else Term()
    candidates = chain(index.beginning(word[:1]), index.beginning(word[1:2]))
    return containing or index.forms(nearest(word, candidates))


def meaning_of(typed: list[str]) -> tuple[int, list[str]]:
    """Look up how many of the first words have a meaning together, and that meaning; the first word itself
    if it has none."""
    for key, meaning in glossary().get(typed[0][:2], ()):
        if len(key) <= len(typed) and all(map(_fits, typed, key)):
            return len(key), meaning
    return 1, typed[:1]


def _fits(word: str, key: str) -> bool:
    if key.isascii():
        return word == key
    # A stem of three letters (`ток`) takes only a short ending.
    return word.startswith(key) and (len(key) > 3 or len(word) <= len(key) + 2)


@cache
def glossary() -> dict[str, list[tuple[list[str], list[str]]]]:
    """Read the entries, words of the key and of the meaning, by the first two letters of their keys; keys of
    more words first, then longer ones."""
    entries = defaultdict(list)
    for key, value in re.findall(r"([^\s;][^;\n]*): ([^;\n]+)", GLOSSARY.read_text("utf-8")):
        entries[key[:2].strip()].append((key.split(), value.split()))
    for group in entries.values():
        group.sort(key=lambda entry: (len(entry[0]), entry[0]), reverse=True)
    return entries


class Ranked(NamedTuple):
    """A page with its score, and its sections, best first: score, share of the question, number."""

    page: DocsPage
    score: float
    sections: list[tuple[float, float, int]]


def ranked(index: Index, terms: list[Term], text: str) -> list[Ranked]:
    """Rank the pages that have something of a question, best first. `text` may name a further source."""
    # The terms that each section has, each with its rarity and its count there; the rarity of all together.
    hits = defaultdict(list)
    total = 0.0
    for term in terms:
        counts: Counter[int] = Counter()
        for word in term:
            counts.update(index.counts_of(word))
        # BM25's inverse document frequency, with sections for documents.
        rarity = math.log(1 + (len(index.sections) - len(counts) + 0.5) / (len(counts) + 0.5))
        total += rarity
        for number, count in counts.items():
            hits[number].append((term, rarity, count))

    # The sections of each page with their scores.
    pages = defaultdict(list)
    name_rarities = {}
    for number in sorted(hits):
        section = index.sections[number]
        score, share, heading_rarity = _section_score(index, section, hits[number], total)
        pages[section.page].append((score, share, number))
        if section.offset == 0:  # its heading has the page's name
            name_rarities[section.page] = heading_rarity

    # A page is its name, its best section, and a falling part of each next one.
    result = []
    for number, sections in pages.items():
        sections.sort(key=lambda scored: -scored[0])
        page_score = NAME_WEIGHT * name_rarities.get(number, 0)
        for rank, (score, _, _) in enumerate(sections[:MOST_SECTIONS]):
            page_score += score * NEXT_SECTION_SHARE**rank
        page = index.files[number]
        if page.source not in text.lower():
            page_score *= FURTHER_SOURCE_FACTOR
        result.append(Ranked(page, page_score, sections))
    return sorted(result, key=lambda page: -page.score)


def _section_score(
    index: Index, section: IndexedSection, hits: list[tuple[Term, float, int]], total: float
) -> tuple[float, float, float]:
    """Compute a section's score, the share of the question that it has, and the rarity of the terms in its
    heading."""
    # The count at half of the saturation; a short section needs fewer.
    size = max(section.size / index.mean, 1)
    half = SATURATION * (1 - LENGTH + LENGTH * size)
    score = rarities = heading_rarity = 0.0
    heading_matches = 0
    for term, rarity, times in hits:
        score += rarity * times * (SATURATION + 1) / (times + half)
        rarities += rarity
        if common := term.intersection(section.heading_words):
            heading_rarity += rarity
            heading_matches += len(common)

    # A heading counts by the share of it that is the question.
    score += HEADING_WEIGHT * heading_rarity * heading_matches / max(len(section.heading_words), 1)
    if len(hits) > 1 and heading_rarity >= total and heading_matches >= len(section.heading_words):
        score *= WHOLE_HEADING_FACTOR
    share = rarities / total
    return score * share**COVERAGE, share, heading_rarity
