"""The reversal of what was applied: actions that only `undo_last` uses.

Applying keeps the changes that led to the present state. Taking them back in reverse order undoes what is done, and
redoes what is undone; the changes of the reversal itself are then the ones to keep.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass

from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.onepercent import days, fields, words
from tools.onepercent.actions import Outcome, action, change, entry, stored
from tools.onepercent.actions.unit_of_work import ENTITIES, KEYS, Change, Place, Row, UnitOfWork
from tools.onepercent.database.types import Database
from tools.onepercent.preview.fingerprints import SILENT, difference, digested, label

MOST_LINES = 5
"""Changes of what is undone that are named one by one."""

KIND = {table: entity for entity, table in ENTITIES.items()}

TABLES = {*KIND, *KEYS, "xp_ledger"}
"""The tables that a journal may name."""

UNDO_PREFIX = "Отменено: "
"""How an undo's own lines began in older databases."""


@dataclass(frozen=True, slots=True)
class Step:
    """What was applied once: its number, its changes, and what it was in words."""

    applied_id: int
    changes: list[Change]
    lines: list[str]


@action("undo.last", {"applied_id": fields.Whole(1, fields.LARGEST_ID)}, required=("applied_id",), published=False)
def undo(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Take back everything that one apply changed."""
    return _taken_back(unit, params["applied_id"], to_undo, "undo")


@action("undo.redo", {"applied_id": fields.Whole(1, fields.LARGEST_ID)}, required=("applied_id",), published=False)
def redo(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Bring back everything that one undo took back."""
    return _taken_back(unit, params["applied_id"], to_redo, "redo")


def to_undo(db: Database, user: str) -> Row | None:
    """The last apply that is not undone."""
    return db.execute(
        "SELECT * FROM applied WHERE user = ? AND undone = 0 ORDER BY id DESC LIMIT 1", (user,)
    ).fetchone()


def to_redo(db: Database, user: str) -> Row | None:
    """The apply that was undone last; all later ones are undone too."""
    return db.execute("SELECT * FROM applied WHERE user = ? AND undone = 1 ORDER BY id LIMIT 1", (user,)).fetchone()


def blocked(what: str) -> ToolError:
    """The error of changes that cannot be taken back exactly any more."""
    hint = "get_user_snapshot shows the present state; change it with preview_actions."
    return ToolError(f"Cannot undo: {what}", hint, code="PREVIEW_STALE")


def _taken_back(unit: UnitOfWork, applied_id: int, newest: Callable[[Database, str], Row | None], word: str) -> Outcome:
    row = newest(unit.db, unit.user)
    if row is None or row["id"] != applied_id:
        raise blocked("something else was applied since")
    try:
        return _reversed(unit, _read(row), word)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise days.Unreadable(f"the journal of {applied_id}") from error


def _read(row: Row) -> Step:
    changes, lines = parsed(row["journal"])
    while lines and lines[0].startswith(UNDO_PREFIX):
        lines = [lines[0].removeprefix(UNDO_PREFIX), *lines[1:]]
    return Step(row["id"], changes, lines)


def parsed(text: str) -> tuple[list[Change], list[str]]:
    """The changes of a journal, and what they were in words.

    Raises KeyError, TypeError or ValueError for what apply never wrote.
    """
    journal = json.loads(text)
    changes = [Change(table, tuple(key), replaced, values) for table, key, replaced, values in journal["changes"]]
    lines = journal["lines"]
    if not isinstance(journal["changes"], list) or not isinstance(lines, list):
        raise TypeError("a journal without lists")
    if unknown := {step.table for step in changes} - TABLES:
        raise ValueError(f"a journal of {unknown}")
    for step in changes:
        hash(step.key)
        if not all(isinstance(values, dict | None) for values in (step.replaced, step.values)):
            raise ValueError("a change that is not of a row")
    if not all(isinstance(line, str) for line in lines):
        raise ValueError("words that are not text")
    return changes, lines


def _reversed(unit: UnitOfWork, step: Step, word: str) -> Outcome:
    places = list(dict.fromkeys(edit.place for edit in step.changes))
    before = {place: _row(unit, place) for place in places}
    _check_untouched(step.changes, before)
    _reverse(unit, step.changes)
    after = {place: _row(unit, place) for place in places}
    lines = _shortened(step.lines)
    return _Undone(
        Reversal(unit, before, after).entries(),
        xp=_xp(after) - _xp(before),
        reversal=(step.applied_id, word == "undo"),
        plan=words.say(f"planned.{word}", lines=lines),
        message=words.say(f"done.{word}", lines=lines),
    )


@dataclass(slots=True)
class _Undone(Outcome):
    """An outcome described by what it takes back."""

    plan: str = ""

    def planned(self) -> list[str]:
        return [self.plan]


def _shortened(lines: list[str]) -> str:
    left = len(lines) - MOST_LINES
    return "; ".join(lines[:MOST_LINES] + ([words.say("and.more", count=left)] if left > 0 else []))


def _row(unit: UnitOfWork, place: Place) -> Row | None:
    table, key = place
    row = unit.read(table, *key)
    return None if row is None else dict(row)


def _check_untouched(changes: list[Change], rows: dict[Place, Row | None]) -> None:
    """Every row still holds what the changes left in it.

    Raises ToolError PREVIEW_STALE that names what changed.
    """
    for (table, key), left in _left(changes).items():
        row = rows[table, key]
        if row is None and left is None:
            continue  # The changes removed the row, and it is still gone.
        if row is None or left is None:
            raise blocked(difference(table, None, row))  # It was removed since, or is there again.
        touched = [column for column, value in left.items() if digested(row[column]) != value]
        if touched:
            named = [column for column in touched if column not in SILENT] or touched
            raise blocked(f"{label(table, row)} changed since it was applied: {', '.join(named)}")


def _left(changes: list[Change]) -> dict[Place, JsonObject | None]:
    """What the changes left in each row, long texts by their digest; None if they removed the row."""
    left: dict[Place, JsonObject | None] = {}
    for edit in changes:
        left[edit.place] = None if edit.values is None else (left.get(edit.place) or {}) | edit.values
    return left


def _reverse(unit: UnitOfWork, changes: list[Change]) -> None:
    import sqlite3

    try:
        for step in reversed(changes):
            row = unit.read(step.table, *step.key)
            if row is None:
                unit.insert(step.table, dict(step.replaced or {}))
            elif step.replaced is None:
                unit.remove(step.table, row)
            else:
                unit.assign(step.table, row, dict(step.replaced))
    except sqlite3.IntegrityError:
        raise blocked("something that depends on it was added since, or its XP is spent") from None


def _xp(rows: dict[Place, Row | None]) -> int:
    return sum(row["xp"] for (table, _), row in rows.items() if table == "xp_ledger" and row)


@dataclass(frozen=True, slots=True)
class Reversal:
    """The rows before and after the reversal, from which the diff is made."""

    unit: UnitOfWork
    before: dict[Place, Row | None]
    after: dict[Place, Row | None]

    def entries(self) -> list[tuple[str, JsonObject]]:
        return [self._described(place) for place in self.before if place[0] != "xp_ledger" and self._is_there(place)]

    def _is_there(self, place: Place) -> bool:
        """False for a row that the same changes inserted and removed."""
        return self.before[place] is not None or self.after[place] is not None

    def _described(self, place: Place) -> tuple[str, JsonObject]:
        before, after = self.before[place], self.after[place]
        entry = self._entry(place[0], before or after or {})
        if before is None or after is None:
            return ("creates", entry | {"restored": True}) if after else ("deletes", entry)
        changes = {
            name: change(name, before[name], after[name])
            for name in before
            if before[name] != after[name] and name not in (*SILENT, "deleted_at")
        }
        entry |= {"changes": changes} if changes else {}
        if before.get("deleted_at") == after.get("deleted_at"):
            return "updates", entry
        return ("deletes", entry) if after["deleted_at"] else ("creates", entry | {"restored": True})

    def _entry(self, table: str, row: Row) -> JsonObject:
        if table == "habit_marks":
            habit = self._parent("habits", row["habit_id"])
            return entry(self.unit, "habit", habit) | {"date": row["date"], "status": row["status"]}
        if table == "ssp_evaluations":
            return {"entity": "ssp", "id": row["id"], "scores": stored(dict(row), row.keys() - {*SILENT})}
        shown = entry(self.unit, KIND[table], row)
        if table == "steps":
            shown["goal_title"] = self._parent("goals", row["goal_id"])["title"]
        return shown

    def _parent(self, table: str, key: int) -> Row:
        """The row a step or mark belongs to, which may itself be undone here."""
        place = (table, (key,))
        return self.before.get(place) or self.after.get(place) or self.unit.read(table, key) or {}
