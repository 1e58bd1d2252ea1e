"""Preview, apply, cancel: applied once, as shown, or not at all."""

import json
import uuid

import pytest

import tests.onepercent.person as person
from tests.onepercent.person import Clock, act, apply, call, do, items, preview, ref, snapshot
from tools.onepercent.database import store


def audit() -> list[dict]:
    with store.reading() as db:
        return [dict(row) for row in db.execute("SELECT * FROM audit ORDER BY id")]


def test_a_preview_changes_nothing():
    preview(act("goal.create", title="Цель"), act("diary.create_entry", plans="план"))
    data = snapshot("goals", "diary", "xp")
    assert list(data) == ["xp"] and data["xp"]["balance"] == 0


def test_the_diff_has_its_five_sections_and_the_preview_its_time():
    answer = preview(act("goal.create", title="Цель"))
    assert list(answer["diff"]) == ["creates", "updates", "deletes", "completions", "errors"]
    assert answer["expires_in_seconds"] == 300
    assert uuid.UUID(answer["preview_id"])


def test_apply_answers_in_order_with_ids_summary_xp_and_a_line_an_action():
    goal = act("goal.create", title="Выучить Python")
    step = act("step.create", goal_id=ref(goal), title="Читать")
    answer = apply(preview(goal, step, act("step.complete", step_id=ref(step))))
    assert [result.get("created_id") for result in answer["results"]] == [1, 1, None]
    assert answer["summary"] == {"total": 3, "successful": 3, "failed": 0}
    assert answer["xp"] == {"delta": 25, "balance": 25}
    assert answer["message"].splitlines()[0] == "✓ Цель 'Выучить Python' создана"
    assert answer["message"].splitlines()[2].startswith("✓ Шаг отмечен выполненным")


def test_one_bad_action_is_reported_and_the_others_are_applied():
    bad = {"action": "goal.fly", "client_action_id": str(uuid.uuid4()), "params": {}}
    answer = call("preview_actions", actions=[bad, act("goal.create", title="Цель")])
    assert answer["success"]
    assert answer["diff"]["errors"][0] | {"hint": ""} == {
        "index": 0,
        "client_action_id": bad["client_action_id"],
        "action": "goal.fly",
        "error": "Unknown action: goal.fly",
        "code": "UNKNOWN_ACTION",
        "hint": "",
    }
    assert apply(answer)["summary"]["total"] == 1


def test_where_all_actions_are_bad_there_is_no_preview():
    answer = call("preview_actions", actions=[act("goal.create"), act("goal.update", goal_id=7, title="x")])
    assert (answer["success"], answer["error"], answer["code"]) == (
        False,
        "All actions failed validation",
        "ALL_FAILED",
    )
    assert [error["error"] for error in answer["errors"]] == ["title is required", "Goal not found"]
    assert "preview_id" not in answer


def test_an_action_that_fails_halfway_leaves_nothing_behind():
    goal = do(act("goal.create", title="Цель"))[0]
    good = act("goal.update", goal_id=goal, title="Другая")
    answer = call("preview_actions", actions=[act("goal.update", goal_id=goal, title="x" * 501), good])
    assert answer["diff"]["updates"][0]["changes"]["title"]["from"] == "Цель"


def test_the_same_key_gets_the_same_answer_byte_for_byte():
    previewed, key = preview(act("goal.create", title="Цель")), str(uuid.uuid4())
    first, second, third = (apply(previewed, one) for one in (key, key, key.upper()))
    assert json.dumps(first) == json.dumps(second) == json.dumps(third)
    assert len(items("goals")) == 1


def test_another_key_finds_the_preview_applied():
    previewed = preview(act("goal.create", title="Цель"))
    apply(previewed)
    answer = apply(previewed)
    assert (answer["error"], answer["code"]) == ("Preview already applied", "PREVIEW_APPLIED")


def test_a_key_serves_one_preview_only():
    key = str(uuid.uuid4())
    apply(preview(act("goal.create", title="Первая")), key)
    other = preview(act("goal.create", title="Вторая"))
    assert apply(other, key)["code"] == "IDEMPOTENCY_CONFLICT"
    assert apply(other)["success"]


def test_a_cancelled_preview_can_be_neither_applied_nor_cancelled():
    previewed = preview(act("goal.create", title="Цель"))
    assert call("cancel_preview", preview_id=previewed["preview_id"])["success"]
    for answer in (apply(previewed), call("cancel_preview", preview_id=previewed["preview_id"])):
        assert (answer["error"], answer["code"]) == ("Preview already cancelled", "PREVIEW_CANCELLED")


def test_an_applied_preview_cannot_be_cancelled():
    previewed = preview(act("goal.create", title="Цель"))
    apply(previewed)
    assert call("cancel_preview", preview_id=previewed["preview_id"])["code"] == "PREVIEW_APPLIED"


def test_a_preview_expires(clock: Clock):
    previewed = preview(act("goal.create", title="Цель"))
    clock.set("2026-03-18T12:04:59+00:00")
    late = preview(act("goal.create", title="Другая"))
    clock.set("2026-03-18T12:05:00+00:00")
    answer = apply(previewed)
    assert (answer["error"], answer["code"]) == ("Preview expired", "PREVIEW_EXPIRED")
    assert apply(late)["success"]


def test_an_expired_preview_is_made_again_and_not_applied(clock: Clock):
    previewed = preview(act("goal.create", title="Цель"), act("habit.create", name="Бег"))
    do(act("goal.create", title="цель"))
    clock.set("2026-03-18T12:06:00+00:00")
    answer = apply(previewed)
    assert (answer["code"], len(items("goals"))) == ("PREVIEW_EXPIRED", 1)
    assert answer["preview_id"] != previewed["preview_id"] and answer["expires_in_seconds"] == 300
    assert [one["entity"] for one in answer["diff"]["creates"]] == ["goal", "habit"]
    assert "уже есть" in answer["warnings"][0] and "Создать цель" in answer["message"]
    assert apply(answer)["success"]
    assert len(items("goals")) == 2


def test_an_expired_preview_that_no_longer_fits_is_only_expired(clock: Clock):
    goal = do(act("goal.create", title="Цель"))[0]
    previewed = preview(act("goal.complete", goal_id=goal))
    do(act("goal.delete", goal_id=goal))
    clock.set("2026-03-18T12:06:00+00:00")
    answer = apply(previewed)
    assert answer["code"] == "PREVIEW_EXPIRED" and "preview_id" not in answer


def test_cancelling_an_expired_preview_is_a_success(clock: Clock):
    previewed = preview(act("goal.create", title="Цель"))
    clock.set("2026-03-18T12:06:00+00:00")
    assert call("cancel_preview", preview_id=previewed["preview_id"])["success"]
    assert apply(previewed)["code"] == "PREVIEW_CANCELLED"


def test_what_was_refused_in_the_preview_is_named_again_by_apply():
    bad = act("habit.mark_completed", habit_id=9)
    answer = apply(call("preview_actions", actions=[bad, act("goal.create", title="Цель")]))
    assert answer["dropped"] == [{"action": "habit.mark_completed", "error": "Habit not found"}]
    assert "habit.mark_completed: Habit not found" in answer["message"]
    assert "dropped" not in apply(preview(act("goal.create", title="Ещё")))


def test_an_unknown_preview_is_not_found():
    answer = apply({"preview_id": str(uuid.uuid4())})
    assert (answer["error"], answer["code"]) == ("Preview not found or already used", "PREVIEW_NOT_FOUND")


def test_apply_refuses_a_preview_made_stale_by_another_session():
    goal = do(act("goal.create", title="Цель"))[0]
    stale = preview(act("diary.create_entry", plans="план"), act("goal.complete", goal_id=goal))
    do(act("goal.update", goal_id=goal, title="Другая"))
    answer = apply(stale)
    assert answer["code"] == "PREVIEW_STALE"
    assert "goal 'Другая' changed: title" in answer["error"]
    assert answer["failed_action"]["action"] == "goal.complete" and answer["failed_action"]["index"] == 1
    assert [result["rollback"] for result in answer["results"]] == [True]
    assert snapshot("xp")["xp"]["balance"] == 0 and items("diary") == []


def test_a_stale_preview_stays_pending_and_holds_again_once_the_state_is_back():
    goal = do(act("goal.create", title="Цель"))[0]
    previewed = preview(act("goal.complete", goal_id=goal))
    do(act("goal.update", goal_id=goal, title="Другая"))
    assert apply(previewed)["code"] == "PREVIEW_STALE"
    apply(call("undo_last"))
    assert apply(previewed)["success"]


@pytest.mark.parametrize(
    "between",
    [
        lambda goal, step, habit: act("step.complete", step_id=step),
        lambda goal, step, habit: act("step.delete", step_id=step),
        lambda goal, step, habit: act("goal.delete", goal_id=goal),
        lambda goal, step, habit: act("step.create", goal_id=goal, title="Ещё"),
        lambda goal, step, habit: act("habit.mark_missed", habit_id=habit),
        lambda goal, step, habit: act("habit.update", habit_id=habit, xp_reward=99),
    ],
)
def test_a_change_to_anything_a_preview_touches_makes_it_stale(between):
    goal, step, habit = do(
        act("goal.create", title="Цель"), act("step.create", goal_id=None, title="Шаг"), act("habit.create", name="Бег")
    )
    previewed = preview(act("goal.delete", goal_id=goal), act("habit.mark_completed", habit_id=habit))
    do(between(goal, step, habit))
    assert apply(previewed)["code"] == "PREVIEW_STALE"


def test_a_change_elsewhere_does_not():
    first, second = do(act("goal.create", title="Первая"), act("goal.create", title="Вторая"))
    previewed = preview(act("step.create", goal_id=first, title="Шаг"))
    do(act("goal.complete", goal_id=second), act("step.create", goal_id=first, title="Ещё шаг"))
    assert apply(previewed)["success"]


def test_a_penalty_that_would_now_take_more_is_stale():
    habit = do(act("habit.create", name="Бег", xp_penalty=50))[0]
    previewed = preview(act("habit.mark_missed", habit_id=habit))
    assert previewed["xp_total"] == 0
    do(act("diary.create_entry", plans="план"))
    assert apply(previewed)["code"] == "PREVIEW_STALE"


def test_another_users_rows_are_as_if_they_were_not_there(file):
    goal, step, habit, entry = do(
        act("goal.create", title="Цель"),
        act("step.create", goal_id=None, title="Шаг"),
        act("habit.create", name="Бег"),
        act("diary.create_entry", plans="план"),
    )
    previewed = preview(act("goal.complete", goal_id=goal))
    attempts = [
        ("goal.complete", {"goal_id": goal}),
        ("step.create", {"goal_id": goal, "title": "x"}),
        ("step.delete", {"step_id": step}),
        ("habit.mark_completed", {"habit_id": habit}),
        ("diary.update_entry", {"diary_id": entry, "plans": "x"}),
    ]
    person.use(file, ONEPERCENT_USER="other")
    theirs = [person.refused(act(name, **params)) for name, params in attempts]
    absent = [
        person.refused(act(name, **params | {key: 999 for key in params if key.endswith("_id")}))
        for name, params in attempts
    ]
    assert [error | {"client_action_id": ""} for error in theirs] == [
        error | {"client_action_id": ""} for error in absent
    ]
    assert apply(previewed) == apply({"preview_id": str(uuid.uuid4())})
    assert call("get_user_snapshot", goal_id=goal) == call("get_user_snapshot", goal_id=999)
    assert call("undo_last")["code"] == "NOTHING_TO_UNDO"
    data = snapshot("goals", "habits", "diary", "schedule", "xp", "ssp")
    assert list(data) == ["xp"] and data["xp"]["lifetime"] == 0


def test_every_call_of_a_writing_tool_leaves_an_audit_row():
    goal = do(act("goal.create", title="Цель"))[0]
    previewed = preview(act("goal.complete", goal_id=goal))
    do(act("goal.update", goal_id=goal, title="Другая"))
    apply(previewed)
    call("cancel_preview", preview_id=previewed["preview_id"])
    call("apply_actions", preview_id="x", key=1)
    call("preview_actions", actions=[])
    call("undo_last")
    call("get_user_snapshot")
    rows = audit()
    assert [(row["tool"].partition("_")[0], row["error"]) for row in rows] == [
        *[("preview", None), ("apply", None)],
        *[("preview", None), ("preview", None), ("apply", None), ("apply", "PREVIEW_STALE"), ("cancel", None)],
        *[("apply", "FIELD_UNKNOWN"), ("preview", "NO_ACTIONS"), ("undo", None)],
    ]
    applied = next(row for row in rows if row["tool"] == "apply_actions")
    assert json.loads(applied["request"])["user_confirmation"] == "да"
    assert json.loads(applied["answer"])["success"] and applied["ms"] > 0 and applied["user"] == "local"
    assert len({row["request_id"] for row in rows}) == len(rows)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({}, "FIELD_REQUIRED"),
        ({"preview_id": "x", "idempotency_key": "x", "user_confirmation": "да"}, "INVALID_UUID"),
        ({"preview_id": 5, "idempotency_key": "x", "user_confirmation": "да"}, "INVALID_UUID"),
        ({"preview_id": None, "idempotency_key": "x", "user_confirmation": "да"}, "FIELD_REQUIRED"),
        (
            {"preview_id": str(uuid.uuid4()), "idempotency_key": str(uuid.uuid4()), "user_confirmation": "д" * 501},
            "FIELD_TOO_LONG",
        ),
        (
            {"preview_id": str(uuid.uuid4()), "idempotency_key": str(uuid.uuid4()), "user_confirmation": " "},
            "FIELD_REQUIRED",
        ),
        ({"id": str(uuid.uuid4())}, "FIELD_UNKNOWN"),
    ],
)
def test_wrong_arguments_of_apply_get_the_contracts_codes(arguments: dict, code: str):
    answer = call("apply_actions", **arguments)
    assert (answer["success"], answer["code"]) == (False, code)
    assert answer["hint"]
