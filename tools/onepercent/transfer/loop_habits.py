"""Import from Loop Habit Tracker: the habits of the zip that it exports, each with its past."""

# Loop's values are numbers, of which five have names, in amounts, too:
# - UNKNOWN (-1): no mark, but perhaps a note;
# - NO (0): not done;
# - YES_AUTO (1): no mark; Loop counts the day as kept because of others;
# - YES_MANUAL (2): done;
# - SKIP (3): excused.
# Amounts are thousandths.
#
# The contract of the import:
# - It is tried and applied as the actions of the chat are: in one transaction, with one undo. No mark moves
#   XP, which is for what was done here.
# - A habit that is here already is found by its name (of several with one name, in their order) and gets only
#   the days that it lacks: the same file adds nothing twice.
# - For a new habit the journal keeps one change, `deleted_at` back to null: an undo hides it with all its
#   marks.

import json
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, timedelta
from time import monotonic
from typing import TYPE_CHECKING

from tools.toolkit import JsonObject, TextOutput, ToolError, command, for_people, one_line

from ..actions import Action, habits
from ..actions.unit_of_work import RowChange, UnitOfWork
from ..base import fields, words
from ..base.days import WEEK
from ..base.diff import Grouped, Thing
from ..database import store
from ..phases import applying, dispatch, plans
from ..phases.dry_run import Planned, dry_run
from . import backup

if TYPE_CHECKING:
    from .loop_export import LoopHabit

# Loop's numbers (VALUES of loop_export), and the status that each means for a habit without amounts.
ONLY_A_NOTE = -1
SKIP = 3
STATUSES = {ONLY_A_NOTE: "", 0: "missed", 1: "", 2: "completed"}

SAME_NAME = """SELECT id, target_unit,
    (SELECT json_group_array(date) FROM habit_marks WHERE habit_id = habits.id) AS dates
    FROM habits WHERE user = ? AND name = ? AND deleted_at IS NULL
    ORDER BY id LIMIT 1 OFFSET ?"""
# Also of an entry that the person has deleted: it stays away. An undo of the import leaves none.
SAME_NOTE = "SELECT 1 FROM diary WHERE user = :user AND date = :date AND reflection = :reflection"


@command("import")
def import_file(file: str, yes: str = "") -> JsonObject | TextOutput:
    """Replace everything by what an export holds; a copy of what was there is kept beside the database. Of a
    zip of Loop Habit Tracker, show what it would add; --yes adds it."""
    if file.endswith(".zip"):
        return _import_from_loop(file, yes == "--yes")
    return backup.import_export(file)


@for_people
def _import_from_loop(file: str, is_agreed: bool) -> TextOutput:
    from . import loop_export

    dispatch.call_in_progress.set(dispatch.AuditedCall("import", {"file": file}, monotonic()))
    # Read before the lock is taken; its errors are reported by the dry run.
    loop_export.habits_of.cache_clear()
    with suppress(*loop_export.ERRORS):
        loop_export.habits_of(file)
    with store.writing() as db:
        dry = dry_run(db, [Planned("loop.import", "1", {"file": file})], is_strict=True)
        preview_id = plans.save(dry)

    if not dry.unit.journal:
        return TextOutput("\n".join([words.text_of("loop.nothing"), *dry.warnings()]))
    if is_agreed:
        return TextOutput(applying.apply_agreed(preview_id, preview_id)["message"])
    return TextOutput("\n".join([*dry.lines(), words.text_of("loop.ask")]))


@Action("loop.import", {})
def _import(unit: UnitOfWork, params: JsonObject) -> None:
    """Create the habits that are missing here, and add to the others the days and notes they lack. Raises
    ToolError."""
    from . import loop_export

    names: list[str] = []
    dates: list[str] = []
    try:
        for habit in loop_export.habits_of(params["file"]):
            if habit.is_absent:
                unit.warn("loop.absent", title=habit.name)
            else:
                _merge_habit(unit, habit, names.count(habit.name))
                dates += _write_notes(unit, habit)
            names.append(habit.name)
    except (*loop_export.ERRORS, sqlite3.IntegrityError) as error:
        raise ToolError(
            f"{params['file']} is not an export of Loop Habit Tracker",
            f"{one_line(error, 200)}. Nothing was changed. In Loop: Settings, Export as CSV.",
            "FIELD_INVALID",
        ) from error

    if dates:
        unit.add_entry(_entry_of_added("note", dates, "diary"))


def _entry_of_added(noun: str, dates: list[str], kind: str, title: str = "") -> Grouped:
    """Make the diff entry for the things of a kind that are added on these days."""
    thing = Thing(kind, title, dates=(f"{min(dates)}..{max(dates)}",))
    return Grouped(thing, count=len(dates), noun=noun)


def _write_notes(unit: UnitOfWork, habit: "LoopHabit") -> list[str]:
    """Write the notes of a habit into the diary unless they are there; return their days."""
    dates = []
    for day, _, note in habit.days:
        diary_row = {"user": unit.user, "date": day, "reflection": f"{habit.name}: {note}"}
        if note and not unit.db.execute(SAME_NOTE, diary_row).fetchone():
            unit.create("diary", diary_row)
            dates.append(day)
    return dates


def _merge_habit(unit: UnitOfWork, habit: "LoopHabit", namesakes: int) -> None:
    """Create a habit with its marks, or add to an existing one the days it lacks; `namesakes`: how many habits
    of its name come before it in the export."""
    # The habit here, and its marks.
    start = len(unit.journal)
    present = unit.db.execute(SAME_NAME, (unit.user, habit.name, namesakes)).fetchone()
    habit_id = present["id"] if present else _create(unit, habit)
    days_here = set(json.loads(present["dates"])) if present else ()
    marks = [mark for mark in _marks(habit) if mark["date"] not in days_here]
    for mark in marks:
        unit.create("habit_marks", {"habit_id": habit_id, "xp": 0, **mark})
    if marks:
        dates = [mark["date"] for mark in marks]
        unit.add_entry(_entry_of_added("mark", dates, "mark", habit.name))

    # A warning if the amounts differ in unit; of a new habit its archive, and one change for the undo.
    if present:
        own_unit = present["target_unit"]
        if marks and own_unit and not habit.is_yes_no and own_unit != habit.unit:
            unit.warn("loop.unit", title=habit.name, unit=habit.unit, here=own_unit)
    else:
        if habit.is_archived:  # with a pause from the day after its last mark
            unit.assign(unit.existing("habit", habit_id), {"archived_at": unit.stamp})
            last = date.fromisoformat(marks[-1]["date"]) if marks else unit.today
            first = f"{last + timedelta(1)}"
            unit.create("habit_pauses", {"habit_id": habit_id, "first_day": first})
        unit.journal[start:] = [
            RowChange("habits", (habit_id,), {"deleted_at": unit.stamp}, {"deleted_at": None})
        ]


def _create(unit: UnitOfWork, habit: "LoopHabit") -> int:
    """Create a habit without its marks and return its id. Warn of everything that has no
    counterpart here."""
    values: JsonObject = {"name": habit.name} | _schedule(habit.times, habit.every)
    places = {"title": habit.name, "count": habit.times, "days": habit.every}
    if habit.times < habit.every != WEEK and values.get("n") != habit.every:
        unit.warn("loop.schedule", **places)

    about = habit.about
    amount = (habit.target or 0) / 1000
    has_target = habit.every == 1 if habit.is_limit else amount > 0
    if has_target:
        values["target"] = {"at_most" if habit.is_limit else "amount": amount, "unit": habit.unit}
    if amount and habit.every > 1:
        limit = f"{'≤' if habit.is_limit else '≥'} {words.number(amount)} {habit.unit}"
        about += f"\n{limit}"
        unit.warn("loop.target", limit=limit, **places)

    values["description"] = about.strip() or None
    if habit.days:
        values["created_on"] = habit.days[0][0]
    habits.create(unit, values)
    return unit.outcome.created_id or 0


def _marks(habit: "LoopHabit") -> Iterator[JsonObject]:
    """The columns of the marks of a habit."""
    # An older export does not say its target: any amount will do.
    target = 1 if habit.target is None else habit.target
    for day, value, _ in habit.days:
        mark: JsonObject = {"date": fields.parse_day("Date", day), "status": ""}
        if value == SKIP:
            mark |= {"status": "missed", "excuse_reason": words.text_of("loop.skip")}
        elif habit.is_yes_no:
            mark["status"] = STATUSES[value]
        elif value != ONLY_A_NOTE:
            status = "partial" if 0 < value < target else "missed"
            if value <= target if habit.is_limit else value >= target:
                status = "completed"
            mark |= {"status": status, "amount": value / 1000}
        if mark["status"]:
            yield mark


def _schedule(times: int, every: int) -> JsonObject:
    """The schedule that comes nearest to `times` in `every` days."""
    per_week = times * WEEK / every
    if times >= every:
        return {"frequency_type": "daily"}
    if every == WEEK or (times > 1 and per_week >= 1):
        return {"frequency_type": "times_per_week", "times": round(per_week)}
    # Loop takes 30 days for a calendar month: with 31, what is done on each first is never late.
    length = 31 if every == 30 else every
    return {"frequency_type": "every_n_days", "n": round(length / times)}
