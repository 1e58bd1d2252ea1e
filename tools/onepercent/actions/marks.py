"""Actions on the days of habits: marked kept or missed, paused, put out of sight."""

# - A day of a habit has one mark: completed, missed, or partial: an amount below the target. The mark
#   remembers the XP that it brought: what replaces it moves the difference, taking it off moves all of it.
# - A pause has a last day, or none until it is resumed. Pauses of a habit never meet.
# - An archived habit is paused as long as it is out of sight, so that it returns with its streak.

from datetime import date, timedelta

from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.onepercent import days, fields, words
from tools.onepercent.actions import Outcome, action, action_on_one, check_day, entry, set_archived
from tools.onepercent.actions.habits import AMOUNT, history_of, warn_of_streak
from tools.onepercent.actions.unit_of_work import UnitOfWork
from tools.onepercent.database import Row
from tools.onepercent.habits.histories import History
from tools.onepercent.habits.schedules import LAST, Course
from tools.onepercent.rules import MARK_DAYS_BACK, USUAL_MARK_DAYS_BACK

DAY = fields.day(default="today")
MARK = {
    "habit_id": fields.KEY,
    "date": DAY,
    "habit_ids": fields.KEYS,
    "dates": fields.DATES,
}
SEVERAL = {
    "habit_id": fields.KEY,
    "habit_ids": fields.KEYS,
    "all": fields.FLAG,
}
PAUSE = {
    **SEVERAL,
    "except": fields.KEYS,
    "from": DAY,
    "to": fields.day(empty=True),
    "reason": fields.text(500),
}
IN_SIGHT = "SELECT id FROM habits WHERE user = ? AND deleted_at IS NULL AND archived_at IS NULL ORDER BY id"


@action("habit.mark_completed", {**MARK, "amount": AMOUNT})
def mark_completed(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Mark habits done on days; an amount is added to that of the day, which is done once it reaches the
    target."""
    return _mark_all(unit, params, "completed")


@action("habit.mark_missed", {**MARK, "excuse_reason": fields.text(500)})
def mark_missed(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Mark habits missed on days; an excuse saves XP and the streak."""
    return _mark_all(unit, params, "missed")


@action_on_one("habit.unmark", date=DAY)
def unmark(unit: UnitOfWork, habit: Row, params: JsonObject) -> Outcome:
    """Remove a mark and reverse the XP it brought or cost."""
    day = params.get("date") or unit.day  # any day: the clock may have been wrong
    mark = unit.read("habit_marks", habit["id"], day)
    if mark is None:
        raise ToolError(f"Habit is not marked on {day}", "There is nothing to undo.", code="NOT_COMPLETED")

    history = history_of(unit, habit)
    unit.remove("habit_marks", mark)
    earned = unit.earn(-mark["xp"], "habit.unmark", habit["id"], day)
    deletion = entry(unit, "habit", habit, date=day, status=mark["status"], xp_reward=earned)
    outcome = Outcome([("deletes", deletion)], xp=earned)
    warn_of_streak(unit, outcome, history)
    return outcome


def _mark_all(unit: UnitOfWork, params: JsonObject, status: str) -> Outcome:
    """Mark each of the habits on each of the days, except those that have this mark already."""
    outcome = Outcome()
    passed_over = ""
    for habit_id in fields.one_or_several(params, "habit_id"):
        habit = unit.find("habit", habit_id)
        if habit["archived_at"]:
            raise ToolError("Habit is archived", "habit.unarchive brings it back.", code="HABIT_ARCHIVED")

        history = history_of(unit, habit)
        completion = entry(unit, "habit", habit, xp_reward=0)
        marked = []
        for day in _days(unit, history.course, params):
            if _mark(unit, habit, day, params, status, completion):
                marked.append(day)
            else:
                passed_over = day
        if not marked:
            continue

        _show_days(habit, marked, params, completion)
        outcome.entries.append(("completions", completion))
        outcome.xp += completion["xp_reward"]
        _warn_of_days(unit, outcome, history, marked)
        warn_of_streak(unit, outcome, history)

    if passed_over and not outcome.entries:
        hint = "A day has one mark: the other status replaces it, habit.unmark removes it."
        raise ToolError(f"Habit already marked {status} on {passed_over}", hint, code="ALREADY_COMPLETED")
    if not outcome.entries:
        hint = "Name the days one by one in dates."
        raise ToolError("Nothing is due on these dates", hint, code="INVALID_DATE")
    return outcome


def _days(unit: UnitOfWork, course: Course, params: JsonObject) -> list[str]:
    """The days to mark: those named, and the due ones of each range."""
    chosen: set[int] = set()
    what = "habit.pause takes days to come, a mark can be made"
    for part in params.get("dates", [params.get("date")]):
        span = part if isinstance(part, list) else [part]
        checked = [check_day(unit, day, MARK_DAYS_BACK, what) for day in span]
        first = days.ordinal(checked[0])
        last = days.ordinal(checked[-1])
        is_named = first == last
        chosen.update(day for day in range(first, last + 1) if is_named or course.is_due(day))
    return [date.fromordinal(day).isoformat() for day in sorted(chosen)]


def _mark(
    unit: UnitOfWork, habit: Row, day: str, params: JsonObject, status: str, completion: JsonObject
) -> bool:
    """Mark a day and add it to the diff's entry; False if it has this mark already."""
    before = unit.read("habit_marks", habit["id"], day)
    if before and before["status"] == status and "amount" not in params:
        return False

    excuse = params.get("excuse_reason")
    amount = None
    worth = 0
    if status == "completed":
        amount = _amount(habit, before, params)
        # A habit without a target has no amounts.
        if amount is None or amount >= habit["target_amount"]:
            worth = habit["xp_reward"]
        else:
            status = "partial"
    elif not excuse:
        worth = -habit["xp_penalty"]

    brought = before["xp"] if before else 0
    earned = unit.earn(worth - brought, f"habit.mark_{status}", habit["id"], day)
    values = {"status": status, "excuse_reason": excuse, "amount": amount, "xp": brought + earned}
    if before is None:
        unit.insert_stamped("habit_marks", {"habit_id": habit["id"], "date": day, **values})
    else:
        unit.change("habit_marks", before, values)
        if before["status"] != status:
            completion.setdefault("replaces", {})[day] = before["status"]

    completion["status"] = status
    completion["xp_reward"] += earned
    if amount is not None:
        completion["amount"] = amount
    return True


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


def _show_days(habit: Row, marked: list[str], params: JsonObject, completion: JsonObject) -> None:
    """Add to a habit's entry of the diff what concerns all its days."""
    if len(marked) == 1:
        completion["date"] = marked[0]
        if replaced := completion.get("replaces"):
            completion["replaces"] = replaced[marked[0]]
    else:
        completion["dates"] = words.ranges(marked)
        completion["count"] = len(marked)
    if excuse := params.get("excuse_reason"):
        completion["excuse_reason"] = excuse
    if amount := completion.get("amount"):
        completion["target"] = {"amount": habit["target_amount"], "unit": habit["target_unit"]}
        if params.get("amount", amount) != amount:
            completion["added"] = params["amount"]


def _warn_of_days(unit: UnitOfWork, outcome: Outcome, history: History, marked: list[str]) -> None:
    """Warn of days that are not due, and of those that may be of another month than was meant."""
    title = history.habit["name"]
    for day in marked:
        if not history.course.is_due(days.ordinal(day)):
            outcome.warn("warn.not_scheduled", title=title, day=day, weekday=day)

    usual = unit.today - timedelta(USUAL_MARK_DAYS_BACK)
    if marked[0] < usual.isoformat():
        outcome.warn("warn.long_ago", title=title, day=marked[0])


@action("habit.pause", PAUSE)
def pause(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Pause habits between two days, or until they are resumed: nothing is due, no streak breaks or grows."""
    outcome = Outcome()
    last = params.get("to")
    reason = params.get("reason")
    for habit in _chosen(unit, params):
        unit.found["habit"] = habit  # the one that an error is about
        first = params.get("from") or _first_day(unit, habit)
        _check_pause(unit, habit, first, last)
        values = {"habit_id": habit["id"], "first_day": first, "last_day": last, "reason": reason}
        unit.insert_stamped("habit_pauses", values)
        span = {"from": first, "to": last}
        if reason:
            span["reason"] = reason
        update = entry(unit, "habit", habit, pause=span)
        outcome.entries.append(("updates", update))
    return outcome


def _check_pause(unit: UnitOfWork, habit: Row, first: str, last: str | None) -> None:
    """Raises ToolError INVALID_DATE, or FIELD_INVALID if it meets another pause."""
    end = last or LAST
    if end < first:
        message = f"a pause cannot be from {first} to {last}"
        hint = f"from comes before to. Today is {unit.day}."
        raise ToolError(message, hint, code="INVALID_DATE", field="from")

    for row in _pauses(unit, habit):
        if row["first_day"] <= end and first <= (row["last_day"] or LAST):
            until = row["last_day"] or "it is resumed"
            message = f"Habit {habit['name']} is already paused from {row['first_day']} until {until}"
            hint = "habit.resume ends that pause; then pause it again, or leave the habit out."
            raise ToolError(message, hint, code="FIELD_INVALID", field="from")


@action("habit.resume", SEVERAL)
def resume(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """End the pause of habits as of today, or give up the one to come."""
    outcome = Outcome()
    for habit in _chosen(unit, params):
        if ended := _end_pause(unit, habit):
            update = entry(unit, "habit", habit, resumed=ended)
            outcome.entries.append(("updates", update))
    if not outcome.entries:
        raise ToolError("Habit is not paused", "There is nothing to resume.", code="NOT_COMPLETED")
    return outcome


def _chosen(unit: UnitOfWork, params: JsonObject) -> list[Row]:
    """The habits that an action names: one, several, or all that are in sight; with exceptions."""
    if params.get("all"):
        habits = unit.find_all("habit", IN_SIGHT)
    else:
        habits = [unit.find("habit", habit_id) for habit_id in fields.one_or_several(params, "habit_id")]
    exceptions = [unit.find("habit", habit_id) for habit_id in params.get("except", ())]
    return [habit for habit in habits if habit not in exceptions]


@action_on_one("habit.archive")
def archive(unit: UnitOfWork, habit: Row, params: JsonObject) -> Outcome:
    """Put a habit out of sight, paused; nothing of it is lost."""
    outcome = set_archived(unit, "habit", habit, archived=True)
    first = _first_day(unit, habit)
    for row in _pauses(unit, habit):
        if row["first_day"] <= first <= (row["last_day"] or LAST):
            # It would end while the habit is out of sight.
            unit.change("habit_pauses", row, {"last_day": None})
            return outcome
    unit.insert_stamped("habit_pauses", {"habit_id": habit["id"], "first_day": first})
    return outcome


@action_on_one("habit.unarchive")
def unarchive(unit: UnitOfWork, habit: Row, params: JsonObject) -> Outcome:
    """Bring an archived habit back and resume it."""
    _end_pause(unit, habit)
    return set_archived(unit, "habit", habit, archived=False)


def _first_day(unit: UnitOfWork, habit: Row) -> str:
    """Today; tomorrow if today has a mark, which a pause would leave out of the streak."""
    is_marked = unit.read("habit_marks", habit["id"], unit.day) is not None
    return (unit.today + timedelta(days=is_marked)).isoformat()


def _pauses(unit: UnitOfWork, habit: Row) -> list[Row]:
    """The pauses of a habit, read so that another session's change of them is noticed."""
    statement = "SELECT first_day FROM habit_pauses WHERE habit_id = ? ORDER BY first_day"
    rows = []
    for (first,) in unit.db.execute(statement, (habit["id"],)).fetchall():
        if row := unit.read("habit_pauses", habit["id"], first):
            rows.append(row)
    return rows


def _end_pause(unit: UnitOfWork, habit: Row) -> str:
    """End the first pause that is not over, the day before today; one that has not begun goes. Returns its
    first day, "" if there is none."""
    for row in _pauses(unit, habit):
        first: str = row["first_day"]
        if (row["last_day"] or LAST) < unit.day:
            continue
        if first >= unit.day:
            unit.remove("habit_pauses", row)
        else:
            yesterday = unit.today - timedelta(days=1)
            unit.change("habit_pauses", row, {"last_day": yesterday.isoformat()})
        return first
    return ""
