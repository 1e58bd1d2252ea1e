"""A question as the terms to look for."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tools.klipper.search import glossary
from tools.klipper.search.words import EXACT, STOP_WORDS, forms, words

MOST_TERMS, MOST_SPECIALS = 24, 8
"""A pasted log has no more to say than its first lines."""

ALTERNATIVE = 0.7
"""What a hit of another word for the same counts, beside 1 for the word itself."""

NUMBER = re.compile(r"(?<![^\W_])(?:\d+\.)*\d+\.\d+(?![^\W_])|(?<![^\W_])\d(?![^\W_])")
"""Coordinates and single digits: no page is about them."""

IDENTIFIER = re.compile(r"[^\W_]+(?:_[^\W_]+)+")
CYRILLIC = re.compile("[а-яё]", re.IGNORECASE)
SEPARATOR = re.compile("[_-]")
MARKS = "_- "
AXES = "xyze"


@dataclass(frozen=True)
class Form:
    """One way to write a term: words in a row, each a stem with the endings it may have."""

    parts: tuple[tuple[str, frozenset[str]], ...]
    weight: float = 1.0


@dataclass(frozen=True)
class Term:
    """One thing a question names.

    `before` and `after` are its neighbours as typed: run together with one of them it counts too (`bl touch`, `BLTouch`).
    `close`: it follows the term before it directly.
    """

    word: str
    forms: tuple[Form, ...]
    before: str = ""
    after: str = ""
    close: bool = False


@dataclass(frozen=True)
class Special:
    """A term that says more than the one numbered `base`: that has one of `befores` before it and of `afters` after it.

    An identifier as a whole (`endstop` in `z_endstop_calibrate`), or a word with an axis (`offset` in `z offset`).
    """

    word: str
    base: int
    befores: tuple[str, ...] = ("",)
    afters: tuple[str, ...] = ("",)


@dataclass(frozen=True)
class Question:
    """What is looked for. Terms are numbered, `specials` after `terms`; `pairs` are the numbers of terms that follow
    each other, and whether directly."""

    terms: tuple[Term, ...]
    specials: tuple[Special, ...]
    pairs: dict[tuple[int, int], bool]

    @property
    def count(self) -> int:
        return len(self.terms) + len(self.specials)


def question(text: str) -> Question:
    """The words of a text without stop words (unless there is nothing else), each once, and what is special of them."""
    text = NUMBER.sub(" ", text)
    typed = words(text)
    found = list(_terms(typed, bool(CYRILLIC.search(text)))) or [_term(typed, at, False) for at in range(len(typed))]
    kept, pairs = _numbered(found)
    specials = dict.fromkeys([*_identifiers(text, kept), *_axes(typed, kept)])
    return Question(tuple(kept), tuple(specials)[:MOST_SPECIALS], pairs)


def _numbered(found: Sequence[Term]) -> tuple[list[Term], dict[tuple[int, int], bool]]:
    """Each term once, and the pairs of numbers that follow each other."""
    numbers: dict[Form, int] = {}
    kept: list[Term] = []
    pairs: dict[tuple[int, int], bool] = {}
    last = -1
    for term in found:
        if term.forms[0] not in numbers and len(kept) < MOST_TERMS:
            numbers[term.forms[0]] = len(kept)
            kept.append(term)
        number = numbers.get(term.forms[0], -1)
        if last >= 0 and number >= 0:
            pairs[last, number] = term.close
        last = number
    return kept, pairs


def _terms(typed: Sequence[str], russian: bool) -> Iterator[Term]:
    at, close = 0, False
    while at < len(typed):
        size, meaning = glossary.meaning(typed[at:])
        group = range(at, at + size)
        at += size
        if size == 1 and _empty(typed[group[0]], russian):
            close = False
            continue
        if meaning and not typed[group[0]].isascii():
            yield from _translated([typed[place] for place in group], meaning, close)
        else:
            others = tuple(_form(other, ALTERNATIVE) for other in meaning[0]) if meaning else ()
            for place in group:
                if len(typed[place]) > 1:
                    term = _term(typed, place, close)
                    yield replace(term, forms=term.forms + others) if place == group[-1] else term
                    close = True
        close = True


def _empty(word: str, russian: bool) -> bool:
    """Whether a word says nothing. In a Russian question English words are names: `can шина`."""
    return len(word) == 1 or "'" in word or (word in STOP_WORDS and not (russian and word.isascii()))


def _term(typed: Sequence[str], at: int, close: bool) -> Term:
    before = typed[at - 1] if at else ""
    after = typed[at + 1] if at + 1 < len(typed) else ""
    return Term(typed[at], (_form(typed[at]),), before, after, close)


def _translated(typed: Sequence[str], meaning: list[list[str]], close: bool) -> Iterator[Term]:
    """English terms for Russian words; a page in Russian has the words as they are."""
    for number, (first, *others) in enumerate(meaning):
        own = [Form(((typed[number], EXACT),))] if number < len(typed) else []
        yield Term(
            first, (_form(first), *own, *(_form(other, ALTERNATIVE) for other in others)), close=close or number > 0
        )


def _form(phrase: str, weight: float = 1.0) -> Form:
    parts = (forms(word) for word in SEPARATOR.split(phrase))
    return Form(tuple(parts), weight)


def _identifiers(text: str, terms: Sequence[Term]) -> Iterator[Special]:
    numbers = {term.word: number for number, term in enumerate(terms)}
    for match in IDENTIFIER.finditer(text.lower()):
        base = next((word for word in words(match[0]) if word in numbers), None)
        if base:
            before, _, after = match[0].partition(base)
            yield Special(match[0], numbers[base], (before,), (after,))


def _axes(typed: Sequence[str], terms: Sequence[Term]) -> Iterator[Special]:
    """The words that have a single letter for an axis beside them."""
    numbers = {name: number for number, term in enumerate(terms) for name in _names(term)}
    for at, letter in enumerate(typed):
        if letter in AXES:
            if at + 1 < len(typed) and typed[at + 1] in numbers:
                yield Special(typed[at + 1], numbers[typed[at + 1]], befores=tuple(letter + mark for mark in MARKS))
            elif at and typed[at - 1] in numbers:
                yield Special(typed[at - 1], numbers[typed[at - 1]], afters=tuple(mark + letter for mark in MARKS))


def _names(term: Term) -> Iterator[str]:
    yield term.word
    for form in term.forms:
        yield form.parts[0][0]


def respelt(term: Term, phrase: str, mistakes: int) -> Term:
    """The term as the pages spell it: `phrase`, words joined by `_`. Each mistake makes it less sure."""
    return replace(term, forms=(_form(phrase, ALTERNATIVE**mistakes), *term.forms[1:]))
