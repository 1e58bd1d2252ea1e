"""What actions do, show and refuse, beside what test_model says of XP and streaks."""

import pytest

from tests.onepercent.person import (
    act,
    complete,
    do,
    first_goal,
    items,
    mark,
    new_entry,
    new_goal,
    new_habit,
    new_step,
    preview,
    propose,
    ref,
    refused,
)
from tests.support.client import json_lines


@pytest.fixture(autouse=True)
def life():
    """Goal, step and habit 1."""
    step = new_step("Читать", dt="2026-03-20")
    do(new_goal("  Выучить Python "), step, new_habit("Бег", xp_penalty=5))


def test_an_update_shows_what_changes_from_what_to_what_and_a_completion_its_goal():
    assert {
        "id": 1,
        "title": "Выучить Python",
        "category": "work",
        "status": "work",
        "score": 0,
    }.items() <= first_goal().items()
    change = act("goal.update", 1, title="Python", why_important="Работа", category="work")
    (entry,) = preview(change)["diff"]["updates"]
    assert (entry["entity"], entry["id"]) == ("goal", 1)
    assert entry["changes"] == {
        "title": {"from": "Выучить Python", "to": "Python"},
        "why_important": {"from": None, "to": "Работа"},
    }
    (entry,) = preview(complete(1))["diff"]["completions"]
    del entry["client_action_id"]
    assert entry == {
        "entity": "step",
        "id": 1,
        "title": "Читать",
        "goal_title": "Выучить Python",
        "xp_reward": 25,
    }


DURATIONS = json_lines("""
["half", {"minutes": 30, "word": "half"}]
[60, {"minutes": 60, "word": "one"}]
[45, {"minutes": 45}]
""")
# No part of these is dropped in silence.
NO_DURATIONS = ("1h30", "2 hours 15", "90 minutes 5", "half past", "-30")


def test_a_duration_is_a_word_or_minutes():
    for duration, length in DURATIONS:
        do(act("step.update", 1, time_duration=duration))
        assert first_goal()["steps"][0]["time_duration"] == length
    for duration in NO_DURATIONS:
        error = refused(act("step.update", 1, time_duration=duration))
        assert (error["code"], error["field"]) == ("FIELD_INVALID", "time_duration")


def test_null_clears_what_may_be_empty_and_an_update_that_changes_nothing_is_an_error():
    do(act("step.update", 1, dt=None))
    assert "dt" not in first_goal()["steps"][0]
    for params in ({"title": None}, {"priority": None}):
        assert refused(act("step.update", 1, **params))["code"] == "FIELD_REQUIRED"
    for params in ({}, {"title": "Читать"}, {"description": None}, {"description": "  "}):
        assert refused(act("step.update", 1, **params))["error"] == "Nothing to update"


def test_a_mark_is_of_today_or_the_thirty_days_before():
    for date, error in (("2026-03-19", "in the future"), ("2026-02-15", "more than 30 days back"), ("2026-02-30", "not a date")):  # fmt: skip
        answer = refused(mark(1, date=date))
        assert error in answer["error"] and answer["code"] == "INVALID_DATE"
    assert preview(mark(1, date="2026-02-16"))


def test_a_diary_entry_is_never_blank_and_a_day_has_several():
    text = "At least one of what_done, what_not_done, reflection, plans is required"
    assert refused(new_entry(what_done=" \n"))["error"] == text
    do(new_entry(what_done="Раз"), new_entry(plans="Два", date="2026-03-18"))
    assert refused(act("diary.update_entry", 1, what_done=""))["error"] == text
    do(act("diary.update_entry", 1, what_done=None, plans="Три"))
    assert [(each["id"], each["plans"], "what_done" in each) for each in items("diary")] == [
        (2, "Два", False), (1, "Три", False)
    ]  # fmt: skip


def test_null_means_the_goal_created_last_before_and_never_one_older_than_one_that_failed():
    goal = new_goal("Первая")
    step = new_step("ко второй")
    do(goal, new_step("к первой"), new_goal("Вторая"), step)
    assert [goal["steps"][0]["title"] for goal in items("goals")[1:]] == ["к первой", "ко второй"]
    errors = propose(goal, new_goal(""), step)["diff"]["errors"]
    assert [error["code"] for error in errors] == ["FIELD_REQUIRED", "GOAL_NOT_FOUND"]


def test_a_reference_stands_for_what_an_earlier_action_creates():
    goal = new_goal("Цель")
    entry = new_entry(plans="план")
    step = new_step("Шаг", ref(goal))
    change = act("diary.update_entry", ref(entry).upper().replace("$REF", "$ref"), plans="другой")
    previewed = preview(goal, step, complete(ref(step)), entry, change)
    assert previewed["xp_total"] == 25 + 10
    assert all("id" not in each for each in previewed["diff"]["completions"])
    wrong = propose(step, goal, complete(ref(goal)))
    codes = [error["code"] for error in wrong["diff"]["errors"]]
    assert codes == ["GOAL_NOT_FOUND", "STEP_NOT_FOUND"]
