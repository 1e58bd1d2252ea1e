"""How the pages spell the words that stand in none of them."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from tools.klipper.search.words import ANY_END

SHORTEST, LONGEST = 4, 40
"""Letters of a word that is respelt."""

LONG = 8
"""A word of so many letters may have two mistakes, a shorter one has one."""


def respell(words: Sequence[str], texts: Iterable[str], names: Mapping[str, str]) -> dict[str, str]:
    """For each word that has one, its spelling in the pages: words joined by `_`.

    That is the same letters in several words (`exclude_object`), else a word that begins so, else the nearest word, or
    the nearest of `names` (their spellings by their letters). A word may lack its first letter, or have it swapped with
    the second.
    """
    wanted = [word for word in words if SHORTEST <= len(word) <= LONGEST and word.isascii() and not word.isdigit()]
    if not wanted:
        return {}
    parted, vocabulary = _read(wanted, texts)
    vocabulary.update(dict.fromkeys(names, 1))
    spellings: dict[str, str] = {}
    for word in wanted:
        if word in parted:
            spellings[word] = parted[word]
        elif any(other.startswith(word) for other in vocabulary):
            spellings[word] = word + ANY_END
        elif near := _nearest(word, vocabulary):
            spellings[word] = names.get(near, near)
    return spellings


def _read(words: Sequence[str], texts: Iterable[str]) -> tuple[dict[str, str], Counter[str]]:
    """The words that stand there in several, and the words there that begin with one of their first two letters."""
    in_parts = {word: re.compile(_in_parts(word)) for word in words}
    beginning = [re.compile(_beginning(letter)) for letter in {letter for word in words for letter in word[:2]}]
    parted: dict[str, str] = {}
    vocabulary: Counter[str] = Counter()
    for text in texts:
        low = text.lower()
        for word, pattern in in_parts.items():
            if word not in parted and (match := pattern.search(low)):
                parted[word] = re.sub(r"[^\w]", "_", match[0])
        for pattern in beginning:
            vocabulary.update(pattern.findall(low))
    return parted, vocabulary


# Both patterns begin with their letter, which the engine looks for fast, and only then look back whether it begins a word.


def _beginning(letter: str) -> str:
    """Matches the words that begin with a letter."""
    return rf"{letter}(?<![^\W_]{letter})[^\W_]+"


def _in_parts(word: str) -> str:
    """Matches the word with at most one `_`, blank or `-` between any two of its letters."""
    return rf"{word[0]}(?<![^\W_]{word[0]})[_ -]?" + "[_ -]?".join(word[1:]) + r"(?![^\W_])"


def _nearest(word: str, vocabulary: Counter[str]) -> str:
    """The word with the fewest mistakes, the commonest of several; "" if none is near."""
    most = 2 if len(word) >= LONG else 1
    letters = set(word)
    near: list[tuple[int, int, str]] = []
    for other, count in vocabulary.items():
        if abs(len(other) - len(word)) <= most and len(letters.symmetric_difference(other)) <= 2 * most:
            mistakes = distance(word, other, most)
            if mistakes <= most:
                near.append((mistakes, -count, other))
    return min(near)[2] if near else ""


def distance(word: str, other: str, most: int) -> int:
    """Letters to change, insert, leave out or swap with the next to get from one word to the other, at most `most` + 1.

    Computed row by row (Damerau and Levenshtein): a cell is the distance of the beginnings of both words up to there.
    """
    above_last: list[int] = []
    last = list(range(len(other) + 1))
    for row, letter in enumerate(word, 1):
        cells = [row]
        for column, against in enumerate(other, 1):
            cost = min(last[column] + 1, cells[-1] + 1, last[column - 1] + (letter != against))
            if row > 1 and column > 1 and letter == other[column - 2] and word[row - 2] == against:
                cost = min(cost, above_last[column - 2] + 1)
            cells.append(cost)
        if min(cells) > most:
            return most + 1
        above_last, last = last, cells
    return last[-1]
