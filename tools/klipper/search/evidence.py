"""Where the terms of a question stand in a page.

Sets of terms are integers with one bit per number of a term: a page has thousands of them.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from posixpath import normpath
from typing import NamedTuple

from tools.klipper.pages import SUFFIX
from tools.klipper.search.query import Phrase, Question, Special, Term
from tools.klipper.search.words import ENDINGS, Stem

# The rest of a word, and what may stand between two words of a phrase.
TAIL = re.compile(r"[^\W_]*")
GAP = re.compile(r"[\W_]{1,4}")

# Between the words of a name in CamelCase.
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")

# The target of a link, from the bracket that ends its text.
LINK = re.compile(r"\]\(([^)\s#]+\.md)[)#]")

BEFORE, AFTER = 60, 160
"""Characters before and after a link that speak of the page it leads to."""

LONGEST_LINK = 100
"""Characters of the target of a link."""

WINDOW = 1500
"""Characters that are taken together: more is no longer about one thing."""

LONG = 5
"""A word of so many letters counts inside a file name that is written in one (`loadcell`)."""

Hit = tuple[int, int, int]
"""(start, end, number of the term); a plain tuple, since a search makes thousands."""


class Window(NamedTuple):
    """Hits within WINDOW characters, `hits[first:end]`, and the set of their terms."""

    terms: int
    first: int
    end: int


class Link(NamedTuple):
    """A link to a page, and the set of terms beside it."""

    path: str
    terms: int


@dataclass
class Evidence:
    """What stands in a page of `size` characters; `named` is the set of terms in its file name."""

    path: str
    size: int
    named: int
    hits: list[Hit]
    windows: list[Window]
    links: list[Link]

    @property
    def terms(self) -> int:
        """The set of terms in its text."""
        terms = 0
        for window in self.windows:
            terms |= window.terms
        return terms


def scan(path: str, text: str, question: Question) -> Evidence | None:
    """The evidence in a page, or None if no term stands in it."""
    hits = _all_hits(lowered(text), question)
    named = _named(path, question)
    if not hits and not named:
        return None
    windows = list(_windows(hits))
    return Evidence(path, len(text), named, hits, windows, list(_links(path, text, hits, windows)))


def lowered(text: str) -> str:
    """The text in lower case with a line end after it, each character where it was (`İ` would become two)."""
    low = text.lower()
    if len(low) != len(text):
        low = "".join(char.lower()[0] for char in text)
    return low if low.endswith("\n") else low + "\n"


def _all_hits(text: str, question: Question) -> list[Hit]:
    hits: list[Hit] = []
    for number, term in enumerate(question.terms):
        for phrase in term.phrases:
            hits += _hits(text, number, term, phrase)
    for number, special in enumerate(question.specials, len(question.terms)):
        hits += [(hit[0], hit[1], number) for hit in hits if hit[2] == special.base and _is_special(text, hit, special)]
    hits.sort()
    return hits


def _hits(text: str, number: int, term: Term, phrase: Phrase) -> list[Hit]:
    """The hits of one phrase of a term. The text ends in a line end, so that there is a character on either side."""
    first, *rest = phrase
    size = len(first.text)
    hits: list[Hit] = []
    start = text.find(first.text)
    while start >= 0:
        if not text[start - 1].isalnum() or _runs_in(text, start, term.before):
            end = _word_end(text, start + size, first, term.after)
            if end and rest:
                end = _phrase_end(text, end, rest)
            if end:
                hits.append((start, end, number))
        start = text.find(first.text, start + size)
    return hits


def _runs_in(text: str, start: int, before: str) -> bool:
    """Whether the word that ends at `start` is the neighbour `before`."""
    return bool(before) and _begins(text, start - len(before), before)


def _begins(text: str, start: int, word: str) -> bool:
    """Whether `word` stands there and begins a word."""
    return start >= 0 and text.startswith(word, start) and not (start and text[start - 1].isalnum())


def _word_end(text: str, stem_end: int, stem: Stem, after: str = "") -> int:
    """Where a form of the stem ends, or 0 if the word is not one: after an ending, or the neighbour `after`."""
    if not text[stem_end].isalnum():
        return stem_end if "" in stem.endings else 0
    match = TAIL.match(text, stem_end)
    tail = match[0] if match else ""
    doubled = stem.endings is ENDINGS and tail[0] == stem.text[-1] and tail[1:] in ENDINGS  # `stop` + `ping`
    is_form = tail in stem.endings or doubled or (after and tail.startswith(after))
    return stem_end + len(tail) if is_form else 0


def _phrase_end(text: str, end: int, stems: Sequence[Stem]) -> int:
    """Where the further words of a phrase end, or 0 if they do not stand there."""
    for stem in stems:
        gap = GAP.match(text, end)
        if not gap or not text.startswith(stem.text, gap.end()):
            return 0
        end = _word_end(text, gap.end() + len(stem.text), stem)
        if not end:
            return 0
    return end


def _is_special(text: str, hit: Hit, special: Special) -> bool:
    """Whether a hit of the base has what the special asks for on both sides."""
    start, end, _ = hit
    return any(_begins(text, start - len(before), before) for before in special.befores) and any(
        text.startswith(after, end) and not text[end + len(after) : end + len(after) + 1].isalnum()
        for after in special.afters
    )


def _named(path: str, question: Question) -> int:
    """The set of terms in the file name."""
    stem = path.rpartition("/")[2].removesuffix(SUFFIX)
    joined = stem.replace("-", "").replace("_", "").lower()
    named = 0
    for number, term in enumerate(question.terms):
        for phrase in term.phrases:
            if phrase[0].text in joined:
                spellings = f"{stem} / {CAMEL.sub('_', stem)}".lower() + "\n"
                inside = len(term.word) >= LONG and term.word in joined
                if inside or _hits(spellings, number, term, phrase):
                    named |= 1 << number
    return named


def _windows(hits: Sequence[Hit]) -> Iterator[Window]:
    """The hits in windows, each of which begins with the first hit behind the one before."""
    first = terms = 0
    stop = hits[0][0] + WINDOW if hits else 0
    for index, (start, _, number) in enumerate(hits):
        if start > stop:
            yield Window(terms, first, index)
            first, terms, stop = index, 0, start + WINDOW
        terms |= 1 << number
    if hits:
        yield Window(terms, first, len(hits))


def _links(path: str, text: str, hits: Sequence[Hit], windows: Sequence[Window]) -> Iterator[Link]:
    """The links that have hits beside them."""
    folder = path.rpartition("/")[0]
    for window in windows:
        start, end = hits[window.first][0] - AFTER, hits[window.end - 1][0] + BEFORE
        for match in LINK.finditer(text, max(0, start), end + LONGEST_LINK):
            if terms := _terms_between(hits, match.start() - BEFORE, match.start() + AFTER):
                yield Link(normpath(f"{folder}/{match[1]}").lstrip("/"), terms)


def _terms_between(hits: Sequence[Hit], start: int, end: int) -> int:
    """The set of terms that stand between two places."""
    terms = 0
    for _, _, number in hits[bisect_left(hits, (start,)) : bisect_left(hits, (end,))]:
        terms |= 1 << number
    return terms
