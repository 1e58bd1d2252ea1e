"""The pages' spelling of words that no page has."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

SHORTEST = 4
LONG = 8
"""A word of this length may have two mistakes, a shorter one has one."""


def respell(words: Sequence[str], texts: Iterable[str]) -> dict[str, tuple[str, int]]:
    """For each word what the pages have in its place, as (words joined by `_`, mistakes): parted (`exclude_object`),
    else the nearest word with the same first letter, the commoner of two."""
    wanted = [word for word in words if len(word) >= SHORTEST and word.isascii() and not word.isdigit()]
    if not wanted:
        return {}
    parted = {word: re.compile(_parted(word)) for word in wanted}
    begun = {word[0]: re.compile(rf"{word[0]}(?<![^\W_]{word[0]})[^\W_]+") for word in wanted}
    phrases: dict[str, str] = {}
    vocabulary = {letter: Counter[str]() for letter in begun}
    for text in texts:
        low = text.lower()
        for word in wanted:
            if word not in phrases and (match := parted[word].search(low)):
                phrases[word] = re.sub(r"[\W_]", "_", match[0])
        for letter, pattern in begun.items():
            vocabulary[letter].update(pattern.findall(low))
    found = {word: (phrase, 0) for word, phrase in phrases.items()}
    for word in wanted:
        if word not in found and (near := _nearest(word, vocabulary[word[0]])):
            found[word] = near
    return found


def _parted(word: str) -> str:
    return rf"{word[0]}(?<![^\W_]{word[0]})[_ -]?" + "[_ -]?".join(word[1:]) + r"(?![^\W_])"


def _nearest(word: str, vocabulary: Counter[str]) -> tuple[str, int] | None:
    most = 2 if len(word) >= LONG else 1
    letters = set(word)
    near = []
    for other, count in vocabulary.items():
        if abs(len(other) - len(word)) <= most and len(letters.symmetric_difference(other)) <= 2 * most:
            mistakes = distance(word, other, most)
            if mistakes <= most:
                near.append((mistakes, -count, other))
    return (min(near)[2], min(near)[0]) if near else None


def distance(one: str, other: str, most: int) -> int:
    """Letters to change, insert, leave out or swap with a neighbour to make `other` of `one`; more than `most` if so."""
    before, last = [], list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        now = [row]
        for column, against in enumerate(other, 1):
            cost = min(last[column] + 1, now[-1] + 1, last[column - 1] + (letter != against))
            if row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == against:
                cost = min(cost, before[column - 2] + 1)
            now.append(cost)
        if min(now) > most:
            return most + 1
        before, last = last, now
    return last[-1]
