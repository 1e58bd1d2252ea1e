"""A question as the terms to look for."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tools.klipper.search import glossary
from tools.klipper.search.words import EXACT, STOP_WORDS, Stem, stem, words

MOST_TERMS, MOST_SPECIALS = 24, 8
"""A pasted log has no more to say than its first lines."""

# Decimals and single digits: coordinates and versions, which no page is about.
NUMBER = re.compile(r"(?<![^\W_])(?:\d+\.)*\d+\.\d+(?![^\W_])|(?<![^\W_])\d(?![^\W_])")

# Words joined by `_`: an option, or a command.
IDENTIFIER = re.compile(r"[^\W_]+(?:_[^\W_]+)+")
CYRILLIC = re.compile("[а-яё]", re.IGNORECASE)

# What joins the words of one expression, in the glossary and in what was respelt.
JOINT = re.compile("[_-]")
MARKS = "_- "
"""What may stand between an axis and its word: `z_offset`, `z-offset`, `z offset`."""

AXES = "xyze"

Phrase = tuple[Stem, ...]
"""One way to write a term: words in a row."""


@dataclass(frozen=True)
class Term:
    """A word of the question, with the phrases that say it.

    `before` and `after` are its neighbours as typed: run together with one of them it counts too (`bl touch`, `BLTouch`).
    """

    word: str
    phrases: tuple[Phrase, ...]
    before: str = ""
    after: str = ""


@dataclass(frozen=True)
class Special:
    """A term with something beside it: the term numbered `base`, one of `befores` before it and one of `afters` after it.

    An identifier as a whole (`endstop` in `z_endstop_calibrate`), or a word with an axis (`offset` in `z offset`).
    """

    word: str
    base: int
    befores: tuple[str, ...] = ("",)
    afters: tuple[str, ...] = ("",)


@dataclass(frozen=True)
class Question:
    """What is looked for. The numbers of the `specials` follow those of the `terms`."""

    terms: tuple[Term, ...]
    specials: tuple[Special, ...]

    @property
    def count(self) -> int:
        """The number of terms and specials."""
        return len(self.terms) + len(self.specials)


def question(text: str) -> Question:
    """The terms of a text, each once; without stop words, unless there is nothing else."""
    text = NUMBER.sub(" ", text)
    typed = words(text)
    terms = list(_terms(typed, bool(CYRILLIC.search(text)))) or [_term(typed, place) for place in range(len(typed))]
    unique: dict[Phrase, Term] = {}
    for term in terms:
        unique.setdefault(term.phrases[0], term)
    first = tuple(unique.values())[:MOST_TERMS]
    specials = dict.fromkeys([*_identifiers(text, first), *_axes(typed, first)])
    return Question(first, tuple(specials)[:MOST_SPECIALS])


def _terms(typed: Sequence[str], russian: bool) -> Iterator[Term]:
    """The terms of the words as typed, those that are one expression of the glossary together."""
    start = 0
    while start < len(typed):
        size, meaning = glossary.meaning(typed[start:])
        group = range(start, start + size)
        start += size
        if size == 1 and _says_nothing(typed[group[0]], russian):
            continue
        if meaning and not typed[group[0]].isascii():
            yield from _translated([typed[place] for place in group], meaning)
        else:
            yield from _as_typed(typed, group, meaning)


def _says_nothing(word: str, russian: bool) -> bool:
    """Whether a word is a stop word or a single letter. In a Russian question English words are names: `can шина`."""
    return len(word) == 1 or "'" in word or (word in STOP_WORDS and not (russian and word.isascii()))


def _translated(typed: Sequence[str], meaning: glossary.Meaning) -> Iterator[Term]:
    """English terms for Russian words, which a page in Russian may have as they are typed."""
    for number, (first, *others) in enumerate(meaning):
        untranslated = [(Stem(typed[number], EXACT),)] if number < len(typed) else []
        yield Term(first, (_phrase(first), *untranslated, *map(_phrase, others)))


def _as_typed(typed: Sequence[str], group: range, meaning: glossary.Meaning) -> Iterator[Term]:
    """The words of a group as they are; the last one, too, as the documentation calls the group."""
    others = tuple(map(_phrase, meaning[0])) if meaning else ()
    for place in group:
        if len(typed[place]) > 1:
            term = _term(typed, place)
            yield replace(term, phrases=term.phrases + others) if place == group[-1] else term


def _term(typed: Sequence[str], place: int) -> Term:
    before = typed[place - 1] if place else ""
    after = typed[place + 1] if place + 1 < len(typed) else ""
    return Term(typed[place], (_phrase(typed[place]),), before, after)


def _phrase(text: str) -> Phrase:
    return tuple(map(stem, JOINT.split(text)))


def _identifiers(text: str, terms: Sequence[Term]) -> Iterator[Special]:
    """The identifiers of a text, each at the first of its words that is a term."""
    numbers = {term.word: number for number, term in enumerate(terms)}
    for match in IDENTIFIER.finditer(text.lower()):
        base = next((word for word in words(match[0]) if word in numbers), None)
        if base:
            before, _, after = match[0].partition(base)
            yield Special(match[0], numbers[base], (before,), (after,))


def _axes(typed: Sequence[str], terms: Sequence[Term]) -> Iterator[Special]:
    """The words that have the letter of an axis beside them."""
    numbers = {name: number for number, term in enumerate(terms) for name in _names(term)}
    for place, letter in enumerate(typed):
        if letter in AXES:
            if place + 1 < len(typed) and (word := typed[place + 1]) in numbers:
                yield Special(word, numbers[word], befores=tuple(letter + mark for mark in MARKS))
            elif place and (word := typed[place - 1]) in numbers:
                yield Special(word, numbers[word], afters=tuple(mark + letter for mark in MARKS))


def _names(term: Term) -> Iterator[str]:
    yield term.word
    for phrase in term.phrases:
        yield phrase[0].text


def respelt(term: Term, phrase: str) -> Term:
    """The term as the pages spell it: `phrase`, words joined by `_`."""
    return replace(term, phrases=(_phrase(phrase), *term.phrases[1:]))
