"""Where the terms of a question stand in a page."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from posixpath import normpath

from tools.klipper.pages import SUFFIX
from tools.klipper.search.query import Form, Question, Special, Term
from tools.klipper.search.words import ENDINGS

TAIL = re.compile(r"[^\W_]*").match
GAP = re.compile(r"[\W_]{1,4}").match
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
LINK = re.compile(r"\]\(([^)\s#]+\.md)[)#]")
BEFORE, AFTER = 60, 160
"""Characters before and after a link that speak of the page it leads to."""

PASSAGE = 1500
"""Characters that are taken together: more is no longer about one thing."""

LONG = 5
"""A word of so many letters counts inside a file name that is written in one (`loadcell`)."""

Hit = tuple[int, int, int, float]
"""(start, end, number of the term, weight)"""


@dataclass
class Evidence:
    """What stands in a page of `size` characters. Sets of terms are integers, with a bit for each number.

    `named` are the terms in its file name, which has `words` words; `passages` the hits that stand together as
    (terms, first, end); `links` the pages linked to, with the terms beside the link.
    """

    path: str
    size: int
    named: int
    words: int
    hits: list[Hit]
    passages: list[tuple[int, int, int]]
    links: list[tuple[str, int]]


def scan(path: str, text: str, asked: Question) -> Evidence | None:
    """The evidence in one page, or None where no term stands in it."""
    hits = _all_hits(lowered(text), asked)
    named, words = _named(path, asked)
    if not hits and not named:
        return None
    return Evidence(path, len(text), named, words, hits, list(_passages(hits)), list(_links(path, text, hits)))


def lowered(text: str) -> str:
    """The text in lower case, each character where it was (`İ` would become two), and a line end after it."""
    low = text.lower()
    return (low if len(low) == len(text) else "".join(char.lower()[0] for char in text)) + "\n"


def _all_hits(text: str, asked: Question) -> list[Hit]:
    hits: list[Hit] = []
    for number, term in enumerate(asked.terms):
        for form in term.forms:
            hits += _hits(text, number, term, form)
    for number, special in enumerate(asked.specials, len(asked.terms)):
        hits += [(*hit[:2], number, hit[3]) for hit in hits if hit[2] == special.base and _is(text, hit, special)]
    hits.sort()
    return hits


def _hits(text: str, number: int, term: Term, form: Form) -> list[Hit]:
    """The hits of one form of a term. The text ends in a line end, so that there is a character on either side."""
    (stem, endings), *rest = form.parts
    size, whole, weight, find = len(stem), "" in endings, form.weight, text.find
    hits: list[Hit] = []
    at = find(stem)
    while at >= 0:
        end = at + size
        if not text[at - 1].isalnum() or _runs_in(text, at, term.before):
            if not text[end].isalnum():
                fits = whole
            else:
                end = TAIL(text, end).end()
                fits = _ends(stem, text[at + size : end], endings, term.after)
            if fits and rest:
                end = fits = _rest(text, end, rest)
            if fits:
                hits.append((at, end, number, weight))
        at = find(stem, at + size)
    return hits


def _runs_in(text: str, at: int, before: str) -> bool:
    """Whether the neighbour `before` stands there, and a word begins with it."""
    return bool(before) and _begins(text, at - len(before), before)


def _begins(text: str, at: int, word: str) -> bool:
    return at >= 0 and text.startswith(word, at) and not (at and text[at - 1].isalnum())


def _ends(stem: str, tail: str, endings: frozenset[str], after: str) -> bool:
    """Whether the word may go on like that: an ending, the last letter doubled and an ending, or the neighbour `after`."""
    if tail in endings:
        return True
    return (endings is ENDINGS and tail[0] == stem[-1] and tail[1:] in endings) or bool(
        after and tail.startswith(after)
    )


def _rest(text: str, end: int, parts: Sequence[tuple[str, frozenset[str]]]) -> int:
    """Where the further words of a form end, or 0 if they do not stand there."""
    for stem, endings in parts:
        gap = GAP(text, end)
        if not gap or not text.startswith(stem, gap.end()):
            return 0
        end = TAIL(text, gap.end() + len(stem)).end()
        tail = text[gap.end() + len(stem) : end]
        if tail not in endings and not (tail and _ends(stem, tail, endings, "")):
            return 0
    return end


def _is(text: str, hit: Hit, special: Special) -> bool:
    start, end = hit[:2]
    return any(_begins(text, start - len(before), before) for before in special.befores) and any(
        text.startswith(after, end) and not text[end + len(after) : end + len(after) + 1].isalnum()
        for after in special.afters
    )


def _named(path: str, asked: Question) -> tuple[int, int]:
    """The terms in the file name as bits, and the number of its words."""
    stem = path.rpartition("/")[2].removesuffix(SUFFIX)
    apart = stem.replace("-", "_")
    joined = apart.replace("_", "").lower()
    named = 0
    for number, term in enumerate(asked.terms):
        for form in term.forms:
            if form.parts[0][0] in joined:
                both = f"{stem} / {CAMEL.sub('_', stem)}".lower() + "\n"
                if (len(term.word) >= LONG and term.word in joined) or _hits(both, number, term, form):
                    named |= 1 << number
    return named, apart.count("_") + 1


def _passages(hits: Sequence[Hit]) -> Iterator[tuple[int, int, int]]:
    first = terms = 0
    stop = hits[0][0] + PASSAGE if hits else 0
    for number, hit in enumerate(hits):
        if hit[0] > stop:
            yield terms, first, number
            first, terms, stop = number, 0, hit[0] + PASSAGE
        terms |= 1 << hit[2]
    if hits:
        yield terms, first, len(hits)


def _links(path: str, text: str, hits: Sequence[Hit]) -> Iterator[tuple[str, int]]:
    folder = path.rpartition("/")[0]
    done = 0
    for hit in hits:
        start = hit[0]
        at = start - AFTER if start - AFTER > done else done
        done = start + BEFORE
        while (at := text.find("](", at, done)) >= 0:
            if match := LINK.match(text, at):
                yield normpath(f"{folder}/{match[1]}").lstrip("/"), _terms(hits, at - BEFORE, at + AFTER)
            at += 1


def _terms(hits: Sequence[Hit], start: int, end: int) -> int:
    """The terms that stand between two places."""
    terms = 0
    for hit in hits[bisect_left(hits, (start,)) : bisect_left(hits, (end,))]:
        terms |= 1 << hit[2]
    return terms
