"""Finding goals, steps, habits and diary entries by words, in whatever form the words stand."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from tools.core.json_types import JsonObject
from tools.onepercent.database.types import Database

MOST_SHOWN = 20
SHORTEST_STEM = 3
QUOTED = 60
"""Characters of a diary entry around the first of the words."""
CHUNK = 200
"""Rows whose texts are folded together: of a diary some hundred kilobytes."""
SEPARATOR = "\0"
"""Stands in no text that is stored."""
DIARY = ("what_done", "what_not_done", "reflection", "plans")
DIARY_TEXT = " || ' ' || ".join(f"ifnull({name}, '')" for name in DIARY)

WORD = re.compile(r"[^\W_]+")

# The endings of inflected words: Russian nouns, adjectives, verbs, and English ones; the longest that fits is taken.
ENDINGS = sorted(
    (
        "ами ями ого его ому ему ыми ими ать ять еть ить ешь ишь ете ите али или ала ила ало ило ует уют ает яет ают яют "
        "ется ться ся ый ий ой ая яя ое ее ые ие ую юю ых их ом ем ам ям ах ях ов ев ей ию ия ии ью ья ет ит ут ют ат ят "
        "ал ил ть а я о е ы и у ю ь й "
        "ings ing ies ied ers er ed es ly s e y"
    ).split(),
    key=len,
    reverse=True,
)


def stem(word: str) -> str:
    """What all forms of a word begin with, more or less: `бегать` and `бегом` give `бег`."""
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= SHORTEST_STEM:
            return word[: -len(ending)]
    return word


def folded(text: str) -> str:
    """The text without case, and with е for ё."""
    return text.casefold().replace("ё", "е")


class Match(NamedTuple):
    """A row that has the wanted words."""

    kind: str
    id: int
    is_done: bool


SEARCHED = {
    "goal": "SELECT id, status = 'complete', title FROM goals WHERE user = ? AND deleted_at IS NULL ORDER BY id",
    "step": "SELECT id, is_complete, title FROM steps WHERE user = ? AND deleted_at IS NULL ORDER BY id",
    "habit": "SELECT id, 0, name FROM habits WHERE user = ? AND deleted_at IS NULL ORDER BY id",
    "diary": f"""SELECT id, 0, {DIARY_TEXT} FROM diary
        WHERE user = ? AND deleted_at IS NULL ORDER BY date DESC, id DESC""",
}
"""By kind: every row's id, whether it is done, and its text."""


def search(db: Database, user: str, query: str) -> JsonObject:
    """Everything that has each of the wanted words: open things first, the newest diary entries last."""
    stems = [stem(word) for word in WORD.findall(folded(query))]
    matches = [match for kind in SEARCHED for match in _matches(db, user, kind, stems)] if stems else []
    matches.sort(key=lambda match: (match.is_done, match.kind == "diary"))
    more = len(matches) - MOST_SHOWN
    items = [ITEMS[match.kind](db, match, stems) for match in matches[:MOST_SHOWN]]
    return {"items": items, **({"more": more} if more > 0 else {})}


def _matches(db: Database, user: str, kind: str, stems: list[str]) -> Iterator[Match]:
    """The matching rows of a kind, in their order. Texts are folded many at a time: that is most of the work."""
    rows = db.execute(SEARCHED[kind], (user,))
    beginnings = [_beginning(stem) for stem in stems]
    while chunk := rows.fetchmany(CHUNK):
        texts = folded(SEPARATOR.join([row[2] for row in chunk])).split(SEPARATOR)
        for row, text in zip(chunk, texts, strict=True):
            if stems[0] in text and all(beginning.search(text) for beginning in beginnings):
                yield Match(kind, row[0], bool(row[1]))


def _beginning(stem: str) -> re.Pattern[str]:
    """Finds a word that begins with the stem: no letter or digit stands before it."""
    return re.compile(rf"(?<![^\W_]){re.escape(stem)}")


def _goal(db: Database, match: Match, stems: list[str]) -> JsonObject:
    (title,) = db.execute("SELECT title FROM goals WHERE id = ?", (match.id,)).fetchone()
    return {"kind": "goal", "id": match.id, "title": title, **_done(match)}


def _step(db: Database, match: Match, stems: list[str]) -> JsonObject:
    step = db.execute(
        """SELECT s.title, s.dt, s.goal_id, g.title AS goal FROM steps s JOIN goals g ON g.id = s.goal_id
        WHERE s.id = ?""",
        (match.id,),
    ).fetchone()
    return {
        "kind": "step", "id": match.id, "title": step["title"], "goal_id": step["goal_id"], "goal": step["goal"],
        **({"dt": step["dt"]} if step["dt"] else {}), **_done(match),
    }  # fmt: skip


def _habit(db: Database, match: Match, stems: list[str]) -> JsonObject:
    (name,) = db.execute("SELECT name FROM habits WHERE id = ?", (match.id,)).fetchone()
    return {"kind": "habit", "id": match.id, "name": name}


def _diary(db: Database, match: Match, stems: list[str]) -> JsonObject:
    day, *texts = db.execute(f"SELECT date, {', '.join(DIARY)} FROM diary WHERE id = ?", (match.id,)).fetchone()
    return {"kind": "diary", "id": match.id, "date": day, "text": _around(" ".join(filter(None, texts)), stems[0])}


ITEMS: dict[str, Callable[[Database, Match, list[str]], JsonObject]] = {
    "goal": _goal,
    "step": _step,
    "habit": _habit,
    "diary": _diary,
}


def _around(text: str, stem: str) -> str:
    start = max(folded(text).find(stem) - QUOTED // 2, 0)
    cut = text[start : start + QUOTED].strip()
    return f"{'…' if start else ''}{cut}{'…' if start + QUOTED < len(text) else ''}"


def _done(match: Match) -> dict[str, bool]:
    return {"done": True} if match.is_done else {}
