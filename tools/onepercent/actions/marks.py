"""Actions that mark a habit's day kept or missed."""

from datetime import date, timedelta

from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.onepercent import days, fields, words
from tools.onepercent.actions import Outcome, action, entry
from tools.onepercent.actions.habits import HABIT
from tools.onepercent.actions.unit_of_work import Row, UnitOfWork

DAYS_BACK = 7

MARK = {"habit_id": HABIT, "date": fields.Day(default="today")}


@action("habit.mark_completed", MARK, required=("habit_id",))
def mark_completed(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Mark a habit done on a day."""
    habit = unit.find("habit", params["habit_id"])
    return _mark(unit, habit, params, "completed", habit["xp_reward"])


@action("habit.mark_missed", {**MARK, "excuse_reason": fields.Text(500)}, required=("habit_id",))
def mark_missed(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Mark a habit missed on a day; an excuse saves XP and the streak."""
    habit = unit.find("habit", params["habit_id"])
    return _mark(unit, habit, params, "missed", 0 if params.get("excuse_reason") else -habit["xp_penalty"])


@action("habit.unmark", MARK, required=("habit_id",))
def unmark(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Remove a mark and reverse the XP it brought or cost."""
    habit = unit.find("habit", params["habit_id"])
    day = _day(unit, params.get("date"))
    mark = unit.read("habit_marks", habit["id"], day)
    if mark is None:
        raise ToolError(f"Habit is not marked on {day}", "Nothing is left to take back.", code="NOT_COMPLETED")
    unit.remove("habit_marks", mark)
    earned = unit.earn(-mark["xp"], "habit.unmark", habit["id"])
    deletion = entry(unit, "habit", habit) | {"date": day, "status": mark["status"], "xp_reward": earned}
    return Outcome([("deletes", deletion)], xp=earned)


def _mark(unit: UnitOfWork, habit: Row, params: JsonObject, status: str, worth: int) -> Outcome:
    day = _day(unit, params.get("date"))
    before = unit.read("habit_marks", habit["id"], day)
    if before and before["status"] == status:
        raise ToolError(
            f"Habit already marked {status} on {day}",
            "One mark a day; the other status would replace it, habit.unmark takes it off.",
            code="ALREADY_COMPLETED",
        )
    earned = unit.earn(worth - (before["xp"] if before else 0), f"habit.mark_{status}", habit["id"])
    _write(unit, habit, day, before, {"status": status, "excuse_reason": params.get("excuse_reason"), "xp": earned})
    shown = entry(unit, "habit", habit) | {"date": day, "status": status, "xp_reward": earned}
    if before:
        shown["replaces"] = before["status"]
    if params.get("excuse_reason"):
        shown["excuse_reason"] = params["excuse_reason"]
    return Outcome([("completions", shown)], xp=earned, warnings=_not_scheduled(habit, day))


def _not_scheduled(habit: Row, day: str) -> list[str]:
    marked = date.fromisoformat(day)
    if days.schedule(habit["frequency_type"], habit["schedule_days"]).period(marked.toordinal()) is not None:
        return []
    shown = f"{words.day(day)} ({words.weekday(marked)})"
    return [words.say("warn.not_scheduled", title=words.quoted(habit["name"]), day=shown)]


def _write(unit: UnitOfWork, habit: Row, day: str, before: Row | None, values: JsonObject) -> None:
    if before:
        unit.change("habit_marks", before, values | {"xp": before["xp"] + values["xp"]})
        return
    stamps = {"created_at": unit.stamp, "updated_at": unit.stamp}
    unit.insert("habit_marks", {"habit_id": habit["id"], "date": day, "user": unit.user, **values, **stamps})


def _day(unit: UnitOfWork, text: str | None) -> str:
    today = unit.today.isoformat()
    earliest = (unit.today - timedelta(days=DAYS_BACK)).isoformat()
    if text is None or earliest <= text <= today:
        return text or today
    raise ToolError(
        f"date is {'in the future' if text > today else f'more than {DAYS_BACK} days back'}: {text}",
        f"Today is {today}; a mark can be made from {earliest} to today.",
        code="INVALID_DATE",
        field="date",
    )
