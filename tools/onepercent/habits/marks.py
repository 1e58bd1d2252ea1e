"""The marks of habits, a sign a day."""

from datetime import date
from typing import NamedTuple

from tools.onepercent import days
from tools.onepercent.database.types import Database, Row
from tools.onepercent.days import Schedule

LEGEND = {"+": "done", "-": "missed", "e": "excused", ".": "nothing due", "?": "due, not marked"}

MARKED = """SELECT h.*, group_concat(m.month) AS months, group_concat(m.marks, '') AS marks
    FROM habits h LEFT JOIN habit_months m ON m.habit_id = h.id AND m.month BETWEEN ? AND ?
    WHERE h.user = ? AND h.deleted_at IS NULL GROUP BY h.id ORDER BY h.id"""

SIGNS_OF_A_MONTH = 31
UNMARKED = " " * SIGNS_OF_A_MONTH


class HabitSigns(NamedTuple):
    """A habit with one sign of LEGEND for each day."""

    id: int
    name: str
    signs: str


def signs(db: Database, user: str, first: date, last: date, today: date) -> list[HabitSigns]:
    """The undeleted habits of a user, each with its signs from `first` to `last`.

    Nothing is due on days that are not scheduled, before the habit was made and after today. A weekly habit is due on
    the last day of its week, or today, if no day of the week has a mark.
    """
    start = days.monday(first.toordinal())
    length = last.toordinal() - start + 1
    months = _months(date.fromordinal(start), last)
    habits = []
    for row in db.execute(MARKED, (months[0][0], months[-1][0], user)):
        marks = _by_month(row["months"], row["marks"])
        signs = "".join(marks.get(month, UNMARKED)[:number_of_days] for month, number_of_days in months)
        signs = signs[date.fromordinal(start).day - 1 :][:length]
        habits.append(HabitSigns(row["id"], row["name"], _filled(row, signs, start, today)[first.weekday() :]))
    return habits


def _months(first: date, last: date) -> list[tuple[str, int]]:
    """The months from one day to another, each with its number of days."""
    months = []
    month = first.replace(day=1)
    while month <= last:
        next_month = date.fromordinal(month.toordinal() + SIGNS_OF_A_MONTH).replace(day=1)
        months.append((f"{month:%Y-%m}", (next_month - month).days))
        month = next_month
    return months


def _by_month(months: str | None, marks: str | None) -> dict[str, str]:
    if not months or not marks:
        return {}
    names = months.split(",")
    if len(marks) != SIGNS_OF_A_MONTH * len(names):
        raise days.Unreadable("the marks of a month")
    return {name: marks[SIGNS_OF_A_MONTH * place :][:SIGNS_OF_A_MONTH] for place, name in enumerate(names)}


def _filled(habit: Row, signs: str, start: int, today: date) -> str:
    """`signs`, which begin on the Monday `start`, with `?` or `.` in place of blanks."""
    schedule = days.schedule(habit["frequency_type"], habit["schedule_days"])
    created = min(max(days.parsed(habit["created_on"]).toordinal() - start, 0), len(signs))
    until = min(max(today.toordinal() + 1 - start, created), len(signs))
    if schedule.weekly:
        due = _weekly(signs, today.toordinal() - start)[created:until]
    else:
        due = _by_weekdays(signs, schedule)[created:until]
    return (signs[:created] + due + signs[until:]).replace(" ", ".")


def _by_weekdays(signs: str, schedule: Schedule) -> str:
    """The signs with `?` on the unmarked days of a habit that is due on certain days of the week."""
    filled = bytearray(signs, "ascii")
    for weekday in schedule.weekdays:
        filled[weekday - 1 :: days.WEEK] = filled[weekday - 1 :: days.WEEK].replace(b" ", b"?")
    return filled.decode("ascii")


def _weekly(signs: str, today: int) -> str:
    """The signs with `?` at the end of each week without a mark, or today, of a habit that is due once a week."""
    filled = list(signs)
    for monday in range(0, len(signs), days.WEEK):
        due = min(monday + days.WEEK - 1, today)
        if monday <= due < len(signs) and signs[monday : monday + days.WEEK].isspace():
            filled[due] = "?"
    return "".join(filled)
