"""undo_last: previews the reversal of an apply, by an action of its own.

A journal (table `applied`) holds every change of one apply in order: the columns set and the values they
replaced.
"""

# - The changes are reversed last first, through the unit of work, which records these changes in turn: the
#   journal of an undo is what its redo reverses. So both are one action, and only `undone` distinguishes
#   them.
# - Undo takes the newest apply that stands, or a single one before it; redo the oldest that is undone. A new
#   apply ends redoing.
# - Nothing is reversed that was changed since: each row must hold what the journal left in it (long texts are
#   compared by digest), and rows that depend on one to be removed stop it (foreign keys). Otherwise
#   PREVIEW_STALE names the row.
# - Ledger entries are reversed like any row, so XP is exact; the CHECK of the balance stops what is already
#   spent.

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from operator import itemgetter
from typing import Annotated

from tools.toolkit import JsonObject, ToolError, checkpoint

from . import settings
from .actions import Action, deletion, edits, with_goal_title
from .actions.person import NO_PERSON
from .actions.unit_of_work import Key, RowChange, StoredRow, UnitOfWork, difference, digested
from .base import days, rules, words
from .base.diff import (
    Archived,
    Changed,
    Deleted,
    DiffEntry,
    Grouped,
    Paused,
    Resumed,
    Shifted,
    Thing,
)
from .database import Database, store
from .page import person_pages
from .phases import dispatch, plans
from .phases.applying import FEW_LINES
from .phases.dry_run import Planned, dry_run

# Tables without entries of their own: a change shows in the entry of the habit or action it belongs to.
WITHOUT_ENTRY = ("xp_ledger", "habit_schedules")

MOST_STEPS = 5  # steps of a goal that a diff names one by one


# A row that a person sees, and the entry that its deletion would have.
ShownRow = tuple[StoredRow, Deleted]
ShownRows = dict[Key, ShownRow]  # by table and key


@dispatch.writing_tool("undo_last", title="Undo", order=50, page=person_pages.PREVIEW)
def undo_last(
    redo: Annotated[bool, "bring back what was undone last"] = False,
    number: Annotated[int, "only the n-th newest"] = 1,
    list: Annotated[bool, "only name the last 20"] = False,
) -> JsonObject:
    """Preview the exact reversal of what was applied last; confirm it with apply_actions.

    Called again it goes on, up to 20 changes.
    Source: the journals of what was applied.
    """
    checkpoint()
    with store.writing("NORMAL") as db:
        if list:
            return dispatch.record(db, {"changes": [*_undoable(db)]})
        # Undo takes the newest, or the `number`-th; redo the one undone last.
        statement = """SELECT id FROM applied WHERE user = ? AND undone = ?
            ORDER BY iif(undone, id, -id) LIMIT 1 OFFSET ?"""
        skipped = min(number - 1, rules.UNDONE_AT_MOST)
        row = db.execute(statement, (settings.user(), redo, skipped)).fetchone()
        if row is None:
            raise ToolError(
                f"Nothing to {'redo' if redo else 'undo'}",
                "There is nothing left to undo. Redo works only right after an undo.",
                "NOTHING_TO_UNDO",
            )
        reversal = Planned("undo.last", "1", {"applied_id": row["id"], "undone": redo})
        dry = dry_run(db, [reversal], is_strict=True)
        return dispatch.record(db, plans.save_and_show(dry))


def _undoable(db: Database) -> Iterator[JsonObject]:
    """List what undo and redo can reach: its time on the person's clock, and the changes in words."""
    rows = db.execute(
        """SELECT a.journal, a.undone, c.at,
            row_number() OVER (PARTITION BY a.undone ORDER BY a.id DESC) AS number
        FROM applied a JOIN previews p ON p.id = a.preview_id JOIN audit c ON c.id = p.audit_id
        WHERE a.user = ? ORDER BY a.id DESC""",
        (settings.user(),),
    )
    for row in rows:
        change: JsonObject = {"undone": True} if row["undone"] else {"number": row["number"]}
        change["at"] = f"{days.local(days.moment_of(row['at'])):%Y-%m-%d %H:%M}"
        change["change"] = changes_in_words(row["journal"])
        yield change


def changes_in_words(journal: str) -> str:
    """The first changes of a journal, in words."""
    stored = json.loads(journal)
    return "; ".join(words.shortened(stored["lines"], FEW_LINES, stored["count"]))


@Action("undo.last", {})
def reverse(unit: UnitOfWork, params: JsonObject) -> None:
    """Reverse everything that one apply, or one undo, changed."""
    # Version 0.2.0 stored a preview of an undo without `undone`.
    undone = params.get("undone", False)
    statement = "SELECT journal FROM applied WHERE id = :id AND user = :user AND undone = :undone"
    journal = unit.scalar(statement, id=params["applied_id"], undone=undone)
    if journal is None:
        raise _blocked_error("it was taken back, or something else was applied, since")
    changes = [RowChange(*change) for change in json.loads(journal)["changes"]]
    before = _shown_rows(unit, changes)
    try:
        _reverse_rows(unit, changes)
    except sqlite3.IntegrityError:
        raise _blocked_error(
            "something that depends on it was added since, or its XP is spent"
        ) from None
    unit.outcome.entries = _entries(unit, before, _shown_rows(unit, changes))
    unit.outcome.message = words.text_of(
        "redone" if undone else "undone", lines=changes_in_words(journal)
    )


def _blocked_error(reason: str) -> ToolError:
    """Error for changes that can no longer be reversed exactly."""
    return ToolError(
        f"Cannot undo: {reason}",
        "get_user_snapshot shows the present state; change it with preview_actions.",
        "PREVIEW_STALE",
    )


def _shown_rows(unit: UnitOfWork, changes: list[RowChange]) -> ShownRows:
    """Rows that a person sees now, read while what they belong to exists."""
    rows: ShownRows = {}
    for change in changes:
        if change.table in WITHOUT_ENTRY:
            continue
        row = unit.row(change.table, *change.key)
        if change.table == "persons":
            row = row or NO_PERSON
        if row and not row.get("deleted_at"):
            key = (change.table, *change.key)
            rows[key] = (with_goal_title(unit, row), deletion(unit, row))
    return rows


def _reverse_rows(unit: UnitOfWork, changes: list[RowChange]) -> None:
    """Reverse the changes, last first. Raises ToolError that names a row which does not hold what its change
    left in it."""
    for change in reversed(changes):
        row = unit.row(change.table, *change.key)
        current = digested(row)
        expected = {} if change.values is None else current | change.values
        if current != expected:
            raise _blocked_error(difference(list(expected.values()), row))
        if change.replaced is None:
            unit.remove(row)
        elif row:
            unit.assign(row, change.replaced)
        else:
            unit.insert(change.table, change.replaced)


def _entries(unit: UnitOfWork, before: ShownRows, after: ShownRows) -> list[DiffEntry]:
    """Make the entries of the diff, none for a row that the same changes insert and remove. A goal that goes
    or comes back has its steps in its own entry; more than MOST_STEPS other steps of a goal share one."""
    entries = []
    steps: dict[tuple[str, str], list[DiffEntry]] = {}
    for key in after | before:
        for entry in _entries_of_row(unit, before.get(key), after.get(key)):
            if entry.thing.kind == "step":
                steps.setdefault((entry.verb, entry.thing.goal_title), []).append(entry)
            else:
                entries.append(entry)

    for entry in entries:
        if isinstance(entry, Deleted) and entry.thing.kind == "goal":
            its_steps = steps.pop((entry.verb, entry.thing.title), ())
            entry.step_titles = [step.thing.title for step in its_steps]
    for group in steps.values():
        entries += [_grouped(group)] if len(group) > MOST_STEPS else group
    return entries


def _entries_of_row(
    unit: UnitOfWork, before: ShownRow | None, after: ShownRow | None
) -> Iterator[DiffEntry]:
    """Make the entries of one row; None: it is not shown before, or after."""
    match before, after:
        case (row, entry), None if row.table == "habit_pauses":
            yield Resumed(entry.thing, resumed=row["first_day"])
        case (_, entry), None:
            yield entry
        case _, (row, entry) if row.table == "habit_pauses":
            yield Paused(entry.thing, pause={"from": row["first_day"], "to": row["last_day"]})
        case None, (_, entry):
            yield replace(entry, restored=True)
        case (old, entry), (new, _):
            if old.get("archived_at") != new.get("archived_at"):
                yield Archived(entry.thing, archived=bool(new["archived_at"]))
            if changes := edits(unit, old, new):
                yield Changed(entry.thing, changes=changes)


def _grouped(steps: list[DiffEntry]) -> DiffEntry:
    """Make one entry for many steps of a goal: how they move, or which fields change."""
    count = len(steps)
    thing = Thing("steps", goal_title=steps[0].thing.goal_title)
    names = set[str]()
    moves = []
    for step in steps:
        if not isinstance(step, Changed):
            return replace(step, thing=thing, count=count)
        names |= step.changes.keys()
        move = step.changes.get("dt")
        if move and move.before and move.after:
            moves.append((step.thing.title, move.before, move.after))

    if names == {"dt"} and len(moves) == count:
        return Shifted(thing, count=count, moves=sorted(moves, key=itemgetter(1)))
    return Grouped(thing, count=count, fields=sorted(names))
