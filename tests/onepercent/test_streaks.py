"""Streaks and signs against a plain model that goes day by day, for every frequency, with changes and pauses.

The folded part of a history is folded anew where it no longer holds: after an undo, a late mark, a pause.
"""

import random
from datetime import date, timedelta

import pytest

from tests.onepercent.examples import SCHEDULES
from tests.onepercent.model import PlainHabit, Refused, RulesModel
from tests.onepercent.person import act, do, items, mark, miss, new_habit, past, pause, undo
from tools.onepercent.base import days
from tools.onepercent.database import store
from tools.onepercent.habits.histories import History, Streak, restarted
from tools.onepercent.habits.schedules import FREQUENCIES, Course, schedule_of

# A Monday: a life of some weeks leads over New Year and ISO week 53.
START = date(2026, 11, 2)
MONDAY = date(2026, 1, 5)
LENGTH = 140
CHANGES = [(mark, {})] * 3 + [(miss, {}), (miss, {"excuse_reason": "болел"})]


def random_schedule(chance):
    frequency = chance.choice(FREQUENCIES)
    numbers = {
        "weekly": [1],
        "custom": sorted(chance.sample(range(1, 8), chance.randint(1, 6))),
        "times_per_week": [chance.randint(1, 7)],
        "every_n_days": [chance.randint(2, 9)],
        "monthly": sorted(chance.sample([1, 2, 15, 28, 29, 30, 31], chance.randint(1, 3))),
    }
    return ("times_per_week" if frequency == "weekly" else frequency), numbers.get(frequency, [])


def random_life(chance):
    """A habit that changes its schedule, is paused and marked at random, and a day on which it is looked
    at."""
    some = lambda: START + timedelta(chance.randrange(LENGTH))  # noqa: E731
    firsts = sorted({some() for _ in range(chance.randint(0, 3))})
    schedules = [(first, *random_schedule(chance)) for first in [date.min, *firsts]]
    habit = PlainHabit(some(), schedules)
    for first in sorted(chance.sample(range(LENGTH), chance.randint(0, 3))):
        begin = START + timedelta(first)
        if not any(last >= begin for _, last in habit.pauses):
            habit.pauses.append((begin, begin + timedelta(chance.randint(0, 20))))
    share = chance.random()
    often = chance.choice(["+", "+++-", "+++++++e-~"])
    habit.marks = {
        START + timedelta(at): chance.choice(often)
        for at in range(LENGTH)
        if chance.random() < share
    }
    return habit, some()


def course_of(habit, marks):
    schedules = []
    for first, frequency, numbers in habit.schedules:
        anchor = max(first, habit.created).toordinal()
        schedules.append(
            (first.toordinal(), schedule_of(frequency, ",".join(map(str, numbers)), anchor))
        )
    pauses = [(first.toordinal(), last.toordinal()) for first, last in habit.pauses]
    return Course([*restarted(schedules, marks)], pauses)


def check(seed):
    chance = random.Random(seed)
    habit, today = random_life(chance)
    present = today.toordinal()
    begin = START.toordinal()
    habit.marks = {day: mark for day, mark in habit.marks.items() if day <= today}
    # A change holds from its day on.
    habit.schedules = [each for each in habit.schedules if each[0] <= today]
    marks = {day.toordinal(): sign for day, sign in habit.marks.items()}
    course = course_of(habit, marks)
    started = min([habit.created, *habit.marks]).toordinal()
    history = History({"at_most": None}, present, course, started, Streak(0, 0), begin, marks)
    streak = history.streak()
    assert streak == habit.streak(today), seed
    # Folded in two parts, at any Sunday before, it is the same.
    monday = begin + chance.randrange(0, present - begin + 1) // 7 * 7
    # These are never folded.
    if all(frequency != "every_n_days" for _, frequency, _ in habit.schedules):
        folded = history._replace(today=monday).streak(monday - 1)
        assert history._replace(folded=folded, unfolded=monday).streak() == streak, seed
    end = days.monday(present) + 6
    assert history.signs(begin, end) == habit.signs(START, date.fromordinal(end), today), seed


@pytest.mark.parametrize(
    "seeds", [range(200), pytest.param(range(200, 10_200), marks=pytest.mark.slow)]
)
def test_random_histories_are_what_the_plain_model_says(seeds):
    for seed in seeds:
        check(seed)


def is_taken(life, action, today):
    try:
        life.do(action["action"], action["params"], today, None)
    except Refused:
        return False
    return True


# Some of these lives have a habit of every n days.
@pytest.mark.parametrize("seed", [0, 5, 6, 12])
def test_a_life_of_changes_pauses_late_marks_and_undos_shows_what_a_recount_shows(seed, clock):
    chance = random.Random(seed)
    life = RulesModel()
    today = MONDAY
    clock.set(f"{today}T12:00:00+00:00")
    [habit] = do(new_habit("Бег"))
    life.do("habit.create", {"name": "Бег"}, today, habit)

    for _ in range(25):
        today += timedelta(chance.randint(1, 5))
        clock.set(f"{today}T12:00:00+00:00")
        before = life.copy()

        # Marks of the last thirty days, perhaps another schedule and a pause.
        drawn = []
        for ago in chance.sample(range(30), chance.randint(0, 5)):
            change, more = chance.choice(CHANGES)
            drawn.append(change(habit, date=str(today - timedelta(ago)), **more))
        if chance.random() < 0.3:
            drawn.append(act("habit.update", habit, **chance.choice(SCHEDULES)))
        if chance.random() < 0.2:
            first = today + timedelta(chance.randint(-40, 10))
            last = first + timedelta(chance.randint(0, 12))
            drawn.append(pause(habit, str(first), str(last)))

        # What the model refuses is not sent; some of the rest is undone.
        actions = [action for action in drawn if is_taken(life, action, today)]
        if actions:
            do(*actions)
            if chance.random() < 0.2:
                undo()
                life = before

        # The streak and the signs of thirty days.
        plain = life.plain(habit)
        [shown] = items("habits")
        assert (shown["current_streak"], shown["best_streak"]) == plain.streak(today), (seed, today)
        begin = today - timedelta(29)
        shown = past(date_from=str(begin), date_to=str(today))
        assert shown["marks"] == plain.signs(begin, today, today), (seed, today)

    with store.reading() as db:
        is_folded = db.execute("SELECT until FROM habit_streaks").fetchone()[0] > MONDAY.isoformat()
        assert is_folded != any(frequency == "every_n_days" for _, frequency, _ in plain.schedules)
