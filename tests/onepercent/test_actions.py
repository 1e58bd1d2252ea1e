"""What each action does, shows and refuses."""

import pytest

from tests.onepercent.person import act, call, do, items, preview, ref, refused, snapshot
from tools.onepercent import actions

ACTIONS = {
    *("goal.create", "goal.update", "goal.complete", "goal.delete"),
    *("step.create", "step.update", "step.complete", "step.delete"),
    *("habit.create", "habit.update", "habit.delete", "habit.mark_completed", "habit.mark_missed"),
    *("diary.create_entry", "diary.update_entry"),
    *("goal.reopen", "step.reopen", "habit.unmark", "diary.delete_entry", "ssp.rate"),
}


@pytest.fixture
def goal() -> int:
    return do(act("goal.create", title="Выучить Python"))[0]


@pytest.fixture
def step(goal: int) -> int:
    return do(act("step.create", goal_id=goal, title="Читать", dt="2026-03-20"))[0]


@pytest.fixture
def habit() -> int:
    return do(act("habit.create", name="Бег", xp_reward=10, xp_penalty=5))[0]


def test_there_are_the_actions_of_the_contract():
    assert {name for name, one in actions.ACTIONS.items() if one.published} == ACTIONS


def test_a_goal_is_created_with_its_defaults():
    goal_id = do(act("goal.create", title="  Выучить Python "))[0]
    assert items("goals") == [
        {
            "id": goal_id,
            "title": "Выучить Python",
            "category": "work",
            "status": "work",
            "score": 0,
            "steps_count": 0,
            "steps_completed": 0,
            "steps": [],
        }
    ]


def test_an_update_shows_what_changes_from_what_to_what(goal: int):
    diff = preview(act("goal.update", goal_id=goal, title="Python", why_important="Работа", category="work"))["diff"]
    assert diff["updates"][0]["changes"] == {
        "title": {"from": "Выучить Python", "to": "Python"},
        "why_important": {"from": None, "to": "Работа"},
    }
    assert (diff["updates"][0]["entity"], diff["updates"][0]["id"]) == ("goal", goal)


def test_completing_a_goal_gives_150_and_leaves_its_steps(goal: int, step: int):
    previewed = preview(act("goal.complete", goal_id=goal))
    assert previewed["xp_total"] == 150
    assert previewed["diff"]["completions"][0]["xp_reward"] == 150
    do(act("goal.complete", goal_id=goal))
    whole = snapshot("goals", goal_id=goal)["goals"]["items"][0]
    assert whole["status"] == "complete" and whole["steps"][0]["is_complete"] is False
    assert refused(act("goal.complete", goal_id=goal))["error"] == "Goal already completed"


def test_deleting_a_goal_takes_its_steps_along_and_no_xp_back(goal: int, step: int):
    do(act("goal.complete", goal_id=goal))
    assert preview(act("goal.delete", goal_id=goal))["diff"]["deletes"][0]["steps_deleted"] == 1
    do(act("goal.delete", goal_id=goal))
    assert refused(act("step.complete", step_id=step))["code"] == "STEP_NOT_FOUND"
    assert refused(act("goal.update", goal_id=goal, title="x"))["code"] == "GOAL_NOT_FOUND"
    assert snapshot("xp")["xp"]["balance"] == 150


def test_steps_carry_the_title_of_their_goal_in_the_diff(step: int):
    previewed = preview(act("step.complete", step_id=step))
    assert previewed["diff"]["completions"][0] | {"client_action_id": ""} == {
        "client_action_id": "",
        "entity": "step",
        "id": step,
        "title": "Читать",
        "goal_title": "Выучить Python",
        "xp_reward": 25,
    }


def test_a_step_completed_twice_is_an_error(step: int):
    do(act("step.complete", step_id=step))
    error = refused(act("step.complete", step_id=step))
    assert (error["error"], error["code"]) == ("Step already completed", "ALREADY_COMPLETED")


@pytest.mark.parametrize(
    ("sent", "shown"),
    [("half", {"minutes": 30, "word": "half"}), (60, {"minutes": 60, "word": "one"}), (45, {"minutes": 45})],
)
def test_a_duration_is_a_word_or_minutes(goal: int, sent: object, shown: dict):
    do(act("step.create", goal_id=goal, title="Читать", time_duration=sent))
    assert items("goals")[0]["steps"][0]["time_duration"] == shown


def test_null_clears_what_may_be_empty_and_nothing_else(step: int):
    do(act("step.update", step_id=step, dt=None))
    assert "dt" not in items("goals")[0]["steps"][0]
    assert refused(act("step.update", step_id=step, title=None))["code"] == "FIELD_REQUIRED"
    assert refused(act("step.update", step_id=step, priority=None))["code"] == "FIELD_REQUIRED"


def test_an_update_that_changes_nothing_is_an_error(step: int):
    for params in ({}, {"title": "Читать"}, {"description": None}, {"description": "  "}):
        error = refused(act("step.update", step_id=step, **params))
        assert (error["error"], error["code"]) == ("Nothing to update", "NOTHING_TO_UPDATE")


def test_a_penalty_is_the_reward_unless_it_is_given():
    do(act("habit.create", name="Бег", xp_reward=30), act("habit.create", name="Сон", xp_penalty=0))
    found = items("habits")
    assert [(one["xp_reward"], one["xp_penalty"]) for one in found] == [(30, 30), (10, 0)]


def test_a_miss_takes_the_penalty_an_excused_one_nothing(habit: int):
    do(act("habit.mark_completed", habit_id=habit, date="2026-03-15"))
    assert preview(act("habit.mark_missed", habit_id=habit))["xp_total"] == -5
    assert preview(act("habit.mark_missed", habit_id=habit, excuse_reason="болезнь"))["xp_total"] == 0


def test_a_penalty_takes_what_is_there_and_no_more(habit: int):
    previewed = preview(act("habit.mark_missed", habit_id=habit))
    assert previewed["xp_total"] == 0
    do(act("habit.mark_missed", habit_id=habit))
    assert snapshot("xp")["xp"]["balance"] == 0


def test_a_second_mark_replaces_the_first_and_corrects_the_xp(habit: int):
    do(act("habit.mark_completed", habit_id=habit))
    do(act("diary.create_entry", what_done="Много"))
    assert refused(act("habit.mark_completed", habit_id=habit))["code"] == "ALREADY_COMPLETED"
    assert preview(act("habit.mark_missed", habit_id=habit))["xp_total"] == -15
    do(act("habit.mark_missed", habit_id=habit))
    assert snapshot("xp")["xp"]["balance"] == 5
    do(act("habit.mark_completed", habit_id=habit))
    assert snapshot("xp")["xp"]["balance"] == 20


@pytest.mark.parametrize(
    ("date", "error"),
    [
        ("2026-03-19", "in the future"),
        ("2026-03-10", "more than 7 days back"),
        ("2026-02-30", "not a date"),
        ("20260318", "not a date"),
    ],
)
def test_a_mark_is_of_today_or_the_seven_days_before(habit: int, date: str, error: str):
    found = refused(act("habit.mark_completed", habit_id=habit, date=date))
    assert error in found["error"] and found["code"] == "INVALID_DATE"
    assert preview(act("habit.mark_completed", habit_id=habit, date="2026-03-11"))


def test_custom_needs_days_and_only_custom_has_them(habit: int):
    assert refused(act("habit.create", name="x", frequency_type="custom"))["code"] == "SCHEDULE_REQUIRED"
    assert (
        refused(act("habit.create", name="x", frequency_type="custom", schedule_days=[]))["code"] == "SCHEDULE_REQUIRED"
    )
    assert refused(act("habit.create", name="x", frequency_type="daily", schedule_days=[1]))["code"] == "FIELD_INVALID"
    assert refused(act("habit.update", habit_id=habit, frequency_type="custom"))["code"] == "SCHEDULE_REQUIRED"
    do(act("habit.update", habit_id=habit, frequency_type="custom", schedule_days=[5, 1]))
    assert items("habits")[0]["schedule_days"] == [1, 5]
    changes = preview(act("habit.update", habit_id=habit, frequency_type="daily"))["diff"]["updates"][0]["changes"]
    assert changes["schedule_days"] == {"from": [1, 5], "to": None}


def test_a_deleted_habit_is_gone_and_its_xp_stays(habit: int):
    do(act("habit.mark_completed", habit_id=habit))
    do(act("habit.delete", habit_id=habit))
    assert items("habits") == []
    assert refused(act("habit.mark_missed", habit_id=habit))["code"] == "HABIT_NOT_FOUND"
    assert snapshot("xp")["xp"]["balance"] == 10


def test_every_diary_entry_is_new_and_gives_10():
    first, second = do(
        act("diary.create_entry", what_done="Раз"), act("diary.create_entry", plans="Два", date="2026-03-18")
    )
    assert first != second
    found = snapshot("diary", "xp")
    assert [one["id"] for one in found["diary"]["items"]] == [second, first]
    assert found["xp"]["balance"] == 20


def test_a_diary_entry_is_never_blank():
    text = "At least one of what_done, what_not_done, reflection, plans is required"
    assert refused(act("diary.create_entry", what_done=" \n"))["error"] == text
    entry = do(act("diary.create_entry", what_done="Раз"))[0]
    assert refused(act("diary.update_entry", diary_id=entry, what_done=""))["error"] == text
    do(act("diary.update_entry", diary_id=entry, what_done=None, plans="Два"))
    assert "what_done" not in items("diary")[0]


def test_null_means_the_goal_created_last_before():
    first, second = act("goal.create", title="Первая"), act("goal.create", title="Вторая")
    do(
        first,
        act("step.create", goal_id=None, title="к первой"),
        second,
        act("step.create", goal_id=None, title="ко второй"),
    )
    assert [goal["steps"][0]["title"] for goal in items("goals")] == ["к первой", "ко второй"]


def test_null_never_means_a_goal_older_than_one_that_failed():
    answer = call(
        "preview_actions",
        actions=[
            act("goal.create", title="Первая"),
            act("goal.create", title=""),
            act("step.create", goal_id=None, title="ко второй"),
        ],
    )
    assert [error["code"] for error in answer["diff"]["errors"]] == ["FIELD_REQUIRED", "GOAL_NOT_FOUND"]


def test_a_reference_stands_for_what_an_earlier_action_creates():
    goal, habit = act("goal.create", title="Цель"), act("habit.create", name="Бег")
    step, entry = act("step.create", goal_id=ref(goal), title="Шаг"), act("diary.create_entry", plans="план")
    previewed = preview(
        goal,
        step,
        act("step.complete", step_id=ref(step)),
        habit,
        act("habit.mark_completed", habit_id=ref(habit)),
        entry,
        act("diary.update_entry", diary_id=ref(entry).upper().replace("$REF", "$ref"), plans="другой"),
        act("goal.complete", goal_id=ref(goal)),
    )
    assert previewed["xp_total"] == 25 + 10 + 10 + 150
    assert all("id" not in one for one in previewed["diff"]["completions"])


def test_a_reference_to_another_kind_or_a_later_action_is_an_error():
    goal = act("goal.create", title="Цель")
    answer = call(
        "preview_actions",
        actions=[act("step.create", goal_id=ref(goal), title="Шаг"), goal, act("step.complete", step_id=ref(goal))],
    )
    assert [error["code"] for error in answer["diff"]["errors"]] == ["GOAL_NOT_FOUND", "STEP_NOT_FOUND"]


def test_two_actions_with_one_id_are_an_error():
    first = act("goal.create", title="Первая")
    answer = call("preview_actions", actions=[first, first | {"params": {"title": "Вторая"}}])
    assert answer["success"] and "used twice" in answer["diff"]["errors"][0]["error"]
    assert len(answer["diff"]["creates"]) == 1


@pytest.mark.parametrize("include", [[{}], [["goals"]], [7], ["goal"], {"a": 1}, "x"])
def test_a_section_that_is_none_is_told(include):
    answer = call("get_user_snapshot", include=include)
    assert answer["code"] == "FIELD_INVALID"
