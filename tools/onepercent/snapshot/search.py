"""Finding goals, steps, habits and diary entries by words, in whatever form the words stand."""

import re
from typing import Any

from tools.core.json_types import JsonObject

MOST_FOUND = 20
SHORTEST_STEM = 3
QUOTED = 60
"""Characters of a diary entry around what was found."""

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
    """Without case, ё as е."""
    return text.casefold().replace("ё", "е")


def found(db: Any, user: str, wanted: str) -> JsonObject:
    """Everything that has each of the wanted words: open things first, the newest diary entries last."""
    stems = [stem(word) for word in WORD.findall(folded(wanted))]
    items = [item for rows in (_goals, _steps, _habits, _diary) for item in rows(db, user, stems)] if stems else []
    items.sort(key=lambda item: (bool(item.get("done")), item["kind"] == "diary"))
    more = len(items) - MOST_FOUND
    return {"items": items[:MOST_FOUND], **({"more": more} if more > 0 else {})}


def matches(text: str, stems: list[str]) -> bool:
    """Whether every stem begins a word of the text."""
    text = folded(text)
    if not all(one in text for one in stems):
        return False
    words = WORD.findall(text)
    return all(any(word.startswith(one) for word in words) for one in stems)


def _goals(db: Any, user: str, stems: list[str]) -> list[JsonObject]:
    rows = db.execute("SELECT id, title, status FROM goals WHERE user = ? AND deleted_at IS NULL ORDER BY id", (user,))
    return [
        {"kind": "goal", "id": row["id"], "title": row["title"], **_done(row["status"] == "complete")}
        for row in rows
        if matches(row["title"], stems)
    ]


def _steps(db: Any, user: str, stems: list[str]) -> list[JsonObject]:
    rows = db.execute(
        """SELECT s.id, s.title, s.dt, s.is_complete, s.goal_id, g.title AS goal FROM steps s
        JOIN goals g ON g.id = s.goal_id WHERE s.user = ? AND s.deleted_at IS NULL ORDER BY s.id""",
        (user,),
    )
    return [
        {
            "kind": "step", "id": row["id"], "title": row["title"], "goal_id": row["goal_id"], "goal": row["goal"],
            **({"dt": row["dt"]} if row["dt"] else {}), **_done(row["is_complete"]),
        }
        for row in rows
        if matches(row["title"], stems)
    ]  # fmt: skip


def _habits(db: Any, user: str, stems: list[str]) -> list[JsonObject]:
    rows = db.execute("SELECT id, name FROM habits WHERE user = ? AND deleted_at IS NULL ORDER BY id", (user,))
    return [{"kind": "habit", "id": row["id"], "name": row["name"]} for row in rows if matches(row["name"], stems)]


def _diary(db: Any, user: str, stems: list[str]) -> list[JsonObject]:
    rows = db.execute(
        """SELECT id, date, what_done, what_not_done, reflection, plans FROM diary
        WHERE user = ? AND deleted_at IS NULL ORDER BY date DESC, id DESC""",
        (user,),
    )
    items = []
    for row in rows:
        text = " ".join(filter(None, tuple(row)[2:]))
        if matches(text, stems):
            items.append({"kind": "diary", "id": row["id"], "date": row["date"], "text": _around(text, stems[0])})
    return items


def _around(text: str, one: str) -> str:
    start = max(folded(text).find(one) - QUOTED // 2, 0)
    cut = text[start : start + QUOTED].strip()
    return f"{'…' if start else ''}{cut}{'…' if start + QUOTED < len(text) else ''}"


def _done(done: Any) -> dict[str, bool]:
    return {"done": True} if done else {}
