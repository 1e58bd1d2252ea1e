"""Streaks and signs against a plain model that goes day by day, for every frequency, with changes and pauses."""

import random
from dataclasses import replace
from datetime import date, timedelta

import pytest

from tests.onepercent.plain import PlainHabit
from tools.onepercent import days
from tools.onepercent.habits.histories import History, Streak
from tools.onepercent.habits.schedules import FREQUENCIES, Course, due, schedule

START = date(2026, 11, 2)
"""A Monday: a life of some weeks leads over New Year and ISO week 53."""
LENGTH = 140


def random_schedule(chance: random.Random) -> tuple[str, list[int]]:
    frequency = chance.choice(FREQUENCIES)
    numbers = {
        "weekly": [1],
        "custom": sorted(chance.sample(range(1, 8), chance.randint(1, 6))),
        "times_per_week": [chance.randint(1, 7)],
        "every_n_days": [chance.randint(2, 9)],
        "monthly": sorted(chance.sample([1, 2, 15, 28, 29, 30, 31], chance.randint(1, 3))),
    }
    return ("times_per_week" if frequency == "weekly" else frequency), numbers.get(frequency, [])


def random_life(chance: random.Random) -> tuple[PlainHabit, date]:
    """A habit that changes its schedule, is paused and marked at random, and a day on which it is looked at."""
    some = lambda: START + timedelta(chance.randrange(LENGTH))  # noqa: E731
    firsts = sorted({some() for _ in range(chance.randint(0, 3))})
    schedules = [(first, *random_schedule(chance)) for first in [date(1, 1, 1), *firsts]]
    habit = PlainHabit(some(), schedules)
    for first in sorted(chance.sample(range(LENGTH), chance.randint(0, 3))):
        begin = START + timedelta(first)
        if not any(last >= begin for _, last in habit.pauses):
            habit.pauses.append((begin, begin + timedelta(chance.randint(0, 20))))
    share, often = chance.random(), chance.choice(["+", "+++-", "+++++++e-~"])
    habit.marks = {START + timedelta(at): chance.choice(often) for at in range(LENGTH) if chance.random() < share}
    return habit, some()


def course_of(habit: PlainHabit) -> Course:
    return Course(
        tuple(
            (first.toordinal(), schedule(frequency, ",".join(map(str, numbers)), max(first, habit.created).toordinal()))
            for first, frequency, numbers in habit.schedules
        ),
        tuple((first.toordinal(), last.toordinal()) for first, last in habit.pauses),
    )


def written(habit: PlainHabit, first: date, last: date) -> str:
    """The marks between two days as `habit_months` keeps them."""
    return "".join(habit.marks.get(first + timedelta(at), " ") for at in range((last - first).days + 1))


def check(seed: int) -> None:
    chance = random.Random(seed)
    habit, today = random_life(chance)
    course, present, begin = course_of(habit), today.toordinal(), START.toordinal()
    habit.marks = {day: mark for day, mark in habit.marks.items() if day <= today}
    marks = written(habit, START, date.fromordinal(days.monday(present) + 6))
    started = min([habit.created, *habit.marks]).toordinal()
    history = History({}, course, started, Streak(), begin, begin, marks)
    streak = history.streak(present)
    assert streak == habit.streak(today), seed
    # Folded in two parts, at any Sunday before, it is the same.
    cut = chance.randrange(0, present - begin + 1) // 7 * 7
    folded = replace(history, marks=marks[:cut]).streak(begin + cut)
    assert replace(history, folded=folded, unfolded=begin + cut).streak(present) == streak, seed
    end = begin + len(marks) - 1
    assert history.signs(begin, end, present) == habit.signs(START, date.fromordinal(end), today), seed


def test_random_histories_are_what_the_plain_model_says():
    for seed in range(400):
        check(seed)


@pytest.mark.slow
def test_ten_thousand_random_histories_are_what_the_plain_model_says():
    for seed in range(400, 10_400):
        check(seed)
