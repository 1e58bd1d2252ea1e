"""Streaks: how many scheduled days in a row a habit was kept.

Marks are folded oldest first. A fold can go on from where an earlier one ended, so the part of a history that no
longer changes is folded once and kept (`habit_streaks`); a snapshot folds the last two or three weeks.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from tools.onepercent.days import WEEK, Schedule

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
        if last and schedule.due_between(last, period):
            run = 0
        if outcome == DONE:
            run += 1
            best = max(best, run)
        elif outcome == MISSED:
            run = 0
        last = period
    return Streak(run, best, last)


def periods(marks: Iterable[Mark], schedule: Schedule) -> Iterable[Mark]:
    """The scheduled periods that have marks, each with its best outcome: a week is kept by any one day of it."""
    due = ((period, outcome) for day, outcome in marks if (period := schedule.period(day)) is not None)
    return ((period, max(outcome for _, outcome in group)) for period, group in groupby(due, lambda mark: mark[0]))


def current(streak: Streak, marks: list[Mark], schedule: Schedule, today: int) -> int:
    """The streak that stands today: `streak` continued by the marks up to today.

    What is due today, or in this week, and not yet done does not break it.
    """
    now = schedule.period(today) or today
    before = [mark for mark in marks if (schedule.period(mark[0]) or 0) < now]
    present = dict(periods([mark for mark in marks if mark[0] <= today], schedule)).get(now)
    streak = fold(streak, before, schedule)
    run = 0 if streak.last and schedule.due_between(streak.last, now) else streak.run
    if present == DONE:
        return run + 1
    return 0 if present == MISSED and not schedule.weekly else run


def settled_until(today: int) -> int:
    """The last day that counts as history: a Sunday, so that no ISO week is cut."""
    return (today - SETTLED_AFTER) // WEEK * WEEK
