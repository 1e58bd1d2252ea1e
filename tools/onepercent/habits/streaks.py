"""Streaks: how many scheduled days in a row a habit was kept.

Marks are folded oldest first. A fold can go on from where an earlier one ended, so the part of a history that no
longer changes is folded once and kept (`habit_streaks`); a snapshot folds the last two or three weeks.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from tools.onepercent.days import WEEK, Schedule, monday, weekday

DONE, EXCUSED, MISSED = 2, 1, 0

SETTLED_AFTER = 14
"""Days after which a mark counts as history: a mark can be made 7 days back, and clocks and zones may differ."""

Mark = tuple[int, int]
"""The day's ordinal, and DONE, EXCUSED or MISSED."""


@dataclass(frozen=True, slots=True)
class Streak:
    """`run` periods kept in a row up to the period `last` (an ordinal, 0: none yet), and the best run ever."""

    run: int = 0
    best: int = 0
    last: int = 0


def fold(streak: Streak, marks: Iterable[Mark], schedule: Schedule) -> Streak:
    """`streak` continued by later marks, in order of their days."""
    run, best, last = streak.run, streak.best, streak.last
    for period, outcome in periods(marks, schedule):
        if last and period - last > 1 and schedule.due_between(last, period):
            run = 0
        if outcome == DONE:
            run += 1
            if run > best:
                best = run
        elif outcome == MISSED:
            run = 0
        last = period
    return Streak(run, best, last)


def periods(marks: Iterable[Mark], schedule: Schedule) -> Iterable[Mark]:
    """The scheduled periods that have marks, each with its best outcome: a week is kept by any one day of it."""
    if schedule.weekly:
        weeks = groupby(marks, lambda mark: monday(mark[0]))
        return ((week, max(outcome for _, outcome in group)) for week, group in weeks)
    if len(schedule.weekdays) == WEEK:
        return marks
    return [mark for mark in marks if weekday(mark[0]) in schedule.weekdays]


def current_and_best(streak: Streak, marks: list[Mark], schedule: Schedule, today: int) -> tuple[int, int]:
    """The streak that stands today, and the best one ever: `streak` continued by the marks.

    What is due today, or in this week, and not yet done does not break the current one.
    """
    present = schedule.period(today) or today
    before = fold(streak, [mark for mark in marks if mark[0] < present], schedule)
    rest = [mark for mark in marks if mark[0] >= present]
    best = fold(before, rest, schedule).best if rest else before.best
    run = before.run
    if run and before.last and present - before.last > 1 and schedule.due_between(before.last, present):
        run = 0
    outcome = dict(periods([mark for mark in rest if mark[0] <= today], schedule)).get(present)
    if outcome == DONE:
        return run + 1, best
    return 0 if outcome == MISSED and not schedule.weekly else run, best


def settled_until(today: int) -> int:
    """The last day that counts as history: a Sunday, so that no ISO week is cut."""
    return (today - SETTLED_AFTER) // WEEK * WEEK
