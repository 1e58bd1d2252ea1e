"""The words of a text, the stem of a word, the word that a misspelt one stands for."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path

# Letters and digits, with an English ending after an apostrophe: `probe's`, `don't`.
WORD_WITH_ENDING = re.compile(r"[^\W_]+(?:'[^\W\d_]{1,2}(?![^\W_]))?")
# Words without a subject, which a search leaves out.
STOP_WORDS = frozenset(Path(__file__).with_name("stop_words.txt").read_text("utf-8").split())
# The longest suffix that leaves enough of the word. `ss`, `us` and `is` are not plurals.
ENGLISH_ENDING = re.compile(
    r"(?:(?<=\w{5})(?:at(?:e[sd]?|ing|ions?)|ions?|e?ments?)"
    r"|(?<=\w{4})(?:ie[sd]|(?<![aeiou])y)"
    r"|(?<=\w{3})(?:ings?|e[sd]?|(?<![sui])s))$"
)
# The ending of a Russian word; at least three letters stay.
RUSSIAN_ENDING = re.compile(
    r"(?<=[а-яё]{3})(?:ться|тся|ами|ями|ого|его|ому|ему|ыми|ими|ешь|ишь|ает|яет|ует|ить|ать|еть|ять|ют|ут|ат|ят|ит|ет|ли|ло|ла"
    r"|ый|ий|ой|ая|яя|ое|ее|ые|ие|ых|их|ую|юю|ым|им|ом|ем|ам|ям|ах|ях|ов|ев|ей|ию|ия|ии|[аеёиоуыэюяьй])$"
)
# The endings that may follow a stem, and none.
ENDINGS = {
    "",
    *"e es ed ing ings ion ions ment ments ement ements s d ate ates ated ating ation ations".split(),
    *"y ies ied".split(),
}


def words(text: str) -> list[str]:
    """List a text's words in order, in lower case; `bed_mesh` and `bed-mesh` are two words each."""
    plain = text.lower().replace("’", "'")
    return [word.removesuffix("'s") for word in WORD_WITH_ENDING.findall(plain)]


@lru_cache(4096)
def stem(word: str) -> str:
    """Cut a word to the beginning that its forms share; each form ends in one of ENDINGS.

    `calibrate` covers `calibrating` and `calibration`, `print` does not cover `printer`.
    """
    return ENGLISH_ENDING.sub("", word) if word.isascii() else RUSSIAN_ENDING.sub("", word)


def nearest(word: str, words: Iterable[str]) -> str:
    """Find the word among `words` that a misspelt one stands for; "" if none is near.

    The first letter may be missing, or be swapped with the second, but not be another.
    """
    if not 4 <= len(word) <= 40 or word.isdigit():
        return ""
    most_mistakes = 2 if len(word) >= 8 else 1
    letters = set(word)
    candidates = []
    for other in words:
        is_as_long = abs(len(other) - len(word)) <= most_mistakes and other[0] in word[:2]
        if is_as_long and len(letters.symmetric_difference(other)) <= 2 * most_mistakes:
            candidates.append(other)
    return "".join(get_close_matches(word, candidates, 1, 0.8))
