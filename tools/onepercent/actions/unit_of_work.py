"""The unit of work: everything that a sequence of actions reads and changes in one transaction.

It records every row as first read, so that apply can detect what changed since the preview, and every change
with the values it replaced, so that it can be undone.
"""

# - A unit is one preview or one apply, in a transaction that its caller opens and ends.
# - Actions decide by rows from `existing` and `row` alone: `seen` keeps a fingerprint of each row as
#   first read, also if there was none. Apply gets the preview's `seen` as `expected`; a row that
#   differs raises PREVIEW_STALE.
# - Rows that this unit has inserted (`created_rows`) are not kept in `seen`: they get other ids when they
#   are applied.
# - Every write goes through insert, change, assign or remove. They record in `journal`, in order, what they
#   replaced; undo needs nothing else.

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import cache
from sqlite3 import Cursor
from typing import Any, NamedTuple

from tools.toolkit import JsonObject, ToolError

from ..base import days
from ..base.diff import DiffEntry
from ..base.fields import REFERENCE, missing_error
from ..base.words import PlannedWarning
from ..database import Database, Row, insertion
from ..habits import due_days

ENTITIES = {
    "goal": "goals",
    "step": "steps",
    "habit": "habits",
    "diary": "diary",
    "ssp": "ssp_evaluations",
}
ENTITY_OF = {table: entity for entity, table in ENTITIES.items()} | {"persons": "person"}

# The key columns of the tables that have no `id`.
KEY_COLUMNS = {
    "habit_marks": ("habit_id", "date"),
    "habit_schedules": ("habit_id", "first_day"),
    "habit_pauses": ("habit_id", "first_day"),
    "persons": ("user",),
}

LONGEST_WHOLE = 64  # longer text is remembered by its digest

# Columns that mean nothing to a person.
INTERNAL_COLUMNS = ("created_at", "updated_at", "completed_at", "completed_on", "user", "id")

Key = tuple[int | str, ...]  # the values of a row's key columns

# The values of a row, long texts by their digest; empty if there is no row.
Fingerprint = list[Any]


class StoredRow(JsonObject):
    """A row that was read, with its table."""

    def __init__(self, table: str, values: Row):
        super().__init__(values)
        self.table = table


class RowChange(NamedTuple):
    """A change of one row: `replaced` are the former values of its columns, `values` the new ones, long texts
    by their digest. None stands for no row: it was inserted, or removed."""

    table: str
    key: Key
    replaced: JsonObject | None
    values: JsonObject | None


@dataclass(slots=True)
class Outcome:
    """The result of an action: entries of the diff and the id of what it created.

    - `message`: what an undo or redo says instead of its entries' sentences;
    - `xp`: the XP that moves;
    - `warnings`: about what the person may not have intended.
    """

    entries: list[DiffEntry] = field(default_factory=list)
    message: str = ""
    created_id: int | None = None
    xp: int = 0
    warnings: list[PlannedWarning] = field(default_factory=list)
    created_steps: list[int] = field(default_factory=list)

    @property
    def deletes(self) -> bool:
        return any(entry.section == "deletes" for entry in self.entries)

    @property
    def entries_as_json(self) -> list[Any]:
        """Entries as previews store and tools show them, each with its section."""
        return [[entry.section, entry.as_json()] for entry in self.entries]


@dataclass(slots=True)
class UnitOfWork:
    """A sequence of actions in one transaction, with what it has read and changed.

    - `expected`: the rows as the preview read them, none while it runs itself;
    - `journal`: every change, in order;
    - `created`: what a reference means, by its id; the id "" means the goal created last;
    - `created_rows`: rows that this unit created; nobody else can have changed them;
    - `subjects`: by entity, the row that an error of the running action is about;
    - `outcome`: that of the running action; `add_entry` and `warn` add to it.
    """

    db: Database
    user: str
    moment: datetime
    today: date
    expected: dict[str, Fingerprint] = field(default_factory=dict)
    seen: dict[str, Fingerprint] = field(default_factory=dict)
    journal: list[RowChange] = field(default_factory=list)
    created: dict[str, tuple[str, int]] = field(default_factory=dict)
    created_rows: set[str] = field(default_factory=set)
    subjects: dict[str, StoredRow] = field(default_factory=dict)
    outcome: Outcome = field(default_factory=Outcome)

    @property
    def stamp(self) -> str:
        """`moment` as the database stores it."""
        return days.stamp(self.moment)

    @property
    def day(self) -> str:
        """`today` as the database stores it."""
        return self.day_after(0)

    def day_after(self, days_later: int) -> str:
        """Day so many days after today, or before it."""
        return f"{self.today + timedelta(days_later)}"

    def existing(self, entity: str, reference: int | str | None) -> StoredRow:
        """Find the undeleted goal, step, habit or diary entry that an id field means; the `dt` of a repeating
        step is its due day. Raises ToolError GOAL_NOT_FOUND and the like."""
        key = reference
        if not isinstance(key, int):
            created_entity, key = self.created.get((key or "").removeprefix(REFERENCE), ("", 0))
            if created_entity != entity:
                sent = "goal_id null" if reference is None else reference
                raise ToolError(
                    f"{sent} is not a {entity} that an earlier action of this preview creates",
                    f"Send the id of a {entity}, or put a valid action that creates one before this one.",
                    f"{entity.upper()}_NOT_FOUND",
                )
        row = self.row(ENTITIES[entity], key)
        if not row or row["deleted_at"]:
            raise not_found_error(entity)
        if entity == "step" and row["repeat"]:
            row["dt"] = due_days.due_day(row["repeat"], row["dt"], row["updated_at"], self.day)
        self.subjects[entity] = row
        return row

    def rows_named(self, entity: str, params: JsonObject) -> Iterator[StoredRow]:
        """Rows that `step_ids`, or `step_id`, names, each read when its turn comes. Raises ToolError
        FIELD_REQUIRED."""
        name = f"{entity}_id"
        references = params.get(f"{name}s", [params.get(name)])
        for reference in dict.fromkeys(references):
            if reference is None:
                raise missing_error(name)
            yield self.existing(entity, reference)

    def select(self, statement: str, **values: object) -> Cursor:
        """Rows of a query, which may name `:user` and the day `:today`."""
        return self.db.execute(statement, {"user": self.user, "today": self.day} | values)

    def scalar(self, statement: str, **values: object) -> Any:
        """First column of the first row of such a query; None if there is none."""
        row = self.select(statement, **values).fetchone()
        return row and row[0]

    def find_all(self, entity: str, statement: str, **values: object) -> list[StoredRow]:
        """Rows whose ids a query selects, each read by itself, so that another session's change of them is
        noticed."""
        return [self.existing(entity, key) for (key,) in self.select(statement, **values)]

    def row(self, table: str, *key: int | str) -> StoredRow:
        """Read a row of this user by its key, an empty one if there is none; record its fingerprint. Raises
        ToolError PREVIEW_STALE if the preview saw another one."""
        statement = f"SELECT * FROM {table} WHERE {_by_key(table)} AND user = ?"
        values = self.db.execute(statement, (*key, self.user)).fetchone()
        row = StoredRow(table, values or {})
        name = _row_name(table, key)
        if name not in self.seen and name not in self.created_rows:
            fingerprint = list(digested(row).values())
            self.seen[name] = fingerprint
            before = self.expected.get(name, fingerprint)
            if before != fingerprint:
                raise stale_error(difference(before, row))
        return row

    def create(self, table: str, values: JsonObject) -> int:
        """Insert a row with the stamps of its creation and last change and return its rowid; a rating never
        changes."""
        stamped = values | {"created_at": self.stamp}
        if table != "ssp_evaluations":
            stamped["updated_at"] = self.stamp
        return self.insert(table, stamped)

    def insert(self, table: str, values: JsonObject) -> int:
        """Insert a row of this user and return its rowid."""
        values = {"user": self.user} | values
        statement = insertion(table, *values)
        rowid = self.db.execute(statement, tuple(values.values())).lastrowid or 0
        key = key_of(table, {"id": rowid, **values})
        self.created_rows.add(_row_name(table, key))
        self.journal.append(RowChange(table, key, None, digested(values)))
        return rowid

    def change(self, row: StoredRow, values: JsonObject) -> None:
        """Set columns of a row."""
        self.assign(row, values | {"updated_at": self.stamp})

    def assign(self, row: StoredRow, values: JsonObject) -> None:
        """Set columns of a row, not the stamp of its last change."""
        table = row.table
        key = key_of(table, row)
        stored = self.row(table, *key)
        replaced = {name: stored[name] for name in values}
        names = ", ".join(f'"{name}" = ?' for name in values)
        self.db.execute(
            f"UPDATE {table} SET {names} WHERE {_by_key(table)}", (*values.values(), *key)
        )
        self.journal.append(RowChange(table, key, replaced, digested(values)))

    def remove(self, row: StoredRow) -> None:
        """Delete a row for good: in an undo, or a mark or a pause."""
        key = key_of(row.table, row)
        self.db.execute(f"DELETE FROM {row.table} WHERE {_by_key(row.table)}", key)
        self.journal.append(RowChange(row.table, key, dict(row), None))

    def add_entry(self, entry: DiffEntry) -> None:
        """Add an entry to the diff."""
        self.outcome.entries.append(entry)

    def warn(self, name: str, **values: object) -> None:
        """Add a warning, unless it is there: the key of its text and the values for its placeholders."""
        if (name, values) not in self.outcome.warnings:
            self.outcome.warnings.append((name, values))

    @property
    def balance(self) -> int:
        """XP that the user has now: the most that a penalty, or an undo, can take."""
        return balance(self.db, self.user)[0]

    def earn(self, amount: int, action: str, entity_id: int, day: str | None = None) -> int:
        """Enter XP in the ledger and return the amount entered: a penalty takes at most the balance. `day`:
        the day it counts for, by default today."""
        if amount < 0:
            amount = max(amount, -self.balance)
        if amount:
            ledger_row = {
                "at": self.stamp,
                "xp": amount,
                "action": action,
                "entity_id": entity_id,
                "day": day or self.day,
            }
            self.insert("xp_ledger", ledger_row)
        return amount

    def earn_difference(
        self, worth: int, action: str, row: StoredRow, day: str | None = None
    ) -> int:
        """Enter the difference between the XP that an entity has brought so far and its worth, and return
        it."""
        # The + keeps sqlite from reading all the user's entries by xp_by_time in place of the entity's few.
        statement = """SELECT total(xp) FROM xp_ledger
            WHERE entity_id = :id AND action GLOB :actions AND +user = :user"""
        earned = self.scalar(statement, id=row["id"], actions=f"{ENTITY_OF[row.table]}.*")
        return self.earn(worth - int(earned), action, row["id"], day)


def balance(db: Database, user: str) -> tuple[int, int]:
    """Balance and lifetime XP of a user."""
    row = db.execute("SELECT balance, lifetime FROM xp_balance WHERE user = ?", (user,)).fetchone()
    return tuple(row) if row else (0, 0)


def not_found_error(entity: str) -> ToolError:
    """Error for an id that does not exist, is deleted or belongs to another user: the same text for all
    three."""
    name = "Diary entry" if entity == "diary" else entity.capitalize()
    return ToolError(
        f"{name} not found",
        "get_user_snapshot shows what there is, with ids.",
        f"{entity.upper()}_NOT_FOUND",
    )


def key_of(table: str, row: JsonObject) -> Key:
    """Values of a row's key columns."""
    return tuple(row[name] for name in KEY_COLUMNS.get(table, ("id",)))


def _row_name(table: str, key: Key) -> str:
    return f"{table}/{'/'.join(map(str, key))}"


@cache
def _by_key(table: str) -> str:
    return " AND ".join(f"{name} = ?" for name in KEY_COLUMNS.get(table, ("id",)))


def digested(row: Row) -> JsonObject:
    """Values of a row, long texts by their digest; equal for equal rows even after a round trip through
    JSON."""
    values = dict(row)
    for name, value in values.items():
        if isinstance(value, str) and len(value) > LONGEST_WHOLE:
            import hashlib

            values[name] = "sha256:" + hashlib.sha256(value.encode()).hexdigest()
    return values


def stale_error(reason: str) -> ToolError:
    """Error for a preview that no longer holds."""
    return ToolError(
        f"Preview is stale: {reason}",
        "Call preview_actions again and show the person the new diff.",
        "PREVIEW_STALE",
    )


def difference(before: Fingerprint, row: StoredRow) -> str:
    """Describe how a row differs from its fingerprint `before`: `step 'Read' changed: title, dt`."""
    subject = row.table.removesuffix("s").replace("_", " ")
    if title := row.get("title") or row.get("name") or row.get("date"):
        subject += f" '{title}'"
    if not (row and before):
        return f"{subject} was {'added' if row else 'removed'}"
    # A preview kept by an earlier version may lack the newest columns.
    columns = zip(row, before, digested(row).values())
    names = [
        column for column, was, value in columns if was != value and column not in INTERNAL_COLUMNS
    ]
    if "deleted_at" in names or row.get("deleted_at"):
        return f"{subject} was {'deleted' if row['deleted_at'] else 'restored'}"
    return f"{subject} changed: {', '.join(names) or 'it was written again'}"
