"""The tool that takes back what was applied last, and the actions of this reversal, which it alone uses.

A journal (table `applied`) holds every change of one apply in order: the columns set and the values they
replaced.
"""

# - The changes are taken back last first, through the unit of work, which records these changes in turn: the journal of
#   an undo is what its redo takes back. So both are one function, and only `undone` distinguishes them.
# - Undo takes the newest apply that stands, or a single one before it; redo the oldest that is undone. A new apply ends
#   redoing.
# - Nothing is reversed that was changed since: each row must hold what the journal left in it (long texts are compared
# by digest), and rows that depend on one to be removed stop it (foreign keys). Else PREVIEW_STALE names the
# row.
# - Ledger entries are reversed like any row, so XP is exact; the CHECK of the balance stops what is already spent.

import json
import sqlite3
from functools import partial
from typing import Annotated

from tools.core import calls
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.tool import Tool
from tools.onepercent import actions, days, dispatch, fields, previews, settings, words
from tools.onepercent.actions import Outcome, action, change, diary, entry, stored
from tools.onepercent.actions.goals import CATEGORIES
from tools.onepercent.actions.steps import moved_rows
from tools.onepercent.actions.unit_of_work import (
    ENTITIES,
    OWNERS,
    SILENT,
    Change,
    Place,
    UnitOfWork,
    difference,
    digested,
    label,
)  # fmt: skip
from tools.onepercent.apply_actions import FEW_LINES
from tools.onepercent.database import Database, Row, store
from tools.onepercent.dry_run import Planned, dry_run
from tools.onepercent.page import person_pages

NOBODY = {"time_zone": None, "day_start_hour": 0}  # the count of days without a row of `persons`

UNNAMED = ("xp_ledger", "habit_schedules")  # tables whose rows are named with those that they belong to

KIND = {table: entity for entity, table in ENTITIES.items()}

UNSAID = (*SILENT, "deleted_at", "archived_at")  # what an entry says in other ways

APPLIED = {"applied_id": fields.whole(1, fields.LARGEST_ID)}

Rows = dict[Place, Row | None]

MOST_STEPS = 5  # changed steps of a goal that a diff names one by one


@Tool(
    "undo_last",
    title="Undo",
    order=50,
    write=True,
    lock=False,
    on_call=dispatch.dispatch,
    page=person_pages.PREVIEW,
)
def undo_last(
    redo: Annotated[bool, "bring back what was undone last"] = False,
    number: Annotated[int, "take back only the n-th of what stands, newest first"] = 1,
    list: Annotated[bool, "only name the last 20 changes, newest first"] = False,
) -> JsonObject:
    """Preview the exact reversal of what was applied last, XP included; confirm it with apply_actions.

    Applied again and again it walks back, up to 20 changes. Fails, saying why, if what it touches has changed
    since.
    Source: the journals of what was applied.
    """
    calls.checkpoint()
    with store.writing() as db:
        if list:
            return dispatch.recorded(db, {"success": True, "changes": _changes(db)})
        # To be taken back: the newest, or the `number`-th; to be brought back: the one undone last.
        newest = "SELECT * FROM applied WHERE user = ? AND undone = ? ORDER BY iif(undone, id, -id) LIMIT 1 OFFSET ?"
        row = db.execute(newest, (settings.user(), bool(redo), max(number, 1) - 1)).fetchone()
        if row is None:
            only = "Only what was undone, and nothing applied since, can be redone."
            hint = only if redo else "Nothing (more) is kept."
            raise ToolError(f"Nothing to {'redo' if redo else 'undo'}", hint, code="NOTHING_TO_UNDO")
        kind = actions.ACTIONS["undo.redo" if redo else "undo.last"]
        dry = dry_run(db, [Planned(kind, "1", {"applied_id": row["id"]})], days.now()).checked()
        return dispatch.recorded(db, {"success": True, **previews.keep_and_show(dry)})


def _changes(db: Database) -> list[JsonObject]:
    """Everything that undo and redo reach: when it was applied, on the person's clock, and what it was in
    words."""
    rows = db.execute(
        """SELECT a.journal, a.undone, c.at, row_number() OVER (PARTITION BY a.undone ORDER BY a.id DESC) AS number
        FROM applied a JOIN previews p ON p.id = a.preview_id LEFT JOIN audit c ON c.id = p.audit_id
        WHERE a.user = ? ORDER BY a.id DESC""",
        (settings.user(),),
    )
    changes: list[JsonObject] = []
    for row in rows:
        change: JsonObject = {"undone": True} if row["undone"] else {"number": row["number"]}
        if row["at"]:
            change["at"] = f"{days.local(days.moment_of(row['at'])):%Y-%m-%d %H:%M}"
        changes.append(change | {"change": summary(row["journal"])})
    return changes


def summary(journal: str) -> str:
    """The first lines that named the changes of a journal to the person."""
    kept = json.loads(journal)
    # An older journal keeps all of them and no count.
    return "; ".join(words.more(kept["lines"], FEW_LINES, kept.get("count", 0)))


def _reverse(unit: UnitOfWork, params: JsonObject, undone: bool) -> Outcome:
    """Take back everything that one apply changed, or bring back everything that one undo took back."""
    applied_id = params["applied_id"]
    statement = "SELECT * FROM applied WHERE id = ? AND user = ? AND undone = ?"
    row = unit.db.execute(statement, (applied_id, unit.user, undone)).fetchone()
    if row is None:
        raise _blocked("it was taken back, or something else was applied, since")
    changes = [
        Change(table, tuple(key), *rest) for table, key, *rest in json.loads(row["journal"])["changes"]
    ]
    before = _rows(unit, changes)
    _check_untouched(changes, before)
    try:
        _take_back(unit, changes)
    except sqlite3.IntegrityError:
        raise _blocked("something that depends on it was added since, or its XP is spent") from None
    after = _rows(unit, changes)
    entries = _entries(unit, before, after)
    return Outcome(
        entries,
        message=words.say("redone" if undone else "undone", lines=summary(row["journal"])),
        xp=_xp(after) - _xp(before),
        reversal=(applied_id, not undone),
    )


for name, undone in (("undo.last", False), ("undo.redo", True)):
    action(name, APPLIED, "applied_id")(partial(_reverse, undone=undone))


def _blocked(reason: str) -> ToolError:
    """The error of changes that cannot be taken back exactly any more."""
    hint = "get_user_snapshot shows the present state; change it with preview_actions."
    return ToolError(f"Cannot undo: {reason}", hint, code="PREVIEW_STALE")


def _rows(unit: UnitOfWork, changes: list[Change]) -> Rows:
    rows: Rows = {}
    for step in changes:
        row = unit.read(step.table, *step.key)
        rows[step.place] = dict(row) if row else None
    return rows


def _check_untouched(changes: list[Change], rows: Rows) -> None:
    """Raises ToolError that names the row, if one does not hold what the changes left in it."""
    left: dict[Place, JsonObject | None] = {}
    for step in changes:
        before = left.get(step.place) or {}
        left[step.place] = None if step.values is None else before | step.values
    for (table, key), values in left.items():
        row = rows[table, key]
        if row is None and values is None:
            continue  # The changes removed the row, and it is still gone.
        if row is None or values is None:
            raise _blocked(difference(table, None, row))  # It was removed since, or is there again.
        if touched := [column for column, value in values.items() if digested(row[column]) != value]:
            named = [column for column in touched if column not in SILENT] or touched
            raise _blocked(f"{label(table, row)} changed since it was applied: {', '.join(named)}")


def _take_back(unit: UnitOfWork, changes: list[Change]) -> None:
    for step in reversed(changes):
        row = unit.read(step.table, *step.key)
        if row is None:
            unit.insert(step.table, dict(step.replaced or {}))
        elif step.replaced is None:
            unit.remove(step.table, row)
        else:
            unit.assign(step.table, row, dict(step.replaced))


def _entries(unit: UnitOfWork, before: Rows, after: Rows) -> list[tuple[str, JsonObject]]:
    """The diff, without rows that the same changes inserted and removed. Many steps of a goal are one entry;
    those that go or come with their goal are counted in its entry."""
    entries: list[tuple[str, JsonObject]] = []
    goals: dict[tuple[str, str], JsonObject] = {}
    steps: dict[tuple[str, str], list[JsonObject]] = {}
    for place, row in before.items():
        if place[0] in UNNAMED or not (row or after[place]):
            continue
        section, shown = _described(unit, place[0], before, row, after[place])
        if shown["entity"] == "goal":
            goals[section, shown["title"]] = shown
        if shown["entity"] == "step":
            steps.setdefault((section, shown["goal_title"]), []).append(shown)
        else:
            entries.append((section, shown))
    for (section, title), group in steps.items():
        if (section, title) in goals:
            goals[section, title]["steps_deleted" if section == "deletes" else "steps_restored"] = len(group)
        elif len(group) > MOST_STEPS:
            entries.append((section, {"goal_title": title, **_group(section, group)}))
        else:
            entries += [(section, shown) for shown in group]
    return entries


def _group(section: str, steps: list[JsonObject]) -> JsonObject:
    """One entry for many steps: how they move, or what of them changes."""
    group: JsonObject = {"entity": "step", "count": len(steps)}
    if section == "creates":
        group["restored"] = True
    changes = [step.get("changes", {}) for step in steps]
    names = list(dict.fromkeys(name for change in changes for name in change))
    if names == ["dt"] and all(all(change["dt"].values()) for change in changes):
        rows = [[step["title"], *step["changes"]["dt"].values()] for step in steps]
        return group | moved_rows(sorted(rows, key=lambda row: row[1]))
    return group | ({"fields": names} if names else {})


def _described(
    unit: UnitOfWork, table: str, rows: Rows, before: Row | None, after: Row | None
) -> tuple[str, JsonObject]:
    shown = _entry(unit, table, rows, before or after or {})
    if table == "persons":
        before = before or NOBODY
        after = after or NOBODY
    is_there = _is_there(after)
    before = before or {}
    after = after or {}
    if table == "habit_pauses":
        pause = {"pause": {"from": after["first_day"], "to": after["last_day"]}} if is_there else {}
        return "updates", shown | (pause or {"resumed": before["first_day"]})
    if _is_there(before) != is_there:
        if table == "diary":  # A day may have several entries: their words say which one it is.
            shown |= stored(after or before, diary.CONTENT)
        return ("creates", shown | {"restored": True}) if is_there else ("deletes", shown)
    names = [name for name in before if name in after and before[name] != after[name]]
    if "archived_at" in names:
        shown["archived"] = bool(after["archived_at"])
    changes = {name: change(name, before[name], after[name]) for name in names if name not in UNSAID}
    return "updates", shown | ({"changes": changes} if changes else {})


def _is_there(row: Row | None) -> bool:
    return bool(row and not row.get("deleted_at"))


def _entry(unit: UnitOfWork, table: str, rows: Rows, row: Row) -> JsonObject:
    def parent(table: str, key: int) -> Row:
        """The row that a step or mark belongs to, which may itself be undone here."""
        return rows.get((table, (key,))) or unit.read(table, key) or {}

    if table in OWNERS:
        shown = entry(unit, "habit", parent("habits", row["habit_id"]))
        return shown | ({"date": row["date"], "status": row["status"]} if table == "habit_marks" else {})
    if table == "ssp_evaluations":
        return {"entity": "ssp", "id": row["id"], "scores": stored(row, CATEGORIES)}
    if table == "persons":
        return {"entity": "person"}
    shown = entry(unit, KIND[table], row)
    return shown | ({"goal_title": parent("goals", row["goal_id"])["title"]} if table == "steps" else {})


def _xp(rows: Rows) -> int:
    return sum(row["xp"] for (table, _), row in rows.items() if table == "xp_ledger" and row)
