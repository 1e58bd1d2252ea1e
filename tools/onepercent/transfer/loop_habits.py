"""Import from Loop Habit Tracker: the habits of the zip that it exports, each with its past."""

# YES_AUTO is a day that Loop counts as kept because of others; of UNKNOWN there is only a note. A value is a
# number in Loop, of which five have names, for amounts, too: an amount is in thousandths, and 0 is NO.
# The contract of the import:
# - It is tried and applied as the actions of the chat are: in one transaction, with one undo. No mark moves
#   XP, which is for what was done here.
# - A habit that is here already is found by its name (of several with one name, in their order) and gets only
#   the days that it lacks: the same file adds nothing twice.
# - Of a new habit the journal keeps one change, `deleted_at` back to null: an undo hides it with all its
#   marks.

import json
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, timedelta
from time import monotonic
from typing import TYPE_CHECKING

from tools.core import errors
from tools.toolkit import JsonObject, TextOutput, ToolError, command, for_people

from ..actions import Action, habits
from ..actions.unit_of_work import RowChange, UnitOfWork
from ..base import fields, words
from ..base.days import WEEK
from ..base.diff import Counted, Thing
from ..database import store
from ..phases import applying, dispatch, plans
from ..phases.dry_run import Planned, dry_run
from . import backup

if TYPE_CHECKING:
    from .loop_export import Day, Record

# Loop's numbers (VALUES of loop_export).
UNKNOWN = -1
SKIP = 3
YES_NO = {UNKNOWN: "", 0: "missed", 1: "", 2: "completed"}

SAME_NAME = """SELECT id, target_unit,
    (SELECT json_group_array(date) FROM habit_marks WHERE habit_id = habits.id) AS dates
    FROM habits WHERE user = ? AND name = ? AND deleted_at IS NULL
    ORDER BY id LIMIT 1 OFFSET ?"""
# Also of an entry that the person has deleted: it stays away. An undo of the import leaves none.
SAME_NOTE = "SELECT 1 FROM diary WHERE user = :user AND date = :date AND reflection = :reflection"


@command("import")
def import_(file: str, yes: str = "") -> JsonObject | TextOutput:
    """Replace everything by what an export holds; a copy of what was there is kept beside the database. Of a
    zip of Loop Habit Tracker, show what it would add; --yes adds it."""
    return _from_loop(file, yes == "--yes") if file.endswith(".zip") else backup.import_(file)


@for_people
def _from_loop(file: str, is_agreed: bool) -> TextOutput:
    from . import loop_export

    dispatch.call_in_progress.set(dispatch.AuditedCall("import", {"file": file}, monotonic()))
    # Read before the lock is taken; its errors are reported by the dry run.
    loop_export.habits_of.cache_clear()
    with suppress(*loop_export.ERRORS):
        loop_export.habits_of(file)
    with store.writing() as db:
        dry = dry_run(db, [Planned("loop.import", "1", {"file": file})], is_strict=True)
        preview_id = plans.keep(dry)

    if not dry.unit.journal:
        return TextOutput("\n".join([words.text_of("loop.nothing"), *dry.warnings()]))
    if is_agreed:
        return TextOutput(applying.apply_agreed(preview_id, preview_id)["message"])
    return TextOutput("\n".join([*dry.lines(), words.text_of("loop.ask")]))


@Action("loop.import", {})
def _import(unit: UnitOfWork, params: JsonObject) -> None:
    """Add the habits that are not here, and the days and notes that the others lack. Raises ToolError."""
    from . import loop_export

    names: list[str] = []
    dates: list[str] = []
    try:
        for habit, past in loop_export.habits_of(params["file"]):
            name = habit["Name"] = errors.one_line(habit["Name"])
            if past is None:
                unit.warn("loop.absent", title=name)
            else:
                _add(unit, habit, past, names.count(name))
                dates += _note(unit, name, past)
            names.append(name)
    except (*loop_export.ERRORS, sqlite3.IntegrityError) as error:
        raise ToolError(
            f"{params['file']} is not an export of Loop Habit Tracker",
            f"{errors.one_line(error, 200)}. Nothing was changed. In Loop: Settings, Export as CSV.",
            "FIELD_INVALID",
        ) from error

    if dates:
        unit.add_entry(_added("note", dates, "diary"))


def _added(noun: str, dates: list[str], kind: str, title: str = "") -> Counted:
    """The diff entry for the things of a kind that are added on these days."""
    thing = Thing(kind, title, dates=(f"{min(dates)}..{max(dates)}",))
    return Counted(thing, count=len(dates), noun=noun)


def _note(unit: UnitOfWork, name: str, past: "list[Day]") -> list[str]:
    """Write the notes of a habit into the diary unless they are there; return their days."""
    dates = []
    for day, _, text in past:
        note = {"user": unit.user, "date": day, "reflection": f"{name}: {text}"}
        if text and not unit.db.execute(SAME_NOTE, note).fetchone():
            unit.create("diary", note)
            dates.append(day)
    return dates


def _add(unit: UnitOfWork, habit: "Record", past: "list[Day]", twins: int) -> None:
    """Add a new habit with its past; add to an existing one the days it lacks.

    - `habit`: its row in Habits.csv; `past`: its days, the oldest first;
    - `twins`: how many of its name come before it.
    """
    start = len(unit.journal)
    present = unit.db.execute(SAME_NAME, (unit.user, habit["Name"], twins)).fetchone()
    key = present["id"] if present else _create(unit, habit, past)
    days_here = set(json.loads(present["dates"])) if present else ()

    marks = [mark for mark in _marks(habit, past) if mark["date"] not in days_here]
    for mark in marks:
        unit.create("habit_marks", {"habit_id": key, "xp": 0, **mark})
    if marks:
        dates = [mark["date"] for mark in marks]
        unit.add_entry(_added("mark", dates, "mark", habit["Name"]))

    if present:
        own_unit = present["target_unit"]
        if marks and own_unit and habit["Type"] != "YES_NO" and own_unit != _unit(habit):
            unit.warn("loop.unit", title=habit["Name"], unit=_unit(habit), here=own_unit)
    else:
        if habit["Archived?"] == "true":  # with a pause from the day after its last mark
            unit.assign(unit.existing("habit", key), {"archived_at": unit.stamp})
            last = date.fromisoformat(marks[-1]["date"]) if marks else unit.today
            first = f"{last + timedelta(1)}"
            unit.create("habit_pauses", {"habit_id": key, "first_day": first})
        unit.journal[start:] = [
            RowChange("habits", (key,), {"deleted_at": unit.stamp}, {"deleted_at": None})
        ]


def _create(unit: UnitOfWork, habit: "Record", past: "list[Day]") -> int:
    """Create a habit from its row in Habits.csv; what has no counterpart is a warning. Returns its id."""
    times = int(habit["FrequencyNumerator"])
    every = int(habit["FrequencyDenominator"])
    values: JsonObject = {"name": habit["Name"]} | _schedule(times, every)
    places = {"title": habit["Name"], "count": times, "days": every}
    if times < every != WEEK and values.get("n") != every:
        unit.warn("loop.schedule", **places)

    about = [habit["Question"], habit["Description"]]
    amount = _target(habit) / 1000
    is_most = habit["Target Type"] == "AT_MOST"
    is_kept = every == 1 if is_most else amount > 0
    if is_kept:
        values["target"] = {"at_most" if is_most else "amount": amount, "unit": _unit(habit)}
    if amount and every > 1:
        limit = f"{'≤' if is_most else '≥'} {words.number(amount)} {_unit(habit)}"
        about.append(limit)
        unit.warn("loop.target", limit=limit, **places)

    values["description"] = "\n".join(about).strip() or None
    if past:
        values["created_on"] = past[0][0]
    habits.create(unit, values)
    return unit.outcome.created_id or 0


def _unit(habit: "Record") -> str:
    return errors.one_line(habit["Unit"]) or "×"


def _target(habit: "Record") -> int:
    return round(float(habit["Target Value"] or 0) * 1000)


def _marks(habit: "Record", past: "list[Day]") -> Iterator[JsonObject]:
    """The columns of the marks, from the rows of Checkmarks.csv."""
    target = _target(habit)
    # An older export does not say its target: any amount will do.
    least = target if habit["Target Value"] else 1
    for day, value, _ in past:
        mark: JsonObject = {"date": fields.parse_day("Date", day), "status": ""}
        if value == SKIP:
            mark |= {"status": "missed", "excuse_reason": words.text_of("loop.skip")}
        elif habit["Type"] == "YES_NO":
            mark["status"] = YES_NO[value]
        elif value != UNKNOWN:
            is_most = habit["Target Type"] == "AT_MOST"
            status = "partial" if 0 < value < target else "missed"
            if value <= target if is_most else value >= least:
                status = "completed"
            mark |= {"status": status, "amount": value / 1000}
        if mark["status"]:
            yield mark


def _schedule(times: int, every: int) -> JsonObject:
    """The schedule that is nearest to some times in some days."""
    per_week = times * WEEK / every
    if times >= every:
        return {"frequency_type": "daily"}
    if every == WEEK or (times > 1 and per_week >= 1):
        return {"frequency_type": "times_per_week", "times": round(per_week)}
    # Loop takes 30 days for a calendar month: with 31, what is done on each first is never late.
    length = 31 if every == 30 else every
    return {"frequency_type": "every_n_days", "n": round(length / times)}
