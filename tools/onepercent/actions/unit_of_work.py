"""A unit of work: what a sequence of actions reads and changes inside one transaction.

It records every row as first read, so that apply can detect what changed since the preview, and every change with
the values it replaced, so that it can be undone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cache
from typing import Any, NamedTuple

from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.onepercent import days, xp
from tools.onepercent.database.types import Database
from tools.onepercent.fields import REFERENCE
from tools.onepercent.preview.fingerprints import difference, fingerprint, stale

ENTITIES = {"goal": "goals", "step": "steps", "habit": "habits", "diary": "diary", "ssp": "ssp_evaluations"}

KEYS = {"habit_marks": ("habit_id", "date")}
"""The key columns of the tables that have no `id`."""

OWNERS = {"habit_marks": "habits"}
"""The table that the first column of such a key refers to."""

Row = Mapping[str, Any]

Key = tuple[int | str, ...]
"""The values of a row's key columns."""

Place = tuple[str, Key]
"""A table and the key of a row in it."""

Value = int | float | str | None
"""What a column holds."""


class Change(NamedTuple):
    """A change of one row: the columns replaced and set. None stands for no row: it was inserted, or removed."""

    table: str
    key: Key
    replaced: JsonObject | None
    values: JsonObject | None

    @property
    def place(self) -> Place:
        return self.table, self.key


@dataclass(slots=True)
class UnitOfWork:
    """`expected` is None for a preview; else the rows as the preview saw them, and a difference is PREVIEW_STALE.

    `journal` holds every change in order. `own`: what this unit has created, which nobody else can have changed.
    """

    db: Database
    user: str
    moment: datetime
    today: date
    expected: dict[str, list[Value] | None] | None = None
    seen: dict[str, list[Value] | None] = field(default_factory=dict)
    journal: list[Change] = field(default_factory=list)
    created: dict[str, tuple[str, int]] = field(default_factory=dict)
    own: set[str] = field(default_factory=set)
    latest_goal: int | None = None
    stamp: str = ""

    def __post_init__(self) -> None:
        self.stamp = days.stamp(self.moment)

    def find(self, entity: str, reference: int | str | None) -> Row:
        """The row of an undeleted goal, step, habit or diary entry that an id field means.

        Raises ToolError: GOAL_NOT_FOUND and the like, or what is wrong with a reference.
        """
        key = reference if isinstance(reference, int) else self._referred(entity, reference)
        row = self.read(ENTITIES[entity], key)
        if row is None or row["deleted_at"]:
            raise missing(entity)
        return row

    def _referred(self, entity: str, reference: str | None) -> int:
        if reference is None:
            if self.latest_goal is None:
                raise ToolError(
                    "goal_id is null, and no goal is created before it in this preview",
                    "Put a valid goal.create before this action, or send the goal's id.",
                    code="GOAL_NOT_FOUND",
                )
            return self.latest_goal
        kind, key = self.created.get(reference.removeprefix(REFERENCE), ("", 0))
        if kind != entity:
            raise ToolError(
                f"{reference} is not a {entity} that an earlier action of this preview creates",
                f"Refer to a valid action that creates a {entity} and stands before this one.",
                code=f"{entity.upper()}_NOT_FOUND",
            )
        return key

    def read(self, table: str, *key: int | str) -> Row | None:
        """A row of this user by its key; its fingerprint is recorded."""
        row = self.db.execute(_select(table), (*key, self.user)).fetchone()
        if f"{OWNERS.get(table, table)}/{key[0]}" not in self.own:
            self._note(table, key, row)
        return row

    def _note(self, table: str, key: Key, row: Row | None) -> None:
        name = f"{table}/{'/'.join(map(str, key))}"
        if name in self.seen:
            return
        self.seen[name] = present = None if row is None else fingerprint(row)
        if self.expected is not None and self.expected.get(name, present) != present:
            raise stale(difference(table, self.expected[name], row))

    def shown_id(self, entity: str, key: int) -> int | None:
        """The id for the diff; None for what this preview creates, which has none yet."""
        return None if f"{ENTITIES[entity]}/{key}" in self.own else key

    def create(self, entity: str, values: JsonObject) -> int:
        """Insert an entity and return its id."""
        table = ENTITIES[entity]
        stamps = {"created_at": self.stamp} | ({"updated_at": self.stamp} if table != "ssp_evaluations" else {})
        key = self.insert(table, values | {"user": self.user, **stamps})
        self.own.add(f"{table}/{key}")
        return key

    def insert(self, table: str, values: JsonObject) -> int:
        """Insert a row and return its rowid."""
        rowid = self.db.execute(_insert(table, tuple(values)), tuple(values.values())).lastrowid or 0
        key = key_of(table, {"id": rowid, **values})
        self.journal.append(Change(table, key, None, values))
        return rowid

    def change(self, table: str, row: Row, values: JsonObject) -> None:
        """Set columns of a row."""
        self.assign(table, row, values | {"updated_at": self.stamp})

    def assign(self, table: str, row: Row, values: JsonObject) -> None:
        """Set columns of a row and nothing else."""
        key = key_of(table, row)
        self.db.execute(_update(table, tuple(values)), (*values.values(), *key))
        self.journal.append(Change(table, key, {name: row[name] for name in values}, values))

    def remove(self, table: str, row: Row) -> None:
        """Delete a row for good; only undo does."""
        key = key_of(table, row)
        self.db.execute(_delete(table), key)
        self.journal.append(Change(table, key, dict(row), None))

    def earn(self, amount: int, action: str, entity_id: int) -> int:
        """Enter XP in the ledger and return the amount entered: a penalty takes at most the balance."""
        if amount < 0:
            amount = xp.charged(self.balance()[0], amount)
        if amount:
            entry = {"user": self.user, "at": self.stamp, "xp": amount, "action": action, "entity_id": entity_id}
            self.insert("xp_ledger", entry)
        return amount

    def brought(self, actions: tuple[str, ...], entity_id: int) -> int:
        """The net XP that an entity has brought by these actions so far."""
        marks = ", ".join("?" * len(actions))
        # The + keeps sqlite from reading all the user's entries by xp_by_time in place of the entity's few.
        statement = f"SELECT total(xp) FROM xp_ledger WHERE entity_id = ? AND action IN ({marks}) AND +user = ?"
        return int(self.db.execute(statement, (entity_id, *actions, self.user)).fetchone()[0])

    def balance(self) -> tuple[int, int]:
        """Balance and lifetime XP."""
        return balance(self.db, self.user)


def balance(db: Database, user: str) -> tuple[int, int]:
    """Balance and lifetime XP of a user."""
    row = db.execute("SELECT balance, lifetime FROM xp_balance WHERE user = ?", (user,)).fetchone()
    return tuple(row) if row else (0, 0)


def missing(entity: str) -> ToolError:
    """The error for an id that does not exist, is deleted or belongs to another user: the same text for all three."""
    name = "Diary entry" if entity == "diary" else entity.capitalize()
    return ToolError(
        f"{name} not found", "get_user_snapshot shows what there is, with ids.", code=f"{entity.upper()}_NOT_FOUND"
    )


def key_of(table: str, row: Row) -> Key:
    """The values of a row's key columns."""
    return tuple(row[name] for name in KEYS.get(table, ("id",)))


@cache
def _select(table: str) -> str:
    return f"SELECT * FROM {table} WHERE {_by_key(table)} AND user = ?"


@cache
def _insert(table: str, columns: tuple[str, ...]) -> str:
    names = ", ".join(f'"{name}"' for name in columns)
    return f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(columns))})"


@cache
def _update(table: str, columns: tuple[str, ...]) -> str:
    names = ", ".join(f'"{name}" = ?' for name in columns)
    return f"UPDATE {table} SET {names} WHERE {_by_key(table)}"


@cache
def _delete(table: str) -> str:
    return f"DELETE FROM {table} WHERE {_by_key(table)}"


def _by_key(table: str) -> str:
    return " AND ".join(f"{name} = ?" for name in KEYS.get(table, ("id",)))
