"""The reversal of an applied preview: an action that only `undo_last` uses.

It takes the changes that applying noted back in reverse order, and describes them like any other action.
"""

import json
from typing import Any

from tools.errors import ToolError
from tools.onepercent import fields
from tools.onepercent.actions import Outcome, action, change, entry
from tools.onepercent.fingerprints import SILENT, difference, digested, label
from tools.onepercent.work import Row, Work

Place = tuple[str, tuple[Any, ...]]
"""A table and the key of a row in it."""

Rows = dict[Place, tuple[Row | None, Row | None]]
"""Rows before and after."""

ENTITY = {"goals": "goal", "steps": "step", "habits": "habit", "diary": "diary"}


@action("undo.last", {"preview_id": fields.Uuid()}, required=("preview_id",), published=False)
def undo(work: Work, given: dict[str, Any]) -> Outcome:
    """Everything that applying the preview changed is as it was before."""
    journal = _journal(work, given["preview_id"])
    before = {place: _row(work, place) for place in _places(journal["changes"])}
    _check_untouched(journal["changes"], before)
    _reverse(work, journal["changes"])
    after = {place: _row(work, place) for place in before}
    rows = {place: (before[place], after[place]) for place in before if place[0] != "xp_ledger"}
    entries = [_described(work, rows, place) for place in rows]
    lines = "; ".join(journal["lines"])
    return Outcome(entries, f"Отменено: {lines}", xp=_xp(after) - _xp(before))


def blocked(what: str) -> ToolError:
    """The error of changes that cannot be taken back exactly any more."""
    hint = "get_user_snapshot shows the present state; change it with preview_actions."
    return ToolError(f"Cannot undo: {what}", hint, code="PREVIEW_STALE")


def _journal(work: Work, preview_id: str) -> dict[str, Any]:
    found = work.db.execute("SELECT * FROM last_applied WHERE user = ?", (work.user,)).fetchone()
    if found is None or found["preview_id"] != preview_id:
        raise blocked("something else was applied since")
    return json.loads(found["journal"])


def _places(changes: list[list[Any]]) -> list[Place]:
    return list(dict.fromkeys((table, tuple(key)) for table, key, _, _ in changes))


def _row(work: Work, place: Place) -> Row | None:
    row = work.read(place[0], *place[1])
    return None if row is None else dict(row)


def _check_untouched(changes: list[list[Any]], rows: dict[Place, Row | None]) -> None:
    left: dict[Place, dict[str, Any] | None] = {}
    for table, key, _, values in changes:
        place = (table, tuple(key))
        left[place] = None if values is None else (left.get(place) or {}) | values
    for (table, key), values in left.items():
        row = rows[table, key]
        if (row is None) != (values is None):
            raise blocked(difference(table, None, row))
        changed = [name for name, value in (values or {}).items() if digested(row[name]) != value]
        if changed:
            shown = [name for name in changed if name not in SILENT] or changed
            raise blocked(f"{label(table, row)} changed since it was applied: {', '.join(shown)}")


def _reverse(work: Work, changes: list[list[Any]]) -> None:
    import sqlite3

    try:
        for table, key, replaced, _ in reversed(changes):
            row = work.read(table, *key)
            if replaced is None:
                work.remove(table, row)
            elif row is None:
                work.insert(table, dict(replaced))
            else:
                work.assign(table, row, dict(replaced))
    except sqlite3.IntegrityError:
        raise blocked("something that depends on it was added since, or its XP is spent") from None


def _xp(rows: dict[Place, Row | None]) -> int:
    return sum(row["xp"] for (table, _), row in rows.items() if table == "xp_ledger" and row)


def _described(work: Work, rows: Rows, place: Place) -> tuple[str, dict[str, Any]]:
    before, after = rows[place]
    found = _entry(work, rows, place[0], before or after)
    if before is None or after is None:
        return ("creates", found | {"restored": True}) if after else ("deletes", found)
    changes = {
        name: change(name, before[name], after[name])
        for name in before
        if before[name] != after[name] and name not in (*SILENT, "deleted_at")
    }
    found |= {"changes": changes} if changes else {}
    if before.get("deleted_at") == after.get("deleted_at"):
        return "updates", found
    return ("deletes", found) if after["deleted_at"] else ("creates", found | {"restored": True})


def _entry(work: Work, rows: Rows, table: str, row: Row) -> dict[str, Any]:
    if table == "habit_marks":
        habit = _parent(work, rows, "habits", row["habit_id"])
        return entry(work, "habit", habit) | {"date": row["date"], "status": row["status"]}
    found = entry(work, ENTITY[table], row)
    if table == "steps":
        found["goal_title"] = _parent(work, rows, "goals", row["goal_id"])["title"]
    return found


def _parent(work: Work, rows: Rows, table: str, key: int) -> Row:
    """The row a step or mark belongs to, which may itself be undone here."""
    before, after = rows.get((table, (key,)), (None, None))
    return before or after or work.read(table, key)
