"""Search goals, steps, habits and diary entries for words, in whatever form the words stand."""

import re
from itertools import chain

from tools.toolkit import JsonObject, filled

from ..base import fields
from ..database import Database
from ..habits import due_days
from .present import item_of

MOST_SHOWN = 20
SHORTEST_STEM = 3
SHORTEST_INSIDE = 4  # letters of a stem that is also found inside a word
EXCERPT_CHARS = 60  # characters of a diary entry around the first of the words
# The best matches: open things first, then the diary, the newest entry first, then everything done. A
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

# The endings of inflected words, of Russian nouns, adjectives and verbs, and of English ones: the longest one
# that leaves the letters of a stem.
ENDING = (
    f"(?<=.{{{SHORTEST_STEM}}})(?:"
    "ами|ями|ого|его|ому|ему|ыми|ими|ать|ять|еть|ить|ешь|ишь|ете|ите|али|или|ала|ила|ало|ило|ует|уют|ает|"
    "яет|ают|яют|ется|ться|ся|ый|ий|ой|ая|яя|ое|ее|ые|ие|ую|юю|ых|их|ом|ем|ам|ям|ах|ях|ов|ев|ей|ию|ия|"
    "ии|ью|ья|ет|ит|ут|ют|ат|ят|ал|ил|ть|а|я|о|е|ы|и|у|ю|ь|й|"
    "ings|ing|ies|ied|ers|er|ed|es|ly|s|e|y)$"
)

# The spelling of names in the other script; of Latin letters the longest group that fits is taken.
LATIN = dict(
    zip(
        "абвгдезийклмнопрстуфхыэюяжцчшщ",
        "a b v g d e z i y k l m n o p r s t u f h y e yu ya zh ts ch sh shch".split(),
    )
)
CYRILLIC = {latin: letter for letter, latin in LATIN.items()} | {"y": "й", "e": "е"}
LATIN_LETTERS = "|".join(sorted(CYRILLIC, key=len, reverse=True))


def _caseless(text: str) -> str:
    """Fold the case of a text, and write е for ё."""
    return text.casefold().replace("ё", "е")


def find_things(db: Database, query: str) -> JsonObject:
    """Find everything that has all of the words, or if nothing has, any of them: open things first, what is
    done last. Raises ToolError for a query that is too long."""
    phrase = fields.text(200, line=True).parse("find", query)
    words = re.findall(r"[^\W_]+", _caseless(phrase))  # of letters and digits
    stems_of_words = [_stems(word) for word in words]
    all_stems = list(chain(*stems_of_words))
    patterns = [re.compile("|".join(map(_pattern, stems))) for stems in stems_of_words]
    # A preposition alone finds everything.
    longer = [pattern for word, pattern in zip(words, patterns) if len(word) >= SHORTEST_STEM]

    def fit(data: bytes) -> int:
        """2 if a text has all of the words, 1 if it has any, 0 if it has none."""
        text = _caseless(data.decode(errors="replace"))  # sqlite would refuse damaged text
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
            item["text"] = _excerpt_around(item["text"], stems_of_words[0])
        items.append(item)
    return {"items": items} | filled(more=len(rows[MOST_SHOWN:]))


def _pattern(stem: str) -> str:
    """A pattern that finds a long stem anywhere in a word (звон in позвонить), a short one only at its
    beginning."""
    word_begin = r"(?<![^\W_])" if len(stem) < SHORTEST_INSIDE else ""
    return word_begin + re.escape(stem)


def _stems(word: str) -> list[str]:
    """The stems by which a word is found, as it is and spelt in the other script. All forms of a word begin
    with its stem, more or less: `бегать` and `бегом` with `бег`."""
    other = "".join(LATIN.get(letter, letter) for letter in word)
    if other == word:
        other = re.sub(LATIN_LETTERS, lambda match: CYRILLIC[match[0]], word)
    return [re.sub(ENDING, "", spelling, count=1) for spelling in (word, other)]


def _excerpt_around(text: str, stems: list[str]) -> str:
    place = max(_caseless(text).find(stem) for stem in stems)
    begin = max(place - EXCERPT_CHARS // 2, 0)
    end = begin + EXCERPT_CHARS
    lead = "…" if begin else ""
    trail = "…" if end < len(text) else ""
    return f"{lead}{text[begin:end].strip()}{trail}"
