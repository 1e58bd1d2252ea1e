"""The pages' spelling of words that stand in no page."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from tools.klipper.search.words import ANY_END

SHORTEST, LONGEST = 4, 40
"""Letters of a word that is looked after."""

LONG = 8
"""A word of so many letters may have two mistakes, a shorter one has one."""

Spelling = tuple[str, int]
"""Words joined by `_`, and the number of mistakes that were set right."""


def respell(words: Sequence[str], texts: Iterable[str], names: Mapping[str, str]) -> dict[str, Spelling]:
    """What the pages have in place of each word, where they have something.

    That is the same letters in several words (`exclude_object`), else a word that begins so, else the nearest word or
    one of `names` (in one word, and in several): it may lack its first letter, or have the first two swapped.
    """
    wanted = [word for word in words if SHORTEST <= len(word) <= LONGEST and word.isascii() and not word.isdigit()]
    if not wanted:
        return {}
    parted, vocabulary = _read(wanted, texts)
    vocabulary.update(dict.fromkeys(names, 1))
    found: dict[str, Spelling] = {}
    for word in wanted:
        if word in parted:
            found[word] = parted[word], 0
        elif any(other.startswith(word) for other in vocabulary):
            found[word] = word + ANY_END, 0
        elif near := _nearest(word, vocabulary):
            found[word] = names.get(near[0], near[0]), near[1]
    return found


def _read(words: Sequence[str], texts: Iterable[str]) -> tuple[dict[str, str], Counter[str]]:
    """The words that stand there in several, and the words there that begin with one of their first two letters."""
    parts = {word: re.compile(_parted(word)) for word in words}
    begun = [
        re.compile(rf"{letter}(?<![^\W_]{letter})[^\W_]+") for letter in {one for word in words for one in word[:2]}
    ]
    parted: dict[str, str] = {}
    vocabulary: Counter[str] = Counter()
    for text in texts:
        low = text.lower()
        for word, pattern in parts.items():
            if word not in parted and (match := pattern.search(low)):
                parted[word] = re.sub(r"[^\w]", "_", match[0])
        for pattern in begun:
            vocabulary.update(pattern.findall(low))
    return parted, vocabulary


def _parted(word: str) -> str:
    return rf"{word[0]}(?<![^\W_]{word[0]})[_ -]?" + "[_ -]?".join(word[1:]) + r"(?![^\W_])"


def _nearest(word: str, vocabulary: Counter[str]) -> Spelling | None:
    """The word of fewest mistakes, the commonest of several."""
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
    """Letters to change, insert, leave out or swap with the next to make `other` of `one`; more than `most` if so."""
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
