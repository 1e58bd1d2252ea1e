"""Preview, apply, cancel: applied once, as shown, or not at all."""

import json
import uuid

import pytest

from tests.onepercent.examples import EXAMPLES, lived
from tests.onepercent.person import (
    act,
    apply,
    balance,
    behind_the_tools,
    call,
    complete,
    do,
    items,
    mark,
    miss,
    new_entry,
    new_goal,
    new_habit,
    new_step,
    pause,
    preview,
    propose,
    ref,
    refused,
    rows,
    snapshot,
    undo,
    use,
)
from tests.support.client import json_lines
from tools.onepercent.database import store

GOAL = new_goal("Цель")


def cancel(previewed):
    return call("cancel_preview", preview_id=previewed["preview_id"])


def test_a_preview_shows_five_sections_and_changes_nothing():
    answer = preview(GOAL, new_entry(plans="план"))
    assert list(answer["diff"]) == ["creates", "updates", "deletes", "completions", "errors"]
    assert answer["expires_in_seconds"] == 300 and uuid.UUID(answer["preview_id"])
    assert items("goals") == items("diary") == [] and balance() == 0


def test_apply_answers_in_order_with_ids_summary_xp_and_a_line_an_action():
    goal = new_goal("Выучить Python")
    step = new_step("Читать", ref(goal))
    answer = apply(preview(goal, step, complete(ref(step))))
    assert [result.get("created_id") for result in answer["results"]] == [1, 1, None]
    assert answer["summary"] == {"total": 3, "successful": 3, "failed": 0}
    assert answer["xp"] == {"delta": 25, "balance": 25}
    assert answer["message"].splitlines()[0] == "✓ Цель «Выучить Python»: новая"
    assert answer["message"].splitlines()[2].startswith("✓ Шаг «Читать»: сделан")


def test_bad_actions_are_reported_the_others_applied_and_where_all_are_bad_there_is_no_preview():
    bad = act("goal.fly")
    answer = propose(bad, GOAL)
    (error,) = answer["diff"]["errors"]
    assert (error["index"], error["client_action_id"]) == (0, bad["client_action_id"])
    assert (error["action"], error["code"]) == ("goal.fly", "UNKNOWN_ACTION")
    applied = apply(answer)
    assert applied["summary"]["total"] == 1
    assert applied["dropped"] == [{"action": "goal.fly", "error": "Unknown action: goal.fly"}]
    assert applied["message"].startswith("✗ Одно изменение непонятно")
    assert "dropped" not in apply(preview(GOAL))
    answer = propose(act("goal.create"), act("goal.update", 7, title="x"))
    assert (answer["code"], answer["error"]) == ("ALL_FAILED", "All actions failed validation")
    assert [each["error"] for each in answer["errors"]] == ["title is required", "Goal not found"]
    assert answer["success"] is False and "preview_id" not in answer


def test_a_key_gets_its_answer_byte_for_byte_and_serves_one_preview_only():
    previewed = preview(GOAL)
    key = str(uuid.uuid4())
    answers = {json.dumps(apply(previewed, each)) for each in (key, key, key.upper())}
    assert len(answers) == 1
    assert len(items("goals")) == 1
    other = preview(new_goal("Вторая"))
    assert apply(other, key)["code"] == "IDEMPOTENCY_CONFLICT"
    assert apply(other)["success"]


def test_a_preview_is_applied_or_cancelled_once():
    applied, cancelled = (preview(GOAL) for _ in range(2))
    assert apply(applied)["success"] and cancel(cancelled)["success"]
    for previewed, words in ((applied, "applied"), (cancelled, "cancelled")):
        for answer in (apply(previewed), cancel(previewed)):
            assert answer["error"] == f"Preview already {words}"
            assert answer["code"] == f"PREVIEW_{words.upper()}"
    assert apply({"preview_id": str(uuid.uuid4())})["code"] == "PREVIEW_NOT_FOUND"


def test_a_preview_expires_is_made_again_and_not_applied(clock):
    previewed = preview(GOAL, new_habit("Бег"))
    clock.set("2026-03-18T12:04:59+00:00")
    late = preview(new_goal("цель"))
    clock.set("2026-03-18T12:05:00+00:00")
    assert apply(late)["success"]
    answer = apply(previewed)
    assert (answer["code"], len(items("goals"))) == ("PREVIEW_EXPIRED", 1)
    assert answer["preview_id"] != previewed["preview_id"] and answer["expires_in_seconds"] == 300
    assert [each["entity"] for each in answer["diff"]["creates"]] == ["goal", "habit"]
    assert "уже есть" in answer["message"] and "новая" in answer["message"]
    assert apply(answer)["success"] and len(items("goals")) == 2
    assert cancel(previewed)["success"] and apply(previewed)["code"] == "PREVIEW_CANCELLED"


def test_apply_refuses_a_preview_made_stale_by_another_session():
    goal = do(GOAL)[0]
    stale = preview(new_entry(plans="план"), act("goal.complete", goal))
    do(act("goal.update", goal, title="Другая"))
    answer = apply(stale)
    assert answer["code"] == "PREVIEW_STALE" and "goal 'Другая' changed: title" in answer["error"]
    assert {"action": "goal.complete", "index": 1}.items() <= answer["failed_action"].items()
    assert [result["rollback"] for result in answer["results"]] == [True]
    assert balance() == 0 and items("diary") == []
    assert [each["entity"] for each in answer["diff"]["creates"]] == ["diary"]
    undo()
    assert apply(stale)["success"]  # It stayed pending, and holds again once the state is back.


@pytest.mark.parametrize(
    "then", [pause(1, "2026-12-20", "2027-01-10"), act("habit.resume", 1), act("habit.archive", 1)]
)
def test_a_pause_that_a_later_action_of_the_preview_reads_is_no_change_since(clock, then):
    do(new_habit("Бег"))
    previewed = preview(pause(1, "2026-06-01", "2026-06-14"), then)
    clock.set("2026-03-18T12:00:09+00:00")
    assert apply(previewed)["success"]


def test_the_mark_of_a_habit_that_a_preview_creates_holds_whoever_takes_its_id_since():
    habit = new_habit("Бег")
    previewed = preview(habit, mark(ref(habit)))
    do(new_habit("Сон"), miss(1))
    assert apply(previewed)["success"]
    assert [each["today_status"] for each in items("habits")] == ["missed", "completed"]


def test_what_another_session_has_done_since_is_stale_and_nothing_is_left_to_apply(clock):
    first, second = (preview(act("ssp.rate", category="work", score=1)) for _ in range(2))
    gone = preview(act("goal.complete", do(GOAL)[0]))
    do(act("goal.delete", 1))
    assert apply(first)["success"]
    for answer in (apply(second), apply(gone)):
        assert answer["code"] == "PREVIEW_STALE" and "preview_id" not in answer
    assert "was deleted" in apply(gone)["error"]
    clock.set("2026-03-18T12:06:00+00:00")
    assert (answer := apply(gone))["code"] == "PREVIEW_EXPIRED" and "preview_id" not in answer


@pytest.mark.parametrize(
    "between",
    [
        complete(1), act("step.delete", 1), act("goal.delete", 1),
        new_step("Ещё", 1), miss(1),
        act("habit.update", 1, xp_reward=99),
    ],
)  # fmt: skip
def test_a_change_to_anything_a_preview_touches_makes_it_stale_and_one_elsewhere_does_not(between):
    do(GOAL, new_step("Шаг"), new_habit("Бег", xp_penalty=50))
    do(new_goal("Вторая"))
    missed = preview(miss(1))
    previewed = preview(act("goal.delete", 1), mark(1))
    other = preview(new_step("Шаг", 2))
    do(between)
    assert apply(previewed)["code"] == "PREVIEW_STALE"
    assert apply(other)["success"]
    do(new_entry(plans="план"))
    # The penalty would now take what was not there.
    assert apply(missed)["code"] == "PREVIEW_STALE"


def test_another_users_rows_are_as_if_they_were_not_there(file):
    lived()
    previewed = preview(act("goal.complete", 1))
    use(file, ONEPERCENT_USER="other")
    for name, params in EXAMPLES.items():
        if absent := {key: 999 for key in params if key.endswith("_id")}:
            theirs, nobodys = (refused(act(name, **each)) for each in (params, params | absent))
            own = {name: theirs.get(name) for name in ("client_action_id", "id")}
            assert theirs == nobodys | own
    assert apply(previewed) == apply({"preview_id": str(uuid.uuid4())})
    assert call("get_user_snapshot", goal_id=1) == call("get_user_snapshot", goal_id=999)
    assert call("undo_last")["code"] == "NOTHING_TO_UNDO"
    assert items("goals") == items("habits") == items("diary") == []
    assert snapshot("xp")["xp"]["lifetime"] == 0


def test_what_is_applied_is_on_the_disk_before_the_answer():
    """sqlite's FULL; a write-ahead log needs no more."""
    with store.writing() as db:
        assert db.execute("PRAGMA synchronous").fetchone()[0] == 2
        assert db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    # A preview may be lost, and costs no fsync.
    with store.writing("NORMAL") as db:
        assert db.execute("PRAGMA synchronous").fetchone()[0] == 1


def test_every_call_of_a_writing_tool_leaves_an_audit_row():
    do(GOAL)
    previewed = preview(act("goal.complete", 1))
    do(act("goal.update", 1, title="Другая"))
    apply(previewed)
    cancel(previewed)
    call("apply_actions", preview_id="x", key=1)
    propose()
    call("undo_last")
    call("get_user_snapshot")
    audit = rows("SELECT tool, error FROM audit WHERE error IS NOT NULL ORDER BY id")
    assert audit == [
        ("apply_actions", "PREVIEW_STALE"),
        ("apply_actions", "FIELD_UNKNOWN"),
        ("preview_actions", "NO_ACTIONS"),
    ]
    [(request, answer, ms, user)] = rows("SELECT request, answer, ms, user FROM audit WHERE id = 2")
    assert json.loads(request)["user_confirmation"] == "да" and json.loads(answer)["success"]
    assert ms > 0 and user == "local"
    assert rows("SELECT count(), count(DISTINCT request_id) FROM audit") == [(10, 10)]


WRONG = json_lines(r"""
[{"preview_id": "x"}, "INVALID_UUID"]
[{"preview_id": "\ud800"}, "INVALID_UUID"]
[{"preview_id": null}, "FIELD_REQUIRED"]
[{"user_confirmation": " "}, "FIELD_REQUIRED"]
[{"id": "x"}, "FIELD_UNKNOWN"]
""")
TOO_LONG = {"user_confirmation": "д" * 501}


@pytest.mark.parametrize("change, code", [*WRONG, (TOO_LONG, "FIELD_TOO_LONG")])
def test_wrong_arguments_of_apply_get_the_contracts_codes(change, code):
    good = {"preview_id": str(uuid.uuid4()), "user_confirmation": "да"}
    answer = call("apply_actions", **good | change)
    assert (answer["success"], answer["code"]) == (False, code) and answer["hint"]


@pytest.mark.parametrize(
    "plan",
    [
        # A column is new.
        """json_remove(plan, '$.seen."goals/1"[#-1]')""",
        "json_remove(plan, '$.entries[0][0][#-1]')",
    ],
)
def test_a_preview_of_the_version_before_is_stale_and_shown_again(plan):
    do(GOAL)
    previewed = preview(act("goal.complete", 1))
    behind_the_tools(f"UPDATE previews SET plan = {plan} WHERE status = 'pending'")
    answer = apply(previewed)
    assert answer["code"] == "PREVIEW_STALE" and answer["diff"] == previewed["diff"]
    assert apply(answer)["success"]


def test_a_redo_of_the_version_before_is_stale():
    do(GOAL)
    undo()
    redo = call("undo_last", redo=True)
    behind_the_tools(
        "UPDATE previews SET plan = json_remove(plan, '$.actions[0][2].undone')"
        "WHERE status = 'pending'"
    )
    assert apply(redo)["code"] == "PREVIEW_STALE"
    undo(redo=True)
