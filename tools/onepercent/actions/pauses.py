"""Actions that pause habits, or archive them."""

# - A pause has a last day, or none until it is resumed. Pauses of a habit never meet.
# - An archived habit is paused as long as it is out of sight, so that it returns with its streak.

from tools.toolkit import JsonObject, ToolError, filled

from ..base import fields
from ..base.diff import Paused, Resumed
from ..habits.due_days import HABIT_IS_IN_SIGHT
from ..habits.schedules import LAST_DATE
from . import Action, StoredRow, UnitOfWork, action_on_one, set_archived, thing_of

WHICH_HABITS = {
    "habit_id": fields.ENTITY_ID,
    "habit_ids": fields.ENTITY_IDS,
    "all": fields.FLAG,
}
HABITS_IN_SIGHT = f"""SELECT id FROM habits
    WHERE user = :user AND deleted_at IS NULL AND {HABIT_IS_IN_SIGHT} ORDER BY id"""
OVERLAPPING_PAUSES = """SELECT habit_id, first_day FROM habit_pauses
    WHERE habit_id = ? AND first_day <= ? AND (last_day IS NULL OR last_day >= ?) ORDER BY first_day"""


@Action(
    "habit.pause",
    {
        **WHICH_HABITS,
        "except": fields.ENTITY_IDS,
        "from": fields.day(default="today"),
        "to": fields.day(nullable=True),
        "reason": fields.text(500),
    },
)
def pause(unit: UnitOfWork, params: JsonObject) -> None:
    """Pause habits between two days, or until they are resumed: nothing is due, no streak breaks or grows."""
    last = params.get("to")
    end = last or LAST_DATE
    reason = params.get("reason")
    for habit in _chosen_habits(unit, params):
        unit.subjects["habit"] = habit  # the one that an error is about
        first = params.get("from") or _first_day(unit, habit)
        if end < first:
            raise ToolError(
                f"a pause cannot be from {first} to {last}",
                f"Send a `from` that is not after `to`. Today is {unit.day}.",
                "INVALID_DATE",
                field="from",
            )

        for other in _overlapping_pauses(unit, habit, first, end):
            until = other["last_day"] or "it is resumed"
            raise ToolError(
                f"Habit {habit['name']} is already paused from {other['first_day']} until {until}",
                "habit.resume ends that pause; then pause it again, or leave the habit out.",
                "FIELD_INVALID",
                field="from",
            )

        values = {"habit_id": habit["id"], "first_day": first, "last_day": last, "reason": reason}
        unit.create("habit_pauses", values)
        shown = {"from": first, "to": last} | filled(reason=reason)
        unit.add_entry(Paused(thing_of(unit, habit), pause=shown))


@Action("habit.resume", WHICH_HABITS)
def resume(unit: UnitOfWork, params: JsonObject) -> None:
    """End the pause of habits as of yesterday, or remove the one to come."""
    for habit in _chosen_habits(unit, params):
        if ended := _end_pause(unit, habit):
            unit.add_entry(Resumed(thing_of(unit, habit), resumed=ended))
        else:
            unit.warn("warn.not_paused", title=habit["name"])
    if not unit.outcome.entries:
        raise ToolError("Habit is not paused", "There is nothing to resume.", "NOT_COMPLETED")


def _chosen_habits(unit: UnitOfWork, params: JsonObject) -> list[StoredRow]:
    """Habits that an action names: one, several, or all in sight, with exceptions."""
    if params.get("all"):
        fields.exactly_one(params, *WHICH_HABITS)
        habits = unit.find_all("habit", HABITS_IN_SIGHT)
    else:
        habits = list(unit.rows_named("habit", params))

    exceptions = [unit.existing("habit", habit_id) for habit_id in params.get("except", ())]
    return [habit for habit in habits if habit not in exceptions]


@action_on_one("habit.archive")
def archive(unit: UnitOfWork, habit: StoredRow) -> None:
    """Archive a habit: it is out of sight and paused, and loses nothing."""
    set_archived(unit, habit, archived=True)
    first = _first_day(unit, habit)
    for row in _overlapping_pauses(unit, habit, first, first):
        if row["last_day"]:  # It would end while the habit is out of sight.
            unit.change(row, {"last_day": None})
        return

    unit.create("habit_pauses", {"habit_id": habit["id"], "first_day": first})


@action_on_one("habit.unarchive")
def unarchive(unit: UnitOfWork, habit: StoredRow) -> None:
    """Bring an archived habit back and resume it."""
    _end_pause(unit, habit)
    set_archived(unit, habit, archived=False)


def _first_day(unit: UnitOfWork, habit: StoredRow) -> str:
    """First day of a pause that begins now: today, or tomorrow if today has a mark, which the pause would
    leave out of the streak."""
    is_marked = bool(unit.row("habit_marks", habit["id"], unit.day))
    return unit.day_after(is_marked)


def _overlapping_pauses(
    unit: UnitOfWork, habit: StoredRow, first: str, end: str
) -> list[StoredRow]:
    """Pauses of a habit that overlap these days, read so that another session's change of them is
    noticed."""
    keys = unit.db.execute(OVERLAPPING_PAUSES, (habit["id"], end, first))
    return [unit.row("habit_pauses", *key) for key in keys]


def _end_pause(unit: UnitOfWork, habit: StoredRow) -> str:
    """End the first unfinished pause as of yesterday, or remove it if it has not begun; return its first day,
    "" if there is none."""
    for row in _overlapping_pauses(unit, habit, unit.day, LAST_DATE):
        first: str = row["first_day"]
        if first >= unit.day:
            unit.remove(row)
        else:
            unit.change(row, {"last_day": unit.day_after(-1)})
        return first
    return ""
