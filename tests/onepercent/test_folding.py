"""The folded part of a habit's history is folded anew where it no longer holds: after an undo, a late mark, a pause."""

import random
from datetime import date, timedelta

import pytest

from tests.onepercent.model import whole
from tests.onepercent.person import Clock, act, apply, call, do, snapshot
from tests.onepercent.plain import PlainHabit
from tests.onepercent.test_streaks import random_schedule
from tools.onepercent.database import store
from tools.onepercent.habits.schedules import DETAILS

START = date(2026, 1, 5)
"""A Monday."""
BEGINNING = date(1, 1, 1)


def go_to(clock: Clock, day: date) -> None:
    clock.set(f"{day.isoformat()}T12:00:00+00:00")


def streak() -> tuple[int, int]:
    """(current, best) of the only habit, as the person sees it."""
    habit = whole(snapshot("habits")["habits"])[0]
    return habit["current_streak"], habit["best_streak"]


def folded_until() -> str:
    with store.reading() as db:
        return db.execute("SELECT until FROM habit_streaks").fetchone()[0]


def schedule_params(frequency: str, numbers: list[int]) -> dict:
    name = DETAILS.get(frequency)
    return {"frequency_type": frequency} | (
        {name: numbers if name in ("schedule_days", "month_days") else numbers[0]} if name else {}
    )


@pytest.mark.parametrize("seed", range(8))
def test_a_life_of_changes_pauses_late_marks_and_undos_shows_what_a_recount_shows(seed: int, clock: Clock):
    chance = random.Random(seed)
    go_to(clock, START)
    habit = do(act("habit.create", name="Бег"))[0]
    plain, before, today = PlainHabit(START, [(BEGINNING, "daily", [])]), None, START
    for _ in range(25):
        today += timedelta(days=chance.randint(1, 5))
        go_to(clock, today)
        before = (list(plain.schedules), list(plain.pauses), dict(plain.marks))
        actions = []
        for ago in chance.sample(range(30), chance.randint(0, 5)):
            day, sign = today - timedelta(days=ago), chance.choice("+++-e")
            if plain.marks.get(day, " ") not in ("+" if sign == "+" else "-e"):
                plain.marks[day] = sign
                verb = "completed" if sign == "+" else "missed"
                more = {"excuse_reason": "болел"} if sign == "e" else {}
                actions.append(act(f"habit.mark_{verb}", habit_id=habit, date=str(day), **more))
        if chance.random() < 0.3:
            new = random_schedule(chance)
            if new != plain.schedules[-1][1:]:
                plain.schedules.append((today, *new))
                actions.append(act("habit.update", habit_id=habit, **schedule_params(*new)))
        first = today + timedelta(days=chance.randint(-40, 10))
        last = first + timedelta(days=chance.randint(0, 12))
        if chance.random() < 0.2 and not any(begin <= last and first <= end for begin, end in plain.pauses):
            plain.pauses.append((first, last))
            actions.append(act("habit.pause", habit_id=habit, **{"from": str(first), "to": str(last)}))
        if actions:
            do(*actions)
            if chance.random() < 0.2:
                assert apply(call("undo_last"))["success"]
                plain.schedules, plain.pauses, plain.marks = before
        assert streak() == plain.streak(today), (seed, today)
        begin = today - timedelta(days=29)
        history = snapshot("history", date_from=str(begin), date_to=str(today))["history"]
        assert history["habits"][0]["marks"] == plain.signs(begin, today, today), (seed, today)
    assert folded_until() > START.isoformat()
