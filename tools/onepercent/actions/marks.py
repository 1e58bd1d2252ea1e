"""Actions on the days of habits: marked kept or missed, paused, put out of sight."""

from datetime import date, timedelta
from typing import NamedTuple

from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.onepercent import days, fields, words
from tools.onepercent.actions import Outcome, action, check_day, entry, set_archived
from tools.onepercent.actions.habits import AMOUNT, HABIT, streak_of, streak_warning
from tools.onepercent.actions.unit_of_work import UnitOfWork
from tools.onepercent.database import Row
from tools.onepercent.habits import histories
from tools.onepercent.habits.schedules import LAST, Course
from tools.onepercent.rules import MARK_DAYS_BACK, PAUSE_DAYS, USUAL_MARK_DAYS_BACK
from tools.onepercent.words import Warning

DAY = {"habit_id": HABIT, "date": fields.day(default="today")}
MARK = {**DAY, "habit_ids": fields.KEYS, "dates": fields.DATES}

ONLY_HABIT = {"habit_id": HABIT}
SEVERAL = {
    **ONLY_HABIT,
    "habit_ids": fields.KEYS,
    "all": fields.FLAG,
    "except": fields.KEYS,
}
PAUSE = {
    **SEVERAL,
    "from": fields.day(default="today"),
    "to": fields.day(empty=True),
    "reason": fields.text(500),
}


class Marked(NamedTuple):
    """A day that an action has marked: XP earned, the status of the mark that it replaced, the amount of the
    day."""

    day: str
    xp: int
    replaced: str | None
    status: str
    amount: float | None


@action("habit.mark_completed", {**MARK, "amount": AMOUNT})
def mark_completed(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Mark habits done on days; an amount is added to that of the day, which is done once it reaches the
    target."""
    return _mark_all(unit, params, "completed")


@action("habit.mark_missed", {**MARK, "excuse_reason": fields.text(500)})
def mark_missed(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Mark habits missed on days; an excuse saves XP and the streak."""
    return _mark_all(unit, params, "missed")


@action("habit.unmark", DAY, "habit_id")
def unmark(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Remove a mark and reverse the XP it brought or cost."""
    habit = unit.find("habit", params["habit_id"])
    day = params.get("date") or unit.day  # any day: the clock may have been wrong
    mark = unit.read("habit_marks", habit["id"], day)
    if mark is None:
        raise ToolError(f"Habit is not marked on {day}", "There is nothing to undo.", code="NOT_COMPLETED")
    before = streak_of(unit, habit)
    unit.remove("habit_marks", mark)
    earned = unit.earn(-mark["xp"], "habit.unmark", habit["id"], day)
    deletion = entry(unit, "habit", habit) | {"date": day, "status": mark["status"], "xp_reward": earned}
    return Outcome([("deletes", deletion)], xp=earned, warnings=streak_warning(unit, habit, before))


def _mark_all(unit: UnitOfWork, params: JsonObject, status: str) -> Outcome:
    outcome = Outcome()
    refused = None
    ids = fields.one_or_several(params, "habit_id")
    is_single = len(ids) == 1 and "dates" not in params
    for habit in [unit.find("habit", habit_id) for habit_id in ids]:
        if habit["archived_at"]:
            raise ToolError("Habit is archived", "habit.unarchive brings it back.", code="HABIT_ARCHIVED")
        history = histories.of_habit(unit.db, habit["id"], unit.today)
        marked = list[Marked]()
        for day in _days(unit, history.course, params):
            try:
                marked.append(_mark(unit, habit, day, params, status))
            except ToolError as error:
                if is_single or error.code != "ALREADY_COMPLETED":
                    raise
                refused = error  # Of several days those that have the mark already are passed over.
        if marked:
            outcome.entries.append(("completions", _entry(unit, habit, marked, params)))
            outcome.xp += sum(mark.xp for mark in marked)
            outcome.warnings += _odd_days(unit, habit, history.course, marked)
            if status == "missed" or any(mark.replaced for mark in marked):  # no other mark shortens a streak
                before = history.streak(unit.today.toordinal())
                outcome.warnings += streak_warning(unit, habit, before)
    if not outcome.entries:
        hint = "Name the days one by one in dates."
        raise refused or ToolError("Nothing is due on these dates", hint, code="INVALID_DATE")
    return outcome


def _mark(unit: UnitOfWork, habit: Row, day: str, params: JsonObject, status: str) -> Marked:
    before = unit.read("habit_marks", habit["id"], day)
    amount = _amount(habit, before, params) if status == "completed" else None
    if before and before["status"] == status and (status == "missed" or "amount" not in params):
        hint = "A day has one mark: the other status replaces it, habit.unmark removes it."
        raise ToolError(f"Habit already marked {status} on {day}", hint, code="ALREADY_COMPLETED")
    if amount is not None and amount < (habit["target_amount"] or 0):
        status = "partial"
    worth = {"completed": habit["xp_reward"], "missed": -habit["xp_penalty"], "partial": 0}[status]
    worth = 0 if params.get("excuse_reason") else worth
    earned = unit.earn(worth - (before["xp"] if before else 0), f"habit.mark_{status}", habit["id"], day)
    values = {"status": status, "excuse_reason": params.get("excuse_reason"), "amount": amount}
    if before:
        unit.change("habit_marks", before, values | {"xp": before["xp"] + earned})
    else:
        unit.insert_stamped("habit_marks", {"habit_id": habit["id"], "date": day, "xp": earned, **values})
    replaced = before["status"] if before and before["status"] != status else None
    return Marked(day, earned, replaced, status, amount)


def _amount(habit: Row, before: Row | None, params: JsonObject) -> float | None:
    """The amount of the day: what is sent is added, and done without an amount means all of it."""
    target = habit["target_amount"]
    present = (before["amount"] if before else None) or 0
    if "amount" not in params:
        return target and max(present, target)
    if target is None:
        hint = 'habit.update gives it one: target {"amount": 2, "unit": "l"}.'
        raise ToolError("Habit has no target to count towards", hint, code="FIELD_INVALID", field="amount")
    return round(present + params["amount"], 3)


def _days(unit: UnitOfWork, course: Course, params: JsonObject) -> list[str]:
    """The days to mark: those named, and the due ones of each range."""
    named: set[str] = set()
    for part in params.get("dates", [params.get("date")]):
        if isinstance(part, list):
            first, last = (days.ordinal(_checked_day(unit, day)) for day in part)
            due = filter(course.is_due, range(first, last + 1))
            named |= {date.fromordinal(day).isoformat() for day in due}
        else:
            named.add(_checked_day(unit, part))
    return sorted(named)


def _checked_day(unit: UnitOfWork, day: str | None) -> str:
    return check_day(unit, day, MARK_DAYS_BACK, "habit.pause takes days to come, a mark can be made")


def _entry(unit: UnitOfWork, habit: Row, marked: list[Marked], params: JsonObject) -> JsonObject:
    """One entry of the diff for all the days of a habit."""
    last = marked[-1]
    is_one = len(marked) == 1
    marked_days = [mark.day for mark in marked]
    when = {"date": last.day} if is_one else {"dates": words.ranges(marked_days), "count": len(marked)}
    replaced = {mark.day: mark.replaced for mark in marked if mark.replaced}
    values = {
        "amount": last.amount,
        "added": params.get("amount"),
        "replaces": last.replaced if is_one else replaced,
        "excuse_reason": params.get("excuse_reason"),
    }
    if last.amount is not None:
        values["target"] = {"amount": habit["target_amount"], "unit": habit["target_unit"]}
    if last.amount == values["added"]:
        del values["added"]
    xp = sum(mark.xp for mark in marked)
    shown = entry(unit, "habit", habit, **when, status=last.status, xp_reward=xp)
    return shown | {name: value for name, value in values.items() if value}


def _odd_days(unit: UnitOfWork, habit: Row, course: Course, marked: list[Marked]) -> list[Warning]:
    title = habit["name"]
    first = marked[0].day
    odd = [mark.day for mark in marked if not course.is_due(days.ordinal(mark.day))]
    warnings: list[Warning] = [
        ("warn.not_scheduled", {"title": title, "day": day, "weekday": day}) for day in odd
    ]
    if first < f"{unit.today - timedelta(USUAL_MARK_DAYS_BACK)}":
        warnings.append(("warn.long_ago", {"title": title, "day": first}))
    return warnings


@action("habit.pause", PAUSE)
def pause(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Pause habits between two days, or until they are resumed: nothing is due, no streak breaks or grows."""
    outcome = Outcome()
    for habit in _several(unit, params):
        first = params.get("from") or _first_day(unit, habit)
        last = params.get("to")
        reason = params.get("reason")
        _check_pause(unit, habit, first, last)
        _insert(unit, habit, first, last, reason)
        values = {"from": first, "to": last, "reason": reason}
        pause = {name: value for name, value in values.items() if value}
        outcome.entries.append(("updates", entry(unit, "habit", habit, pause=pause)))
    return outcome


def _check_pause(unit: UnitOfWork, habit: Row, first: str, last: str | None) -> None:
    """Raises ToolError INVALID_DATE, or FIELD_INVALID if it meets another pause."""
    earliest, latest = (unit.today + timedelta(away) for away in (-PAUSE_DAYS, PAUSE_DAYS))
    if not str(earliest) <= first <= (last or first) <= str(latest):
        message = f"a pause cannot be from {first} to {last or 'the day it is resumed'}"
        hint = f"from comes before to; both lie between {earliest} and {latest}. Today is {unit.today}."
        raise ToolError(message, hint, code="INVALID_DATE", field="from")
    for row in _pauses(unit, habit):
        if row["first_day"] <= (last or LAST) and first <= (row["last_day"] or LAST):
            until = row["last_day"] or "it is resumed"
            message = f"Habit {habit['name']} is already paused from {row['first_day']} until {until}"
            hint = "habit.resume ends that pause; then pause it again, or leave the habit out."
            raise ToolError(message, hint, code="FIELD_INVALID", field="from")


@action("habit.resume", {name: SEVERAL[name] for name in ("habit_id", "habit_ids", "all")})
def resume(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """End the pause of habits as of today, or give up the one to come."""
    outcome = Outcome()
    for habit in _several(unit, params):
        if ended := _end_pause(unit, habit):
            resumed = {"resumed": ended["first_day"]}
            outcome.entries.append(("updates", entry(unit, "habit", habit) | resumed))
    if not outcome.entries:
        raise ToolError("Habit is not paused", "There is nothing to resume.", code="NOT_COMPLETED")
    return outcome


def _several(unit: UnitOfWork, params: JsonObject) -> list[Row]:
    """The habits that an action names: one, several, or all that are in sight with exceptions."""
    if not params.get("all"):
        if params.get("except"):
            raise fields.invalid("except", "sent with all: true")
        return [unit.find("habit", habit_id) for habit_id in fields.one_or_several(params, "habit_id")]
    if "habit_id" in params or "habit_ids" in params:
        raise fields.invalid("all", "sent without habit_id and habit_ids")
    exceptions = {unit.find("habit", habit_id)["id"] for habit_id in params.get("except", ())}
    statement = (
        """SELECT id FROM habits WHERE user = ? AND deleted_at IS NULL AND archived_at IS NULL ORDER BY id"""
    )
    ids = [row["id"] for row in unit.db.execute(statement, (unit.user,)).fetchall()]
    return [unit.find("habit", habit_id) for habit_id in ids if habit_id not in exceptions]


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


def _first_day(unit: UnitOfWork, habit: Row) -> str:
    """Today; tomorrow if today has a mark, which a pause would leave out of the streak."""
    is_marked = unit.read("habit_marks", habit["id"], unit.day)
    return (unit.today + timedelta(days=1 if is_marked else 0)).isoformat()


def _pauses(unit: UnitOfWork, habit: Row) -> list[Row]:
    """The pauses of a habit, read so that another session's change of them is noticed."""
    statement = "SELECT first_day FROM habit_pauses WHERE habit_id = ? ORDER BY first_day"
    keys = unit.db.execute(statement, (habit["id"],)).fetchall()
    return [row for (first,) in keys if (row := unit.read("habit_pauses", habit["id"], first))]


def _insert(
    unit: UnitOfWork, habit: Row, first: str, last: str | None = None, reason: str | None = None
) -> None:
    values = {"habit_id": habit["id"], "first_day": first, "last_day": last, "reason": reason}
    unit.insert_stamped("habit_pauses", values)


def _end_pause(unit: UnitOfWork, habit: Row) -> Row | None:
    """End the first pause that is not over, the day before today; one that has not begun goes."""
    today = unit.day
    row = next((row for row in _pauses(unit, habit) if (row["last_day"] or LAST) >= today), None)
    if row and row["first_day"] >= today:
        unit.remove("habit_pauses", row)
    elif row:
        unit.change("habit_pauses", row, {"last_day": (unit.today - timedelta(days=1)).isoformat()})
    return row
