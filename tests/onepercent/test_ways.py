"""What a model sends that there is not: taken if it can mean one thing, else the way to the same end is named."""

import pytest

from tests.onepercent.person import act, do, items, new_goal, new_habit, preview, refused


@pytest.mark.parametrize(
    ("action", "params", "way"),
    [
        ("habit.create", {"name": "x", "end_date": "2026-04-01"}, "Use until"),
        ("goal.create", {"title": "x", "deadline": "2026-04-01"}, "Use due"),
        ("habit.create", {"name": "x", "reminder_time": "22:00"}, "no reminders at a time of day"),
        (
            "step.create",
            {"title": "x", "inbox": True, "remind_me": True},
            "no reminders at a time of day",
        ),
        ("habit.create", {"name": "x", "limit": 2}, "at_most"),
        ("habit.create", {"name": "x", "interval": 3}, "every_n_days with n"),
        ("goal.create", {"title": "x", "progress": 40}, "goal.add"),
        ("step.shift", {"overdue": True, "days": 1, "except": [3]}, "name those that are meant"),
        ("step.complete", {"goal_id": 1}, "goal.complete closes a goal"),
        ("step.create", {"title": "x", "inbox": True, "tags": ["a"]}, "There are no tags"),
        ("step.create", {"title": "x", "inbox": True, "priorty": "low"}, "Use priority"),
        ("step.create", {"title": "x", "inbox": True, "time_durations": 30}, "Use time_duration"),
        (
            "person.update",
            {"time_zone": "Europe/London", "till": "2026-03-20"},
            "changed back then",
        ),
    ],
)
def test_an_unknown_field_gets_the_way_to_the_same_end(action, params, way):
    assert way in refused(act(action, **params))["hint"]


def test_words_that_can_mean_one_thing_are_taken_and_shown():
    previewed = preview(
        new_goal("a", category="finance"),
        act("step.create", goal_id=None, steps=["раз", {"title": "два", "priority": "important"}]),
        new_habit("b", frequency_type="custom", schedule_days=["mon", "пт"]),
    )
    assert "благосостояние" in previewed["message"] or "финансы" in previewed["message"]
    assert "«раз», «два» (важный)" in previewed["message"]
    assert "пн, пт" in previewed["message"]


def test_a_word_of_no_category_is_refused():
    assert refused(new_goal("a", category="garage"))["code"] == "INVALID_CATEGORY"


def test_a_habit_s_place_is_its_number_in_the_list():
    do(*[new_habit(name) for name in "abc"])
    do(act("habit.update", 3, order=1))
    assert [habit["name"] for habit in items("habits")] == ["c", "a", "b"]
