"""Finding goals, steps, habits and diary entries by words, in whatever form the words stand."""

import re
from itertools import chain

from tools.toolkit import JsonObject, filled

from ..base import fields
from ..database import Database
from ..habits import due_days
from .present import item_of

MOST_SHOWN = 20
SHORTEST_STEM = 3
SHORTEST_PART = 4  # letters of a stem that is also found inside a word
EXCERPT_CHARS = 60  # characters of a diary entry around the first of the words
# What fits the query best: open things first, then the diary, the newest entry first, and what is done. A
# column without a value is not shown.
DIARY_TEXT = " || ".join(f"ifnull({column} || ' ', '')" for column in fields.DIARY_FIELDS)
MATCHES = f"""WITH matches AS (
    SELECT 'goal' AS kind, id, title, NULL AS goal_id, NULL AS goal, NULL AS dt, NULL AS name, NULL AS date,
        NULL AS text, nullif(status = 'complete', 0) AS done, fit(CAST(title AS BLOB)) AS fits
        FROM goals WHERE user = :user AND deleted_at IS NULL AND fits
    UNION ALL SELECT 'step', s.id, s.title, s.goal_id, g.title, {due_days.DUE_DAY},
        NULL, NULL, NULL, nullif(s.is_complete, 0), fit(CAST(s.title AS BLOB)) AS fits
        FROM steps s JOIN goals g ON g.id = s.goal_id WHERE s.user = :user AND s.deleted_at IS NULL AND fits
    UNION ALL SELECT 'habit', id, NULL, NULL, NULL, NULL, name, NULL, NULL, NULL,
        fit(CAST(name AS BLOB)) AS fits FROM habits WHERE user = :user AND deleted_at IS NULL AND fits
    UNION ALL SELECT 'diary', id, NULL, NULL, NULL, NULL, NULL, date, text, NULL,
        fit(CAST(text AS BLOB)) AS fits FROM (SELECT id, date, trim({DIARY_TEXT}) AS text
            FROM diary WHERE user = :user AND deleted_at IS NULL) WHERE fits)
    SELECT kind, id, title, goal_id, goal, dt, name, date, text, done FROM matches
    WHERE fits = (SELECT max(fits) FROM matches)
    ORDER BY done, kind = 'diary', kind = 'habit', kind = 'step', date DESC, iif(kind = 'diary', -id, id)"""

# The endings of inflected words: Russian nouns, adjectives, verbs, and English ones. The longest that fits is
# taken, after the letters of a stem.
ENDING = (
    f"(?<=.{{{SHORTEST_STEM}}})(?:"
    "ами|ями|ого|его|ому|ему|ыми|ими|ать|ять|еть|ить|ешь|ишь|ете|ите|али|или|ала|ила|ало|ило|ует|уют|ает|"
    "яет|ают|яют|ется|ться|ся|ый|ий|ой|ая|яя|ое|ее|ые|ие|ую|юю|ых|их|ом|ем|ам|ям|ах|ях|ов|ев|ей|ию|ия|"
    "ии|ью|ья|ет|ит|ут|ют|ат|ят|ал|ил|ть|а|я|о|е|ы|и|у|ю|ь|й|"
    "ings|ing|ies|ied|ers|er|ed|es|ly|s|e|y)$"
)

# How names are spelt in the other script; of Latin letters the longest group that fits is taken.
LATIN = dict(
    zip(
        "абвгдезийклмнопрстуфхыэюяжцчшщ",
        "a b v g d e z i y k l m n o p r s t u f h y e yu ya zh ts ch sh shch".split(),
    )
)
CYRILLIC = {latin: letter for letter, latin in LATIN.items()} | {"y": "й", "e": "е"}
LATIN_LETTERS = "|".join(sorted(CYRILLIC, key=len, reverse=True))


def stem(word: str) -> str:
    """The part that all forms of a word begin with, more or less: `бегать` and `бегом` give `бег`."""
    return re.sub(ENDING, "", word, count=1)


def folded(text: str) -> str:
    """The text without case, and with е for ё."""
    return text.casefold().replace("ё", "е")


def search(db: Database, query: str) -> JsonObject:
    """Everything that has all of the words, or if nothing has, any of them: open things first, what is done
    last. Raises ToolError for a query that is too long."""
    phrase = fields.text(200, line=True).parse("find", query)
    words = re.findall(r"[^\W_]+", folded(phrase))  # of letters and digits
    alternatives = [variants(word) for word in words]
    all_stems = list(chain(*alternatives))
    patterns = [re.compile("|".join(map(_pattern, stems))) for stems in alternatives]
    # A preposition alone finds everything.
    longer = [pattern for word, pattern in zip(words, patterns) if len(word) >= SHORTEST_STEM]

    def fit(data: bytes) -> int:
        """2 if a text has all of the words, 1 if it has any, 0 if it has none."""
        text = folded(data.decode(errors="replace"))  # sqlite would refuse damaged text
        # The first look is ten times as fast as a pattern, and enough for most texts.
        if not any(stem in text for stem in all_stems):
            return 0
        if all(pattern.search(text) for pattern in patterns):
            return 2
        return 1 if any(pattern.search(text) for pattern in longer or patterns) else 0

    db.create_function("fit", 1, fit)
    rows = due_days.select(db, MATCHES).fetchall()
    items = []
    for row in rows[:MOST_SHOWN]:
        item = item_of(row)
        if "done" in item:
            item["done"] = True
        if "text" in item:
            item["text"] = _around(item["text"], alternatives[0])
        items.append(item)
    return {"items": items} | filled(more=len(rows[MOST_SHOWN:]))


def _pattern(stem: str) -> str:
    """A long stem is found anywhere in a word (звон in позвонить), a short one only at its beginning."""
    begins_a_word = r"(?<![^\W_])" if len(stem) < SHORTEST_PART else ""
    return begins_a_word + re.escape(stem)


def variants(word: str) -> list[str]:
    """The stems by which a word is found: as it is, and spelt in the other script."""
    other = "".join(LATIN.get(letter, letter) for letter in word)
    if other == word:
        other = re.sub(LATIN_LETTERS, lambda match: CYRILLIC[match[0]], word)
    return [stem(word), stem(other)]


def _around(text: str, stems: list[str]) -> str:
    place = max(folded(text).find(stem) for stem in stems)
    start = max(place - EXCERPT_CHARS // 2, 0)
    cut = text[start : start + EXCERPT_CHARS].strip()
    return f"{'…' if start else ''}{cut}{'…' if start + EXCERPT_CHARS < len(text) else ''}"
