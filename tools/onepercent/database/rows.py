"""Whether the rows of a database are ones that the tools can serve: what an import brings may be anything."""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from tools.core.errors import ToolError
from tools.onepercent import days, fields
from tools.onepercent.actions import diary, goals, habits, steps, undo
from tools.onepercent.database.types import Database
from tools.onepercent.preview import previews

LARGEST_ID = 2**53
"""The largest that every JSON reader keeps exact; far from where sqlite has no next one."""

Read = Callable[[str, Any], Any]
"""As a field's `read`: raises ToolError for a value that does not fit."""

ID = fields.Whole(1, LARGEST_ID).read
XP = fields.Whole(-1_000_000, 1_000_000).read
DAY = fields.Day().read
USER = fields.Text(1000, line=True).read


def _weekdays(name: str, value: str | None) -> None:
    if value is not None:
        fields.Weekdays().read(name, days.listed(value))


def _moment(name: str, value: object) -> None:
    try:
        datetime.fromisoformat(str(value).replace("Z", "+00:00"))
    except ValueError:
        raise fields.invalid(name, "a moment like 2026-01-01T09:00:00.000Z") from None


def _journal(name: str, value: str) -> None:
    try:
        undo.parsed(value)
    except (KeyError, TypeError, ValueError):
        raise fields.invalid(name, "the changes of an apply") from None


def _plan(name: str, value: str | None) -> None:
    if value is not None:
        previews.read_plan(value)


def _optional(read: Read) -> Read:
    return lambda name, value: None if value is None else read(name, value)


COLUMNS: dict[str, dict[str, Read]] = {
    "goals": {**{name: field.read for name, field in goals.CONTENT.items()}, "completed_at": _optional(_moment)},
    "steps": {
        **{name: field.read for name, field in steps.CONTENT.items()},
        "completed_at": _optional(_moment), "goal_id": ID,
    },
    "habits": {
        **{name: field.read for name, field in habits.CONTENT.items()},
        "schedule_days": _weekdays, "created_on": DAY,
    },
    "habit_marks": {"habit_id": ID, "date": DAY, "excuse_reason": fields.Text(500).read, "xp": XP},
    "diary": {**{name: field.read for name, field in diary.CONTENT.items()}, "date": DAY},
    "ssp_evaluations": {name: _optional(fields.Whole(1, 10).read) for name in goals.CATEGORIES},
    "xp_ledger": {"xp": XP, "at": _moment},
    "audit": {},
    "previews": {"plan": _plan},
    "applied": {"journal": _journal},
}  # fmt: skip
"""Beside `id` and `user`, which all have but WITHOUT_ID."""

WITHOUT_ID = ("habit_marks", "previews")
"""Tables whose key is not a number that is counted up."""


def faults(db: Database) -> Iterator[str]:
    """What is wrong, a row at a time: `habits 3: schedule_days must be …`."""
    for table, columns in COLUMNS.items():
        readers = {**({} if table in WITHOUT_ID else {"id": ID}), "user": USER, **columns}
        chosen = ", ".join(f'"{name}"' for name in readers)
        for row in db.execute(f"SELECT {chosen} FROM {table}"):
            try:
                for (name, read), value in zip(readers.items(), row, strict=True):
                    read(name, value)
                if table == "habits":
                    habits.check_schedule(row["frequency_type"], row["schedule_days"])
            except (ToolError, days.Unreadable) as error:
                yield f"{table} {row[0]}: {error}"


def unreadable_texts(db: Database) -> Iterator[str]:
    """The tables with text that is not UTF-8: sqlite's own check does not look at it."""
    import sqlite3

    lenient, db.text_factory = db.text_factory, str
    try:
        for (table,) in db.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
        ).fetchall():
            try:
                for _ in db.execute(f'SELECT * FROM "{table}"'):
                    pass
            except (sqlite3.OperationalError, UnicodeDecodeError):
                yield f"damaged text in {table}"
    finally:
        db.text_factory = lenient
