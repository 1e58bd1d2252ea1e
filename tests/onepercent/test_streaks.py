"""Streaks against a count that goes day by day through the whole history."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.onepercent import days
from tools.onepercent.days import Schedule
from tools.onepercent.habits import streaks
from tools.onepercent.habits.streaks import DONE, EXCUSED, MISSED, Streak

TODAY = date(2026, 1, 7)
"""A Wednesday of ISO week 2, so that histories cross New Year and week 53 of 2020, 2026 and others."""

histories = st.dictionaries(st.integers(0, 60), st.sampled_from([DONE, DONE, DONE, EXCUSED, MISSED]), max_size=60)
schedules = st.one_of(
    st.sets(st.integers(1, 7), min_size=1).map(lambda found: Schedule(frozenset(found))),
    st.just(Schedule(days.EVERY_DAY)),
    st.just(Schedule(days.EVERY_DAY, weekly=True)),
)


def counted(marks: dict[date, int], schedule: Schedule, today: date) -> tuple[int, int]:
    """(current, best), counted one scheduled day or ISO week after the other."""
    if not marks:
        return 0, 0
    run = best = 0
    day = min(marks)
    while day <= today:
        if schedule.weekly:
            week = [day - timedelta(days=day.isoweekday() - 1 - offset) for offset in range(7)]
            found = [marks[one] for one in week if one in marks and one <= today]
            present = today.isocalendar()[:2] == day.isocalendar()[:2]
            outcome = max(found, default=None)
            pending = present and outcome in (None, MISSED)
            step = timedelta(days=8 - day.isoweekday())
        elif day.isoweekday() in schedule.weekdays:
            outcome, step = marks.get(day), timedelta(days=1)
            pending = day == today and outcome is None
        else:
            day += timedelta(days=1)
            continue
        if outcome == DONE:
            run += 1
            best = max(best, run)
        elif outcome != EXCUSED and not pending:
            run = 0
        day += step
    return run, best


@given(histories, schedules, st.integers(0, 6))
def test_a_streak_is_what_counting_day_by_day_gives(ago: dict[int, int], schedule: Schedule, offset: int):
    today = TODAY + timedelta(days=offset)
    marks = {today - timedelta(days=number): outcome for number, outcome in ago.items()}
    ordered = sorted((day.toordinal(), outcome) for day, outcome in marks.items())
    assert streaks.current_and_best(Streak(), ordered, schedule, today.toordinal()) == counted(marks, schedule, today)


@given(histories, schedules, st.integers(0, 9))
def test_folding_a_history_in_parts_is_folding_it_whole(ago: dict[int, int], schedule: Schedule, weeks: int):
    ordered = sorted((TODAY.toordinal() - number, outcome) for number, outcome in ago.items())
    cut = streaks.settled_until(TODAY.toordinal() - 7 * weeks + 14)
    first = streaks.fold(Streak(), [mark for mark in ordered if mark[0] <= cut], schedule)
    assert streaks.fold(first, [mark for mark in ordered if mark[0] > cut], schedule) == streaks.fold(
        Streak(), ordered, schedule
    )


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ([DONE, DONE, None], (2, 2)),
        ([DONE, DONE, DONE], (3, 3)),
        ([DONE, MISSED, DONE], (1, 1)),
        ([DONE, EXCUSED, DONE], (2, 2)),
        ([DONE, None, DONE], (1, 1)),
        ([DONE, DONE, MISSED], (0, 2)),
        ([DONE, DONE, EXCUSED], (2, 2)),
    ],
)
def test_what_breaks_a_daily_streak(outcomes: list, expected: tuple[int, int]):
    today = TODAY.toordinal()
    marks = [(today - 2 + index, outcome) for index, outcome in enumerate(outcomes) if outcome is not None]
    daily = Schedule(days.EVERY_DAY)
    assert streaks.current_and_best(Streak(), marks, daily, today) == expected


def test_a_weekly_habit_counts_iso_weeks_over_new_year():
    marks = [
        (date.fromisoformat(day).toordinal(), DONE) for day in ("2026-12-23", "2026-12-31", "2027-01-03", "2027-01-04")
    ]
    weekly = days.schedule("weekly", None)
    assert streaks.current_and_best(Streak(), marks, weekly, date(2027, 1, 8).toordinal())[0] == 3
    assert streaks.current_and_best(Streak(), marks[:3], weekly, date(2027, 1, 8).toordinal())[0] == 2
    assert streaks.current_and_best(Streak(), marks[:3], weekly, date(2027, 1, 11).toordinal())[0] == 0


def test_a_day_not_scheduled_neither_breaks_nor_lengthens():
    weekdays = days.schedule("weekdays", None)
    friday, saturday, monday = (date(2026, 1, day).toordinal() for day in (2, 3, 5))
    assert (
        streaks.current_and_best(Streak(), [(friday, DONE), (saturday, MISSED), (monday, DONE)], weekdays, monday)[0]
        == 2
    )
    assert streaks.current_and_best(Streak(), [(friday, DONE), (saturday, DONE)], weekdays, saturday)[0] == 1
