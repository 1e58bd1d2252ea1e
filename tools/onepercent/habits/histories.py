"""Histories of habits: a sign per day, and the streak, which is the number of periods kept in a row."""

# The rules, and what is stored of them.
# - A period is a due day, or an ISO week of a habit that is due some times per week, or a turn of every n
#   days, which begins anew with each day on which it is done. A mark on another day that is not due, or in a
#   pause, does not change the streak; its XP does count (actions/marks.py).
# - A habit to avoid, or with a limit (`at_most`), is kept on each due day that is over and has no mark.
# - Kept: +1. Missed, begun only, or not marked: back to 0. Excused: as if it were not there; so is a week
#   that is not kept and was excused or paused on a day, or cut by a change of the schedule.
# - A day or week that can still be kept, today or this week, breaks nothing yet.
# - Each day is judged by the schedule of its time (Course). Days before the first mark do not matter.
# `habit_months` keeps the marks of a month as 31 signs, so that a year is read in twelve rows.
# `habit_streaks` keeps run and best of the days up to `until`, so that reading costs the same after ten
# years; what changes a day up to then sets it back (triggers of version 5), and it is counted again.

import json
from collections.abc import Iterator
from datetime import date, timedelta
from typing import NamedTuple

from .. import settings
from ..base import days
from ..base.days import WEEK
from ..database import Database, Row
from .due_days import HABIT_IS_IN_SIGHT
from .schedules import (
    BEGINNING,
    FOREVER,
    LAST_DATE,
    Course,
    Schedule,
    Schedules,
    detail_of,
    schedule_of,
)

# The signs of days, each with its meaning.
LEGEND = "+ done - missed e excused ~ begun . nothing due ? due, not marked p paused"

# The signs of days on which nothing is due.
NOTHING_DUE = ".p"

# Days after which a mark counts as history: most are made within a week, and clocks and zones may differ.
SETTLED_AFTER = 14

# Marks since a month, or since the fold. A fold dated after last week comes from a clock that ran ahead and
# is ignored.
UNTIL = "iif(s.until < :week_ago, s.until, '')"
HABITS = f"""SELECT h.*, h.frequency_type AS frequency, {UNTIL} AS folded_to,
    iif(s.until < :week_ago, s.run, 0) AS run, iif(s.until < :week_ago, s.best, 0) AS best,
    min(h.created_on, ifnull((SELECT min(date) FROM habit_marks WHERE habit_id = h.id), h.created_on))
        AS started,
    (SELECT json_group_array(json_array(first_day, max(first_day, h.created_on), frequency_type, detail)) FROM
        (SELECT * FROM habit_schedules WHERE habit_id = h.id ORDER BY first_day)) AS changes,
    (SELECT json_group_array(json_array(first_day, ifnull(last_day, '{LAST_DATE}')))
        FROM habit_pauses WHERE habit_id = h.id) AS pauses,
    iif(h.target_amount IS NULL, NULL,
        json_object(iif(h.at_most, 'at_most', 'amount'), h.target_amount, 'unit', h.target_unit)) AS target,
    iif(h.target_amount IS NULL, NULL,
        ifnull((SELECT amount FROM habit_marks WHERE habit_id = h.id AND date = :today), 0)) AS today_amount,
    (SELECT json_group_array(json_array(month, marks)) FROM habit_months WHERE habit_id = h.id
        AND month >= min(substr({UNTIL}, 1, 7), :since)) AS months
    FROM (SELECT *, {HABIT_IS_IN_SIGHT} AS is_in_sight FROM habits) h
    LEFT JOIN habit_streaks s ON s.habit_id = h.id
    WHERE {{condition}} ORDER BY ifnull(h.place, h.id), h.id"""
# For habits of every n days, what is due depends on the last time: all their marks are read. Days without a
# mark count only below a limit.
UNSETTLED = """s.until < :until AND h.frequency_type <> 'every_n_days'
    AND h.id NOT IN (SELECT habit_id FROM habit_schedules WHERE frequency_type = 'every_n_days')
    AND (h.at_most OR EXISTS (SELECT 1 FROM habit_marks WHERE habit_id = h.id AND date <= :until))"""


class Streak(NamedTuple):
    """`run` periods kept in a row up to a day, and the best run ever."""

    run: int
    best: int


class History(NamedTuple):
    """A habit with its marks as of `today`. Days are ordinals.

    - `started`: its first day; `marks`: the sign of each marked day;
    - `folded`: the streak of the days before `unfolded`, a Monday, whose marks may be missing.
    """

    habit: Row
    today: int
    course: Course
    started: int
    folded: Streak
    unfolded: int
    marks: dict[int, str]

    def streak(self, last: int = FOREVER) -> Streak:
        """Current and best run over the days up to `last`."""
        run, best = self.folded
        last = min(self.today, last)
        for begin, end, times, is_whole, _ in self.course.periods(self.unfolded, last):
            span = range(begin, min(end, last) + 1)
            marks = [
                self.marks.get(day) for day in span if is_whole or not self.course.pause_end(day)
            ]
            is_over = end < self.today or (begin == end and marks == ["-"])
            if marks.count("+") >= times:
                run += 1
                best = max(best, run)
            elif is_over and is_whole and "e" not in marks:
                run = 0
        return Streak(run, best)

    def signs(self, first: int, last: int) -> str:
        """A sign for each day between two days whose marks are loaded; nothing is due before the habit began
        or after today."""
        due = set(self._due(first, min(last, self.today), self.today))
        signs = ""
        for day in range(first, last + 1):
            sign = self.marks.get(day, ".")
            if sign == "." and self.started <= day <= self.today:
                if day in due:
                    sign = "?"
                elif self.course.pause_end(day):
                    sign = "p"
            signs += sign
        return signs

    def is_owed(self, day: int) -> bool:
        """True if a mark is missing on a day, if that day is today; a habit that may wait for another day of
        the week is not owed."""
        return day in self._due(day, day, day)

    def _due(self, first: int, last: int, today: int) -> Iterator[int]:
        """Days on which a mark is missing: none in a pause, nor in a week with a pause or a change of
        schedule. A habit with `at_most` needs no marks: without one a day counts as kept."""
        if self.habit["at_most"]:
            return
        for begin, end, times, is_whole, is_turn in self.course.periods(first, last):
            span = range(begin, end + 1)
            if is_turn and (is_whole or end >= today):
                # Once: on its first day, or today while it is not over.
                day = today if today in span else begin
                is_done = "+" in map(self.marks.get, span)
                if not (is_done or day in self.marks or self.course.pause_end(day)):
                    yield day
            elif is_whole and not is_turn:
                # On its last days without a mark, as many as times are missing.
                unmarked = [day for day in reversed(span) if day not in self.marks]
                missing = times - len(span) + len(unmarked)
                yield from unmarked[: max(missing, 0)]

    @property
    def schedule(self) -> Schedule:
        """Schedule that holds today."""
        return self.course.schedule_on(self.today)

    def unit_of_streak(self) -> str:
        """Unit of the streak: week, day, or time if the days lie apart."""
        if self.schedule.times:
            return "week"
        return "time" if self.schedule.frequency in ("every_n_days", "monthly") else "day"

    def done_in_week(self) -> int:
        """Number of days of this week on which it is done."""
        week = range(days.monday(self.today), self.today + 1)
        return [*map(self.marks.get, week)].count("+")


class HabitSigns(NamedTuple):
    """A habit with one sign of LEGEND for each day, its current and its best streak, in weeks if
    `is_weekly`."""

    id: int
    name: str
    signs: str
    streak: int
    best_streak: int
    is_weekly: bool
    is_archived: bool


def load_all(db: Database, today: date, since: date = date.max) -> list[History]:
    """Load all habits of the present user, also those that are over, with their marks from `since` on; what
    came before may be folded."""
    # Of a week that this day cuts, the marks before it count, too.
    monday = since - timedelta(since.weekday())
    return load_where(
        db, "h.user = :user AND h.deleted_at IS NULL", today, monday, user=settings.user()
    )


def signs_between(db: Database, first: date, last: date, today: date) -> Iterator[HabitSigns]:
    """Habits of the present user with a sign per day; archived ones if something was due on these days.
    Raises Unreadable."""
    for history in load_all(db, today, first):
        habit = history.habit
        is_archived = habit["archived_at"] is not None
        signs = history.signs(first.toordinal(), last.toordinal())
        if not is_archived or signs.strip(NOTHING_DUE):
            is_weekly = bool(history.schedule.times)
            streak = history.streak()
            yield HabitSigns(habit["id"], habit["name"], signs, *streak, is_weekly, is_archived)


def fold_streaks(db: Database, today: date) -> None:
    """Fold what is not folded yet up to a Sunday, so that no ISO week is cut."""
    sunday = (today.toordinal() - SETTLED_AFTER) // WEEK * WEEK
    until = f"{date.fromordinal(sunday)}"
    statement = "UPDATE habit_streaks SET until = ?, run = ?, best = ? WHERE habit_id = ?"
    # As seen from the day after: on the Sunday itself nothing can be done any more.
    for history in load_where(db, UNSETTLED, date.fromordinal(sunday + 1), until=until):
        db.execute(statement, (until, *history.streak(sunday), history.habit["id"]))


def is_misfolded(db: Database, today: date) -> bool:
    """True if a streak counted from its fold differs from one counted from all marks. Raises Unreadable."""
    folded = load_where(db, "1", today)
    unfolded = load_where(db, "1", today, week_ago="")
    return [each.streak() for each in folded] != [each.streak() for each in unfolded]


def load_where(
    db: Database,
    condition: str,
    today: date,
    since: date = date.max,
    **values: object,
) -> list[History]:
    """Load habits with their recent marks.

    - `condition`: in SQL, with its `values`; an empty `week_ago` is before any fold, so that all marks are
      loaded;
    - `since`: marks from this day on are loaded even if they are folded.
    """
    values = {
        "since": f"{since:%Y-%m}",
        "week_ago": f"{today - timedelta(WEEK)}",
        "today": f"{today}",
        **values,
    }
    statement = HABITS.format(condition=condition)
    return [_history(row, today, since) for row in db.execute(statement, values)]


def _history(row: Row, today: date, since: date) -> History:
    # Its first day, and the first day that is not in the folded streak.
    started = days.ordinal(row["started"])
    folded_to = row["folded_to"]
    unfolded = days.ordinal(folded_to) + 1 if folded_to else days.monday(started)

    # Its schedules and pauses; a habit that never changed its schedule has none but its own.
    changes = json.loads(row["changes"]) or [
        (BEGINNING, row["created_on"], row["frequency_type"], detail_of(row))
    ]
    schedules = [
        (days.ordinal(first), schedule_of(frequency, detail, days.ordinal(anchor)))
        for first, anchor, frequency, detail in changes
    ]
    pauses = [
        (days.ordinal(first), days.ordinal(last)) for first, last in json.loads(row["pauses"])
    ]

    # Its marks; a day within a limit counts as kept without one.
    marks: dict[int, str] = {}
    for month, signs in json.loads(row["months"]):
        for day, sign in enumerate(signs, days.ordinal(f"{month}-01")):
            if sign != " ":
                marks[day] = sign
    last_day = days.ordinal(row["until"] or LAST_DATE)
    course = Course(list(restarted(schedules, marks)), pauses, last_day)
    if row["at_most"]:
        first = max(started, min(unfolded, since.replace(day=1).toordinal()))
        unmarked = (day for day in range(first, today.toordinal()) if day not in marks)
        marks |= dict.fromkeys(filter(course.is_due, unmarked), "+")
    return History(
        row, today.toordinal(), course, started, Streak(row["run"], row["best"]), unfolded, marks
    )


def restarted(schedules: Schedules, marks: dict[int, str]) -> Iterator[tuple[int, Schedule]]:
    """Schedules in which every n days are counted anew from each day on which the habit was done."""
    for schedule, first, last in Course(schedules, ()).spans(1, FOREVER):
        yield first, schedule
        if schedule.is_turn:
            for day, sign in marks.items():
                if sign == "+" and first <= day <= last:
                    yield day, schedule._replace(anchor=day)
