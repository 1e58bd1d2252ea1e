"""Habits with their histories: a sign per day for people, and the streak of the periods in a row in which it
was kept."""

# The rules, and what is stored of them.
# - A period is a due day, or an ISO week of a habit that is due some times per week. A mark on a day that is not due, or
#   in a pause, counts for nothing.
# - Kept: +1. Missed, begun only, or not marked: back to 0. Excused: as if it were not there; so is a week that is not
#   kept and was excused or paused on a day, or cut by a change of the schedule.
# - What can still be done, today or in this week, breaks nothing yet.
# - Each day is judged by the schedule of its time (Course). Days before the first mark do not matter.
# `habit_months` keeps the marks of a month as 31 signs, so that a year is read in twelve rows. `habit_streaks` keeps run
# and best of the days up to `until`, so that reading costs the same after ten years; what changes a day up to then sets
# it back (triggers of version 5), and it is counted again.

import json
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Any, NamedTuple

from tools.onepercent import days
from tools.onepercent.database import Database, Row
from tools.onepercent.days import WEEK
from tools.onepercent.habits.schedules import BEGINNING, FOREVER, LAST, Course, detail, schedule

LEGEND = {
    "+": "done", "-": "missed", "e": "excused", "~": "begun", ".": "nothing due", "?": "due, not marked", "p": "paused",
}  # fmt: skip

SIGNS_OF_A_MONTH = 31
SETTLED_AFTER = 14
"""Days after which a mark counts as history: most are made within a week, and clocks and zones may differ."""
LONG_UNSETTLED = 28  # days after which more is folded

# The marks of a habit from a month on, or from that up to which they are folded. What was folded when the
# clock was ahead does not count.
UNTIL = "iif(s.until < :week_ago, s.until, '')"
HABITS = f"""SELECT h.*, {UNTIL} AS until, s.run, s.best,
    (SELECT min(date) FROM habit_marks WHERE habit_id = h.id) AS first_mark,
    (SELECT json_group_array(json_array(first_day, frequency_type, detail)) FROM
        (SELECT * FROM habit_schedules WHERE habit_id = h.id ORDER BY first_day)) AS changes,
    (SELECT json_group_array(json_array(first_day, last_day)) FROM habit_pauses WHERE habit_id = h.id) AS pauses,
    group_concat(m.month) AS months, group_concat(m.marks, '') AS marks
    FROM habits h JOIN habit_streaks s ON s.habit_id = h.id LEFT JOIN habit_months m
    ON m.habit_id = h.id AND m.month >= min(substr({UNTIL}, 1, 7), :since) WHERE {{which}} GROUP BY h.id ORDER BY h.id"""
UNSETTLED = """SELECT habit_id FROM habit_streaks s WHERE until < ?
    AND EXISTS (SELECT 1 FROM habit_marks m WHERE m.habit_id = s.habit_id AND m.date <= ?)"""
KEPT = "h.user = :user AND h.deleted_at IS NULL"


class Streak(NamedTuple):
    """`run` periods kept in a row up to a day, and the best run ever."""

    run: int = 0
    best: int = 0


@dataclass(frozen=True, slots=True)
class History:
    """A habit with its marks from the Monday `first` to a Sunday; `folded`: the streak of the days before
    `unfolded`."""

    habit: Row
    course: Course
    started: int
    folded: Streak
    unfolded: int
    first: int
    marks: str

    def streak(self, today: int) -> Streak:
        """Run that stands today, and the best one ever."""
        kept = self._verdicts(today).split(b"-")
        runs = [self.folded.run + len(kept[0]), *map(len, kept[1:])]
        return Streak(runs[-1], max(self.folded.best, *runs))

    def _verdicts(self, today: int) -> bytes:
        """A `+` for each period kept and a `-` for each that was not, from the day `unfolded` on."""
        first = self.unfolded
        course = self.course
        signs = bytearray(self.marks[first - self.first : max(today + 1 - self.first, 0)], "ascii")
        last = first + len(signs) - 1
        if last == today and signs[-1:] in (b" ", b"~"):
            signs[-1:] = b"e"  # It can still be done today.
        for begin, end in course.pauses:
            span = range(len(signs))[max(begin - first, 0) : max(end - first + 1, 0)]
            signs[span.start : span.stop] = b"e" * len(span)
        judged = bytearray(b"e" * len(signs))
        for places in course.due(first, last):
            judged[places] = signs[places]
        for times, begin, end, is_whole in course.weeks(first, last) if signs else ():
            week = signs[begin - first : end - first + 1]
            if week.count(b"+") >= times:
                judged[begin - first] = ord("+")
            elif end < today and is_whole and b"e" not in week:
                judged[begin - first] = ord("-")
        return bytes(judged.translate(bytes.maketrans(b" ~", b"--"), b"e"))

    def signs(self, first: int, last: int, today: int) -> str:
        """A sign for each day between two days that the marks reach.

        Nothing is due before the habit began and after today. Of a week in which some times are missing, its
        last days without a mark are due; of the present week, today.
        """
        begin = self.first
        course = self.course
        signs = bytearray(self.marks, "ascii")
        for paused, until in course.pauses:
            span = slice(max(paused - begin, 0), max(until - begin + 1, 0))
            signs[span] = signs[span].replace(b" ", b"p")
        for places in course.due(begin, begin + len(signs) - 1):
            signs[places] = signs[places].replace(b" ", b"?")
        for times, monday, sunday, is_whole in course.weeks(begin, min(begin + len(signs) - 1, today)):
            missing = times - len(signs[monday - begin : sunday - begin + 1].translate(None, b" p"))
            candidates = [today] if sunday >= today else range(sunday, monday - 1, -1) if is_whole else ()
            for day in [day for day in candidates if signs[day - begin] == ord(" ")][: max(missing, 0)]:
                signs[day - begin] = ord("?")
        before = min(max(self.started - begin, 0), len(signs))
        after = min(max(today + 1 - begin, 0), len(signs))
        shown = self.marks[:before] + signs[before:after].decode() + self.marks[max(before, after) :]
        return shown[first - begin : last - begin + 1].replace(" ", ".")

    def mark(self, day: int) -> str:
        """The mark of a day; a blank if there is none."""
        return self.marks[day - self.first : day - self.first + 1] or " "

    def done_in_week(self, today: int) -> int:
        """Days of the present week on which it is done."""
        return self.marks[days.monday(today) - self.first : today - self.first + 1].count("+")


class HabitSigns(NamedTuple):
    """A habit with one sign of LEGEND for each day, and the streak that stands today."""

    id: int
    name: str
    signs: str
    streak: int = 0
    is_archived: bool = False


def histories(db: Database, user: str, today: date) -> list[History]:
    """The habits of a user, also archived ones, with their recent marks; what came before them is folded."""
    return _load(db, KEPT, {"user": user}, today.toordinal())


def signs_between(db: Database, user: str, first: date, last: date, today: date) -> list[HabitSigns]:
    """The habits of a user, each with a sign per day; archived ones if something was due on these days. Raises
    Unreadable."""
    begin = first.toordinal()
    end = last.toordinal()
    present = today.toordinal()
    since = days.monday(begin)  # of a week that `first` cuts, the marks before it count, too
    rows = []
    for history in _load(db, KEPT, {"user": user}, present, since):
        habit = history.habit
        is_archived = history.habit["archived_at"] is not None
        signs = history.signs(begin, end, present)
        if not is_archived or was_due(signs):
            streak = history.streak(present).run
            rows.append(HabitSigns(habit["id"], habit["name"], signs, streak, is_archived))
    return rows


def was_due(signs: str) -> bool:
    """True if something was due on one of the days."""
    return any(sign in signs for sign in "+-~?e")


def of_habit(db: Database, habit_id: int, today: date) -> History:
    """The history of one habit as it is inside the open transaction."""
    return _load(db, "h.id = :id", {"id": habit_id}, today.toordinal())[0]


def settle(db: Database, today: date) -> None:
    """Fold what is not folded, or was not for long, up to a Sunday, so that no ISO week is cut."""
    target = (today.toordinal() - SETTLED_AFTER) // WEEK * WEEK
    until, stale = (date.fromordinal(day).isoformat() for day in (target, target - LONG_UNSETTLED))
    for (habit_id,) in db.execute(UNSETTLED, (stale, until)).fetchall():
        # As seen from the day after: on `target` itself nothing can be done any more.
        streak = of_habit(db, habit_id, date.fromisoformat(until)).streak(target + 1)
        values = (until, *streak, habit_id)
        db.execute("UPDATE habit_streaks SET until = ?, run = ?, best = ? WHERE habit_id = ?", values)


def _load(
    db: Database, which: str, values: dict[str, Any], today: int, since: int = FOREVER
) -> list[History]:
    """Habits with the marks that are not folded, and those from the day `since` on."""
    span = {
        "since": f"{date.fromordinal(since):%Y-%m}",
        "week_ago": date.fromordinal(today - WEEK).isoformat(),
    }
    return [_history(row, today, since) for row in db.execute(HABITS.format(which=which), values | span)]


def _history(row: Row, today: int, since: int) -> History:
    started = min(days.ordinal(row["created_on"]), days.ordinal(row["first_mark"] or row["created_on"]))
    if row["until"]:
        folded = Streak(row["run"], row["best"])
        unfolded = days.ordinal(row["until"]) + 1
    else:
        folded = Streak()
        unfolded = days.monday(min(started, today - WEEK))
    first = min(days.monday(since), unfolded)
    marks = _joined(
        row["months"], row["marks"], first, min(days.monday(max(today, first)) + WEEK - 1, FOREVER)
    )
    course = _course(row["created_on"], row["frequency_type"], detail(row), row["changes"], row["pauses"])
    return History(row, course, started, folded, unfolded, first, marks)


@lru_cache(maxsize=256)
def _course(created_on: str, frequency_type: str, said: str | None, changes: str, pauses: str) -> Course:
    """The course of a habit. One that never changed its schedule has none but its own."""
    schedules = []
    for first, *how in json.loads(changes) or [(BEGINNING, frequency_type, said)]:
        begins = days.ordinal(max(first, created_on))
        schedules.append((days.ordinal(first), schedule(*how, begins)))
    spans = [(days.ordinal(first), days.ordinal(last or LAST)) for first, last in json.loads(pauses)]
    return Course(tuple(schedules), tuple(spans))


def _joined(months: str | None, marks: str | None, first: int, last: int) -> str:
    """The marks between two days, a blank where there is none, from rows of `habit_months` in their order.
    Raises Unreadable."""
    # A month may begin before the first day and end after the last one; the next month covers the end of a
    # short one.
    signs = bytearray(b" " * (last - first + 1 + 2 * SIGNS_OF_A_MONTH))
    for at, month in enumerate(months.split(",") if months else ()):
        start = _first_day(month) - first + SIGNS_OF_A_MONTH
        of_month = (marks or "")[SIGNS_OF_A_MONTH * at :][:SIGNS_OF_A_MONTH]
        signs[start : start + SIGNS_OF_A_MONTH] = of_month.encode("ascii", "replace")
    return signs[SIGNS_OF_A_MONTH : SIGNS_OF_A_MONTH + last - first + 1].decode()


@lru_cache(maxsize=512)
def _first_day(month: str) -> int:
    return days.ordinal(f"{month}-01")
