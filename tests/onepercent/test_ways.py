"""What a model sends that there is not: taken if it can mean one thing, else the way to the same end is named."""

import pytest

from tests.onepercent.person import act, do, errand, items, new_goal, new_habit, refused, said


@pytest.mark.parametrize(
    "action, way",
    [
        (new_habit("x", end_date="2026-04-01"), "Use until"),
        (new_goal("x", deadline="2026-04-01"), "Use due"),
        (new_habit("x", reminder_time="22:00"), "no reminders at a time of day"),
        (errand("x", remind_me=True), "no reminders at a time of day"),
        (new_habit("x", limit=2), "at_most"),
        (new_habit("x", interval=3), "every_n_days with n"),
        (new_goal("x", progress=40), "goal.add"),
        (act("step.shift", overdue=True, days=1, **{"except": [3]}), "name those that are meant"),
        (act("step.complete", goal_id=1), "goal.complete closes a goal"),
        (errand("x", tags=["a"]), "There are no tags"),
        (errand("x", priorty="low"), "Use priority"),
        (errand("x", time_durations=30), "Use time_duration"),
        (act("person.update", time_zone="Europe/London", till="2026-03-20"), "changed back then"),
    ],
)
def test_an_unknown_field_gets_the_way_to_the_same_end(action, way):
    assert way in refused(action)["hint"]


def test_words_that_can_mean_one_thing_are_taken_and_shown():
    message = said(
        new_goal("a", category="finance"),
        act("step.create", goal_id=None, steps=["раз", {"title": "два", "priority": "important"}]),
        new_habit("b", frequency_type="custom", schedule_days=["mon", "пт"]),
    )
    assert "благосостояние" in message or "финансы" in message
    assert "«раз», «два» (важный)" in message
    assert "пн, пт" in message


def test_a_word_of_no_category_is_refused():
    assert refused(new_goal("a", category="garage"))["code"] == "INVALID_CATEGORY"


def test_a_habit_s_place_is_its_number_in_the_list():
    do(*[new_habit(name) for name in "abc"])
    do(act("habit.update", 3, order=1))
    assert [habit["name"] for habit in items("habits")] == ["c", "a", "b"]
