"""What is folded of a habit's history is folded anew where it no longer holds: after another schedule, an undo, a mark."""

import random
from datetime import date, timedelta

import pytest

from tests.onepercent.model import whole
from tests.onepercent.person import Clock, act, apply, call, do, snapshot
from tests.onepercent.test_streaks import counted
from tools.onepercent import days
from tools.onepercent.database import store
from tools.onepercent.habits.streaks import DONE, MISSED

START = date(2026, 1, 5)
"""A Monday."""
SCHEDULES = [
    {"frequency_type": "daily"},
    {"frequency_type": "weekdays"},
    {"frequency_type": "weekends"},
    {"frequency_type": "weekly"},
    {"frequency_type": "custom", "schedule_days": [1, 3, 5]},
    {"frequency_type": "custom", "schedule_days": [2]},
]


def go_to(clock: Clock, day: date) -> None:
    clock.set(f"{day.isoformat()}T12:00:00+00:00")


def streak() -> tuple[int, int]:
    """(current, best) of the only habit, as the person sees it."""
    habit = whole(snapshot("habits")["habits"])[0]
    return habit["current_streak"], habit["best_streak"]


def recount(marks: dict[date, int], present: dict, today: date) -> tuple[int, int]:
    """The same, counted day by day under the present schedule."""
    numbers = ",".join(map(str, present.get("schedule_days", []))) or None
    return counted(marks, days.schedule(present["frequency_type"], numbers), today)


def folded_until() -> str:
    with store.reading() as db:
        return db.execute("SELECT until FROM habit_streaks").fetchone()[0]


def kept_for(clock: Clock, length: int) -> tuple[int, dict[date, int]]:
    """A daily habit, kept on each of so many days; its id and marks."""
    go_to(clock, START)
    habit = do(act("habit.create", name="Бег"))[0]
    marks = {}
    for number in range(length):
        go_to(clock, START + timedelta(days=number))
        do(act("habit.mark_completed", habit_id=habit))
        marks[START + timedelta(days=number)] = DONE
    return habit, marks


@pytest.mark.parametrize("schedule", SCHEDULES[1:], ids=str)
def test_another_schedule_counts_the_whole_history_anew_and_so_does_its_undo(schedule: dict, clock: Clock):
    habit, marks = kept_for(clock, 40)
    today = max(marks)
    assert folded_until() > START.isoformat()
    assert streak() == (40, 40)
    do(act("habit.update", habit_id=habit, **schedule))
    assert streak() == recount(marks, schedule, today) != (40, 40)
    answer = call("undo_last")
    assert apply(answer)["success"]
    assert streak() == (40, 40)


def test_other_words_fold_nothing_anew(clock: Clock):
    habit, _ = kept_for(clock, 40)
    with store.writing() as db:
        db.execute("UPDATE habit_streaks SET best = 77")  # so that folding anew would be seen
    do(act("habit.update", habit_id=habit, name="Бегать"))
    assert streak() == (40, 77)


@pytest.mark.parametrize("seed", range(6))
def test_a_habit_that_changes_its_days_again_and_again_shows_what_a_recount_shows(seed: int, clock: Clock):
    chance = random.Random(seed)
    go_to(clock, START)
    schedule = SCHEDULES[0]
    habit = do(act("habit.create", name="Бег"))[0]
    marks: dict[date, int] = {}
    today = START
    for _ in range(25):
        today += timedelta(days=chance.randint(1, 5))
        go_to(clock, today)
        for _ in range(chance.randint(0, 4)):
            day = max(START, today - timedelta(days=chance.randint(0, 7)))
            outcome = chance.choice([DONE, DONE, DONE, MISSED])
            if marks.get(day) != outcome:
                marks[day] = outcome
                do(act(f"habit.mark_{'completed' if outcome == DONE else 'missed'}", habit_id=habit, date=str(day)))
        if chance.random() < 0.3:
            schedule = chance.choice([other for other in SCHEDULES if other != schedule])
            do(act("habit.update", habit_id=habit, **schedule))
        assert streak() == recount(marks, schedule, today)
    assert folded_until() > START.isoformat()


@pytest.mark.parametrize("later", [14, 15, 20, 21, 40])
def test_a_mark_that_is_folded_already_can_still_be_undone(later: int, clock: Clock):
    sunday = date(2026, 3, 1)
    go_to(clock, sunday)
    habit = do(act("habit.create", name="Бег"))[0]
    do(act("habit.mark_completed", habit_id=habit))
    go_to(clock, sunday + timedelta(days=later))
    do(act("habit.mark_completed", habit_id=habit))
    assert folded_until() >= sunday.isoformat()
    for _ in range(2):
        assert apply(call("undo_last"))["success"]
    assert streak() == (0, 0)
