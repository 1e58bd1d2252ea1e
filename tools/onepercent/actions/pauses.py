"""Actions that take a habit out of its days for a time, or out of sight."""

from datetime import timedelta

from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.onepercent import fields
from tools.onepercent.actions import Outcome, action, entry
from tools.onepercent.actions.habits import HABIT
from tools.onepercent.actions.unit_of_work import UnitOfWork
from tools.onepercent.database.types import Row
from tools.onepercent.habits.schedules import LAST

FARTHEST_DAYS = 366
"""The days from today within which a pause may begin and end."""

ONLY_HABIT = {"habit_id": HABIT}
PAUSE = {**ONLY_HABIT, "from": fields.day(default="today"), "to": fields.day(empty=True), "reason": fields.text(500)}


@action("habit.pause", PAUSE, "habit_id")
def pause(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Pause a habit between two days, or until it is resumed: nothing is due, no streak breaks or grows."""
    habit = unit.find("habit", params["habit_id"])
    first, last, reason = params.get("from") or _first_day(unit, habit), params.get("to"), params.get("reason")
    earliest, latest = (unit.today + timedelta(days=days) for days in (-FARTHEST_DAYS, FARTHEST_DAYS))
    if not str(earliest) <= first <= (last or first) <= str(latest):
        message = f"a pause cannot be from {first} to {last or 'the day it is resumed'}"
        hint = f"from comes before to; both lie between {earliest} and {latest}. Today is {unit.today}."
        raise ToolError(message, hint, code="INVALID_DATE", field="from")
    for row in _pauses(unit, habit):
        if row["first_day"] <= (last or LAST) and first <= (row["last_day"] or LAST):
            message = f"Habit is paused already from {row['first_day']} until {row['last_day'] or 'it is resumed'}"
            hint = "habit.resume ends that pause; then pause it anew."
            raise ToolError(message, hint, code="FIELD_INVALID", field="from")
    _insert(unit, habit, first, last, reason)
    shown = {name: value for name, value in (("from", first), ("to", last), ("reason", reason)) if value}
    return Outcome([("updates", entry(unit, "habit", habit) | {"pause": shown})])


@action("habit.resume", ONLY_HABIT, "habit_id")
def resume(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """End the pause of a habit as of today, or give up the one to come."""
    habit = unit.find("habit", params["habit_id"])
    if (ended := _end_pause(unit, habit)) is None:
        raise ToolError("Habit is not paused", "Nothing is left to resume.", code="NOT_COMPLETED")
    return Outcome([("updates", entry(unit, "habit", habit) | {"resumed": ended["first_day"]})])


@action("habit.archive", ONLY_HABIT, "habit_id")
def archive(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Put a habit out of sight, paused; nothing of it is lost."""
    habit = unit.find("habit", params["habit_id"])
    outcome = set_archived(unit, "habit", habit, archived=True)
    first = _first_day(unit, habit)
    present = (row for row in _pauses(unit, habit) if row["first_day"] <= first <= (row["last_day"] or LAST))
    if (row := next(present, None)) is None:
        _insert(unit, habit, first)
    elif row["last_day"]:  # It would end while the habit is out of sight.
        unit.change("habit_pauses", row, {"last_day": None})
    return outcome


@action("habit.unarchive", ONLY_HABIT, "habit_id")
def unarchive(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Bring an archived habit back and resume it."""
    habit = unit.find("habit", params["habit_id"])
    outcome = set_archived(unit, "habit", habit, archived=False)
    _end_pause(unit, habit)
    return outcome


def set_archived(unit: UnitOfWork, entity: str, row: Row, archived: bool) -> Outcome:
    """Put a goal or habit out of sight, or back. Raises ToolError NOTHING_TO_UPDATE."""
    if bool(row["archived_at"]) == archived:
        state, back = ("already archived", "unarchive") if archived else ("not archived", "archive")
        hint = f"{entity}.{back} does the opposite."
        raise ToolError(f"{entity.capitalize()} is {state}", hint, code="NOTHING_TO_UPDATE")
    unit.change(f"{entity}s", row, {"archived_at": unit.stamp if archived else None})
    return Outcome([("updates", entry(unit, entity, row) | {"archived": archived})])


def _first_day(unit: UnitOfWork, habit: Row) -> str:
    """Today; tomorrow if today has a mark, which a pause would leave out of the streak."""
    is_marked = unit.read("habit_marks", habit["id"], unit.today.isoformat())
    return (unit.today + timedelta(days=1 if is_marked else 0)).isoformat()


def _pauses(unit: UnitOfWork, habit: Row) -> list[Row]:
    """The pauses of a habit, read so that another session's change of them is noticed."""
    statement = "SELECT first_day FROM habit_pauses WHERE habit_id = ? ORDER BY first_day"
    keys = unit.db.execute(statement, (habit["id"],)).fetchall()
    return [row for (first,) in keys if (row := unit.read("habit_pauses", habit["id"], first))]


def _insert(unit: UnitOfWork, habit: Row, first: str, last: str | None = None, reason: str | None = None) -> None:
    values = {"habit_id": habit["id"], "first_day": first, "last_day": last, "reason": reason}
    unit.insert_stamped("habit_pauses", values)


def _end_pause(unit: UnitOfWork, habit: Row) -> Row | None:
    """End the first pause that is not over, the day before today; one that has not begun goes."""
    today = unit.today.isoformat()
    row = next((row for row in _pauses(unit, habit) if (row["last_day"] or LAST) >= today), None)
    if row and row["first_day"] >= today:
        unit.remove("habit_pauses", row)
    elif row:
        unit.change("habit_pauses", row, {"last_day": (unit.today - timedelta(days=1)).isoformat()})
    return row
