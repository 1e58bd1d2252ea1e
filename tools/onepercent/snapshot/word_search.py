"""Finding goals, steps, habits and diary entries by words, in whatever form the words stand."""

import re
from collections.abc import Callable, Iterable
from itertools import chain

from tools.toolkit import JsonObject, filled

from ..base.fields import DIARY_FIELDS
from ..database import Database, Row
from ..habits import due_days
from .present import item_of

MOST_SHOWN = 20
SHORTEST_STEM = 3
SHORTEST_PART = 4  # letters of a stem that is also found inside a word
EXCERPT_CHARS = 60  # characters of a diary entry around the first of the words
# Open things first, then the diary, the newest entry first, and what is done. A column without a value is not
# shown.
DIARY_TEXT = " || ".join(f"ifnull({column} || ' ', '')" for column in DIARY_FIELDS)
MATCHES = f"""SELECT * FROM (
    SELECT 'goal' AS kind, id, title, NULL AS goal_id, NULL AS goal, NULL AS dt, NULL AS name, NULL AS date,
        NULL AS text, nullif(status = 'complete', 0) AS done
        FROM goals WHERE user = :user AND deleted_at IS NULL AND has_words(CAST(title AS BLOB))
    UNION ALL SELECT 'step', s.id, s.title, s.goal_id, g.title, {due_days.DUE_DAY},
        NULL, NULL, NULL, nullif(s.is_complete, 0)
        FROM steps s JOIN goals g ON g.id = s.goal_id
        WHERE s.user = :user AND s.deleted_at IS NULL AND has_words(CAST(s.title AS BLOB))
    UNION ALL SELECT 'habit', id, NULL, NULL, NULL, NULL, name, NULL, NULL, NULL
        FROM habits WHERE user = :user AND deleted_at IS NULL AND has_words(CAST(name AS BLOB))
    UNION ALL SELECT 'diary', id, NULL, NULL, NULL, NULL, NULL, date, text, NULL FROM (
        SELECT id, date, trim({DIARY_TEXT}) AS text
        FROM diary WHERE user = :user AND deleted_at IS NULL) WHERE has_words(CAST(text AS BLOB))
    ) ORDER BY done, kind = 'diary', kind = 'habit', kind = 'step', date DESC, iif(kind = 'diary', -id, id)"""

# Letters and digits.
QUERY_WORD = re.compile(r"[^\W_]+")

# The endings of inflected words: Russian nouns, adjectives, verbs, and English ones.
ENDINGS = (
    "ами ями ого его ому ему ыми ими ать ять еть ить ешь ишь ете ите али или ала ила ало ило ует уют ает "
    "яет ают яют ется ться ся ый ий ой ая яя ое ее ые ие ую юю ых их ом ем ам ям ах ях ов ев ей ию ия "
    "ии ью ья ет ит ут ют ат ят ал ил ть а я о е ы и у ю ь й "
    "ings ing ies ied ers er ed es ly s e y"
).split()
# The longest that fits, after the letters of a stem.
ENDING = re.compile(f"(?<=.{{{SHORTEST_STEM}}})(?:{'|'.join(ENDINGS)})$")

# How names are spelt in the other script; of Latin letters the longest group that fits is taken.
LATIN = dict(
    zip(
        "абвгдезийклмнопрстуфхыэюяжцчшщ",
        "a b v g d e z i y k l m n o p r s t u f h y e yu ya zh ts ch sh shch".split(),
        strict=True,
    )
)
CYRILLIC = {latin: letter for letter, latin in LATIN.items()} | {"y": "й", "e": "е"}
LATIN_LETTERS = re.compile("|".join(sorted(CYRILLIC, key=len, reverse=True)))


def stem(word: str) -> str:
    """The part that all forms of a word begin with, more or less: `бегать` and `бегом` give `бег`."""
    return ENDING.sub("", word, 1)


def folded(text: str) -> str:
    """The text without case, and with е for ё."""
    return text.casefold().replace("ё", "е")


def search(db: Database, query: str) -> JsonObject:
    """Everything that has all of the words, or if nothing has, any of them: open things first, what is done
    last."""
    words = QUERY_WORD.findall(folded(query))
    alternatives = [variants(word) for word in words]
    # A preposition alone finds everything.
    longer = [variants(word) for word in words if len(word) >= SHORTEST_STEM] or alternatives
    rows = _matches(db, alternatives, all) or _matches(db, longer, any)
    items = []
    for row in rows[:MOST_SHOWN]:
        item = item_of(row)
        if "done" in item:
            item["done"] = True
        if "text" in item:
            item["text"] = _around(item["text"], alternatives[0])
        items.append(item)
    return {"items": items} | filled(more=len(rows[MOST_SHOWN:]))


def _matches(
    db: Database,
    alternatives: list[list[str]],
    enough: Callable[[Iterable[object]], bool],
) -> list[Row]:
    """The rows that have enough of the words."""
    stems = list(chain(*alternatives))
    # A long stem is found anywhere in a word (звон in позвонить), a short one where no letter stands before
    # it.
    patterns = [re.compile("|".join(map(_pattern, stems))) for stems in alternatives]

    def has_words(data: bytes) -> bool:
        text = folded(data.decode(errors="replace"))  # sqlite would refuse damaged text
        # The first look is ten times as fast as a pattern, and enough for most texts.
        return any(stem in text for stem in stems) and enough(
            pattern.search(text) for pattern in patterns
        )

    db.create_function("has_words", 1, has_words)
    return due_days.select(db, MATCHES).fetchall()


def _pattern(stem: str) -> str:
    begins_a_word = r"(?<![^\W_])" if len(stem) < SHORTEST_PART else ""
    return begins_a_word + re.escape(stem)


def variants(word: str) -> list[str]:
    """The stems by which a word is found: as it is, and spelt in the other script."""
    other = "".join(LATIN.get(letter, letter) for letter in word)
    if other == word:
        other = LATIN_LETTERS.sub(lambda match: CYRILLIC[match[0]], word)
    return [stem(word), stem(other)]


def _around(text: str, stems: list[str]) -> str:
    place = max(folded(text).find(stem) for stem in stems)
    start = max(place - EXCERPT_CHARS // 2, 0)
    cut = text[start : start + EXCERPT_CHARS].strip()
    return f"{'…' if start else ''}{cut}{'…' if start + EXCERPT_CHARS < len(text) else ''}"
