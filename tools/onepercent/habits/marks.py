"""The marks of habits, a sign a day."""

from datetime import date
from typing import Any, NamedTuple

from tools.onepercent import days
from tools.onepercent.actions.work import Row

LEGEND = {"+": "done", "-": "missed", "e": "excused", ".": "nothing due", "?": "due, not marked"}

SIGN = "CASE WHEN m.status = 'completed' THEN '+' WHEN m.excuse_reason IS NOT NULL THEN 'e' ELSE '-' END"


class HabitSigns(NamedTuple):
    """A habit with one sign of LEGEND for each day."""

    id: int
    name: str
    signs: str


def signs(db: Any, user: str, first: date, last: date, today: date) -> list[HabitSigns]:
    """The undeleted habits of a user, each with its signs from `first` to `last`.

    Nothing is due on days that are not scheduled, before the habit was made and after today. A weekly habit is due on
    the last day of its week, or today, if no day of the week has a mark.
    """
    marks: dict[int, dict[int, str]] = {}
    monday = date.fromordinal(days.monday(first.toordinal()))
    for habit_id, day, sign in db.execute(
        f"""SELECT m.habit_id, m.date, {SIGN} FROM habit_marks m JOIN habits h ON h.id = m.habit_id
        WHERE h.user = ? AND h.deleted_at IS NULL AND m.date BETWEEN ? AND ?""",
        (user, monday.isoformat(), last.isoformat()),
    ):
        marks.setdefault(habit_id, {})[date.fromisoformat(day).toordinal()] = sign
    rows = db.execute("SELECT * FROM habits WHERE user = ? AND deleted_at IS NULL ORDER BY id", (user,)).fetchall()
    span = range(first.toordinal(), last.toordinal() + 1)
    return [HabitSigns(row["id"], row["name"], _signs(row, marks.get(row["id"], {}), span, today)) for row in rows]


def _signs(habit: Row, marks: dict[int, str], span: range, today: date) -> str:
    schedule = days.schedule(habit["frequency_type"], habit["schedule_days"])
    created, now = date.fromisoformat(habit["created_on"]).toordinal(), today.toordinal()

    def unmarked(day: int) -> str:
        if not created <= day <= now:
            return "."
        if not schedule.weekly:
            return "?" if schedule.period(day) else "."
        week = range(days.monday(day), days.monday(day) + days.WEEK)
        return "?" if day == min(week[-1], now) and marks.keys().isdisjoint(week) else "."

    return "".join(marks.get(day) or unmarked(day) for day in span)
