"""Habits of some times per week: what a week needs, and what is owed on a day of it."""

from datetime import date

import pytest

from tests.onepercent.person import (
    accepted,
    act,
    apply,
    balance,
    call,
    do,
    first_habit,
    mark,
    new_goal,
    new_habit,
    past,
    preview,
    schedule,
)
from tests.support.client import json_lines
from tools.onepercent.page import keys, person_pages

# A day, how often the habit was marked by then, and its status; 18 March is a Wednesday: five days are left.
OWED = json_lines("""
["2026-03-18", 0, "not_scheduled"]
["2026-03-20", 0, "pending"]
["2026-03-20", 1, "not_scheduled"]
["2026-03-21", 1, "pending"]
["2026-03-22", 2, "pending"]
["2026-03-22", 3, "completed"]
""")


@pytest.mark.parametrize("day, done, status", OWED)
def test_what_may_wait_is_not_owed_and_on_the_last_days_it_must_be_done(day, done, status, clock):
    clock.set("2026-03-16T12:00:00+00:00")
    do(new_habit("Бег", times=3))
    for number in range(done):
        clock.set(f"2026-03-{16 + number}T12:00:00+00:00")
        do(mark(1))
    clock.set(f"{day}T12:00:00+00:00")
    assert first_habit()["today_status"] == status
    assert past()["marks"][-1] == ("?" if status == "pending" else ".")


def test_a_mark_beyond_what_the_week_needs_earns_no_xp_and_says_so(clock):
    do(new_habit("Бег", times=2))
    clock.set("2026-03-22T12:00:00+00:00")
    previewed = preview(mark(1, dates=["2026-03-18..2026-03-22"]))
    assert previewed["xp_total"] == 20
    assert previewed["message"].count("за лишнее XP не прибавятся") == 1
    apply(previewed)
    # Taking one off that brought XP takes just that.
    do(act("habit.unmark", 1, date="2026-03-18"))
    assert balance() == 10


def test_a_changed_rate_and_the_streak_agree_in_that_week_and_the_next(clock):
    clock.set("2026-03-16T12:00:00+00:00")
    do(new_habit("Бег", times=3))
    clock.set("2026-03-18T12:00:00+00:00")
    do(mark(1, dates=["2026-03-16..2026-03-17"]))
    assert "раз в неделю: 3 → 2" in accepted(act("habit.update", 1, times=2))
    item = first_habit()
    assert (item["this_week"], item["current_streak"]) == ("2/2", 1)
    assert item["today_status"] == "completed"
    clock.set("2026-03-25T12:00:00+00:00")
    assert first_habit()["current_streak"] == 1
    do(mark(1, dates=["2026-03-23..2026-03-24"]))
    assert first_habit()["current_streak"] == 2
    do(act("habit.update", 1, times=5))
    assert first_habit()["current_streak"] == 1, "the last rate of a week judges all of it"


def test_a_goal_stands_on_its_due_day_in_schedule_today_and_overdue(clock):
    do(new_goal("Налоги", due="2026-03-20"), new_goal("Потом", due="2026-12-31"))
    row = {"title": "Налоги", "goal_id": 1, "date": "2026-03-20", "kind": "goal"}
    for day, name in ((18, "upcoming"), (20, "today"), (25, "overdue")):
        clock.set(f"2026-03-{day}T12:00:00+00:00")
        lists = schedule()
        assert lists.pop(name) == [row | {"is_complete": False}]
        assert not any(lists.values())
    do(act("goal.complete", 1))
    assert schedule()["overdue"] == []


def test_a_press_whose_reply_was_lost_is_not_added_again(clock):
    def press(**more):
        tick = {"action": "habit.mark_completed", "id": 1, "amount": 0.5}
        answer = call("tick_by_press", press_key=keys.of_day(), **tick, **more)
        return answer.get("code") or first_habit()["today_amount"]

    do(new_habit("Вода", target="2 л"))
    assert [press(seen=0), press(seen=0)] == [0.5, "ALREADY"]
    assert press(seen=0.5) == 1
    assert press() == 1.5, "a page of before sends nothing"
    assert press(seen=0, date="2026-03-17") == 1.5
    assert press(seen=0, date="2026-03-17") == "ALREADY"
    [item] = person_pages.days_data((date(2026, 3, 17),) * 2, True)["habits"]
    assert item["today_amount"] == 0.5, "the page of a day has the amount of that day"
