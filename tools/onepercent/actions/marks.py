"""Actions on the days of habits: mark them kept or missed."""

# A day of a habit has one mark: completed, missed, or partial (an amount below the target). The mark stores
# the XP that it brought: replacing it moves the difference, removing it moves all of it.

import datetime
from dataclasses import replace
from functools import partial

from tools.toolkit import JsonObject, ToolError

from ..base import days, fields, rules, words
from ..base.diff import Marked, target_of
from ..habits.histories import History
from ..habits.schedules import Course
from . import Action, StoredRow, UnitOfWork, action_on_one, checked_day, deletion, thing_of
from .habits import history_of, warn_of_streak
from .targets import AMOUNT, no_target_error, warn_of_reached

DAY_OR_TODAY = fields.day(default="today")
MARK_FIELDS = {
    "habit_id": fields.ENTITY_ID,
    "date": DAY_OR_TODAY,
    "habit_ids": fields.ENTITY_IDS,
    "dates": fields.DATES,
}

NO_MARK: JsonObject = {"status": "", "excuse_reason": None, "note": None, "amount": None, "xp": 0}


# The other days of an ISO week on which a habit is done.
OTHER_DAYS_OF_WEEK = """SELECT count(*) FROM habit_marks
    WHERE habit_id = :habit AND status = 'completed' AND date <> :day
    AND date BETWEEN date(:day, 'weekday 0', '-6 days') AND date(:day, 'weekday 0')"""


def mark_habits(unit: UnitOfWork, params: JsonObject, status: str) -> None:
    """Mark each of the habits on each of the days, except those that have this mark already."""
    duplicates = []
    for habit in unit.rows_named("habit", params):
        if habit["archived_at"]:
            raise ToolError(
                "Habit is archived", "habit.unarchive brings it back.", "HABIT_ARCHIVED"
            )
        duplicates += _mark_habit(unit, habit, params, status)

    # Nothing was marked.
    if unit.outcome.entries:
        return
    if duplicates:
        raise ToolError(
            f"Habit already marked {status} on {duplicates[-1]}",
            "A day has one mark: the other status replaces it, habit.unmark removes it.",
            "ALREADY_COMPLETED",
        )
    raise ToolError(
        "Nothing is due on these dates", "Name the days one by one in dates.", "INVALID_DATE"
    )


def _mark_habit(unit: UnitOfWork, habit: StoredRow, params: JsonObject, status: str) -> list[str]:
    """Mark days of a habit, with one entry for all of them; return those that have this mark already."""
    history = history_of(unit, habit)
    xp_before = unit.balance
    marks = {}
    replaces = {}
    duplicates = []
    for day in _days_to_mark(unit, history.course, params):
        before = unit.row("habit_marks", habit["id"], day)
        mark = _mark_day(unit, history, day, params, status)
        if not mark:
            duplicates.append(day)
            continue
        marks[day] = mark
        if before and before["status"] != mark["status"]:
            replaces[day] = before["status"]
    if duplicates:
        unit.warn("warn.marked", title=habit["name"], dates=duplicates)
    if not marks:
        return duplicates

    # One entry, with the state of the last day, and warnings of what may not be meant.
    dates = list(marks)
    last_day = dates[-1]
    last = marks[last_day]
    added = params.get("amount")
    entry = Marked(
        replace(thing_of(unit, habit), kind="mark", dates=tuple(words.ranges(dates))),
        xp_reward=unit.balance - xp_before,
        count=len(dates),
        status=last["status"],
        excuse_reason=params.get("excuse_reason"),
        note=params.get("note"),
        amount=last["amount"],
        target=target_of(habit),
        added=None if added == last["amount"] else added,
        replaces=replaces if len(dates) > 1 else replaces.get(last_day, ""),
    )
    unit.add_entry(entry)
    if habit["goal_id"] and "amount" in params:
        warn_of_reached(unit, unit.row("goals", habit["goal_id"]))
    _warn_of_days(unit, history, dates)
    warn_of_streak(unit, history)
    return duplicates


# An amount is added to that of the day, which is done once it reaches the target, and missed once it is
# above a limit.
Action("habit.mark_completed", {**MARK_FIELDS, "amount": AMOUNT, "note": fields.text(500)})(
    partial(mark_habits, status="completed")
)
# An excuse saves XP and the streak.
Action("habit.mark_missed", {**MARK_FIELDS, "excuse_reason": fields.text(500)})(
    partial(mark_habits, status="missed")
)


@action_on_one("habit.unmark", date=DAY_OR_TODAY)
def unmark(unit: UnitOfWork, habit: StoredRow, date: str = "") -> None:
    """Remove a mark and reverse the XP it brought or cost."""
    day = date or unit.day  # any day: the clock may have been wrong
    mark = unit.row("habit_marks", habit["id"], day)
    if not mark:
        newest = unit.scalar(
            "SELECT max(date) FROM habit_marks WHERE habit_id = :habit", habit=habit["id"]
        )
        hint = f"Its last mark is of {newest}: send date." if newest else "It has no marks."
        raise ToolError(f"Habit is not marked on {day}", hint, "NOT_COMPLETED")

    history = history_of(unit, habit)
    unit.remove(mark)
    earned = unit.earn(-mark["xp"], "habit.unmark", habit["id"], day)
    unit.add_entry(replace(deletion(unit, mark), xp_reward=earned))
    warn_of_streak(unit, history)


def _days_to_mark(unit: UnitOfWork, course: Course, params: JsonObject) -> list[str]:
    """Days to mark: those named, and the due ones of each range."""
    ordinals = set()
    permission = "habit.pause takes days to come, a mark can be made"
    for ends in params.get("dates", [[params.get("date")]]):
        dates = [checked_day(unit, day, rules.MARK_DAYS_BACK, permission) for day in ends]
        first = days.ordinal(dates[0])
        last = days.ordinal(dates[-1])

        if first == last:
            ordinals.add(first)
        else:
            ordinals.update(filter(course.is_due, range(first, last + 1)))
    return [f"{datetime.date.fromordinal(day)}" for day in sorted(ordinals)]


def _mark_day(
    unit: UnitOfWork,
    history: History,
    day: str,
    params: JsonObject,
    status: str,
) -> JsonObject:
    """Mark a day and return the columns of its mark, none if it already has this mark.

    - `history`: the habit with its marks as they are now;
    - `params`: those of the action, with amount, note or excuse_reason;
    - `status`: completed or missed, before the amount is looked at.
    """
    habit = history.habit
    stored = unit.row("habit_marks", habit["id"], day)
    before = stored or NO_MARK
    excuse = params.get("excuse_reason")
    note = params.get("note") or before["note"]
    has_new_text = excuse not in (None, before["excuse_reason"]) or note != before["note"]
    if before["status"] == status and "amount" not in params and not has_new_text:
        return {}

    # The mark as it will be, and the XP that it moves.
    status, amount, worth = _judge(unit, history, day, params, status, before)
    earned = unit.earn(worth - before["xp"], f"habit.mark_{status}", habit["id"], day)
    values = {
        "status": status,
        "excuse_reason": excuse,
        "note": note,
        "amount": amount,
        "xp": before["xp"] + earned,
    }
    if stored:
        unit.change(stored, values)
    else:
        unit.create("habit_marks", {"habit_id": habit["id"], "date": day, **values})
    return values


def _judge(
    unit: UnitOfWork,
    history: History,
    day: str,
    params: JsonObject,
    status: str,
    before: JsonObject,
) -> tuple[str, float | None, int]:
    """Status, amount and XP of a mark, given the one `before` it."""
    habit = history.habit
    if status == "missed":
        return status, None, 0 if params.get("excuse_reason") else -habit["xp_penalty"]

    # The amount sent is added to the day's; “done” without an amount means the whole target.
    target = habit["target_amount"]
    amount = before["amount"]
    if "amount" in params:
        if target is None:
            raise no_target_error("habit")
        amount = round((amount or 0) + params["amount"], 3)
    elif not habit["at_most"]:
        amount = target and max(amount or 0, target)

    if habit["at_most"]:
        if (amount or 0) > target:
            return "missed", amount, -habit["xp_penalty"]
        return status, amount, 0
    # A habit without a target has no amounts. A day that is done stays done, even if the target has grown
    # since.
    if amount is not None and amount < target and before["status"] != status:
        return "partial", amount, 0
    # Even without this day the week has all the times that the habit needs.
    times = history.course.schedule_on(days.ordinal(day)).times
    others = unit.scalar(OTHER_DAYS_OF_WEEK, habit=habit["id"], day=day)
    if before["xp"] <= 0 and 0 < times <= others:
        unit.warn("warn.enough", title=habit["name"])
        return status, amount, 0
    return status, amount, habit["xp_reward"]


def _warn_of_days(unit: UnitOfWork, history: History, dates: list[str]) -> None:
    """Warn of days that are not due, and of days so long ago that another month may be meant."""
    title = history.habit["name"]
    for day in dates:
        ordinal = days.ordinal(day)
        # A habit that has been due since an earlier day is owed.
        if not (history.course.is_due(ordinal) or history.is_owed(ordinal)):
            unit.warn("warn.not_scheduled", title=title, day=day, weekday=day)

    if dates[0] < unit.day_after(-rules.USUAL_MARK_DAYS_BACK):
        unit.warn("warn.long_ago", title=title, day=dates[0])
