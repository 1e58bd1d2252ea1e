"""Hostile input: every field at and over its limit, wrong types, and text that means mischief."""

import json
import uuid
from typing import Any

import pytest

from tests.onepercent.person import act, call, do, items, preview, refused, snapshot
from tools.onepercent.actions import ACTIONS
from tools.onepercent.fields import Choice, Day, Reference, Text, Weekdays, Whole

EVIL = [
    "'; DROP TABLE goals; --",
    '" OR 1=1; DELETE FROM steps; --',
    "$ref:123",
    "🎯👩‍👩‍👧‍👦 שלום עולם ‮evil",
    "\x01\x1b[31m\u2028\ufeff",
    "%s %d {0} \\u0000 \\",
    "<script>alert(1)</script>",
]

NEVER = [True, False, 1.5, [], {}, [[]], "\0", "a\0b", "\ud800", float("nan"), -1, 0, 2**200, "9" * 5000]
"""Values that no field takes, or only few."""


@pytest.fixture
def rows() -> dict[str, int]:
    names = ("goal_id", "step_id", "habit_id", "diary_id")
    created = do(
        act("goal.create", title="Цель"),
        act("step.create", goal_id=None, title="Шаг"),
        act("habit.create", name="Бег"),
        act("diary.create_entry", plans="план"),
    )
    return dict(zip(names, created, strict=True))


def valid(name: str, rows: dict[str, int]) -> dict[str, Any]:
    """Parameters with which the action is valid."""
    found: dict[str, Any] = {key: rows.get(key, "Новое") for key in ACTIONS[name].required}
    if name == "diary.create_entry":
        found["plans"] = "план"
    if name == "ssp.rate":
        return {"category": "family", "score": 7}
    if name.endswith("update"):
        found["name" if name.startswith("habit") else "title"] = "Новое"
    return found | ({"plans": "другой план"} if name == "diary.update_entry" else {})


FIELDS = [(name, field, kind) for name, one in ACTIONS.items() if one.published for field, kind in one.fields.items()]
TEXTS = [(name, field, kind) for name, field, kind in FIELDS if isinstance(kind, Text)]


@pytest.mark.parametrize(("name", "field", "kind"), TEXTS, ids=lambda value: value if isinstance(value, str) else "")
def test_every_text_is_taken_at_its_limit_and_refused_over_it(name: str, field: str, kind: Text, rows: dict):
    preview(act(name, **valid(name, rows) | {field: "я" * kind.longest}))
    error = refused(act(name, **valid(name, rows) | {field: "я" * (kind.longest + 1)}))
    assert (error["code"], error["field"]) == ("FIELD_TOO_LONG", field)


def test_every_number_is_taken_at_its_limits_and_refused_beyond(rows: dict):
    for name, field, kind in FIELDS:
        if isinstance(kind, Whole):
            for good in (kind.least, kind.most):
                answer = call("preview_actions", actions=[act(name, **valid(name, rows) | {field: good})])
                assert answer["success"], answer
            for bad in (kind.least - 1, kind.most + 1):
                assert refused(act(name, **valid(name, rows) | {field: bad}))["code"] == "FIELD_INVALID"


def takes(kind: Any, value: Any) -> bool:
    """Whether a value of NEVER is one that this field takes."""
    if isinstance(kind, Whole):
        return type(value) is int and kind.least <= value <= kind.most
    if isinstance(kind, Text):
        return isinstance(value, str) and value.isascii() and "\0" not in value and len(value) <= kind.longest
    return isinstance(kind, Weekdays) and value == []


@pytest.mark.parametrize(("name", "field", "kind"), FIELDS, ids=lambda value: value if isinstance(value, str) else "")
def test_values_of_the_wrong_kind_are_refused_with_a_code_and_a_hint(name: str, field: str, kind: Any, rows: dict):
    codes = {Choice: {kind.code} if isinstance(kind, Choice) else set(), Day: {"INVALID_DATE"}}
    allowed = codes.get(type(kind), {"FIELD_INVALID", "FIELD_TOO_LONG"})
    if isinstance(kind, Reference):
        allowed = {"FIELD_INVALID", f"{field.removesuffix('_id').upper()}_NOT_FOUND"}
    for value in NEVER:
        if takes(kind, value):
            continue
        error = refused(act(name, **valid(name, rows) | {field: value}))
        assert error["code"] in allowed, (value, error)
        assert error["hint"] and len(error["error"]) < 300
        json.dumps(error, ensure_ascii=False).encode()


@pytest.mark.parametrize("text", EVIL)
def test_text_comes_back_as_it_was_given(text: str):
    do(
        act("goal.create", title=f"x{text}x", why_important=text),
        act("step.create", goal_id=None, title=f"x{text}x", description=text),
        act("habit.create", name=f"x{text}x", icon="i"),
        act("diary.create_entry", what_done=text),
    )
    data = snapshot("goals", "habits", "diary", goal_id=1)
    goal = data["goals"]["items"][0]
    assert (goal["title"], goal["why_important"], goal["steps"][0]["description"]) == (f"x{text}x", text, text)
    assert data["habits"]["items"][0]["name"] == f"x{text}x" and data["diary"]["items"][0]["what_done"] == text


def test_evil_in_every_text_at_once_changes_nothing_else(rows: dict):
    for name, field, _ in TEXTS:
        for text in EVIL:
            call("preview_actions", actions=[act(name, **valid(name, rows) | {field: text})])
    assert items("goals")[0]["title"] == "Цель"


def deep(levels: int) -> Any:
    found: Any = "x"
    for _ in range(levels):
        found = [found]
    return found


@pytest.mark.parametrize(
    ("actions", "code"),
    [
        ([], "NO_ACTIONS"),
        ([act("goal.create", title="x") for _ in range(51)], "TOO_MANY_ACTIONS"),
        ("text", "FIELD_INVALID"),
        (None, "FIELD_INVALID"),
        ({"a": 1}, "FIELD_INVALID"),
        (5, "FIELD_INVALID"),
    ],
)
def test_a_list_of_actions_that_is_none(actions: Any, code: str):
    assert call("preview_actions", actions=actions)["code"] == code


def test_fifty_actions_are_not_too_many():
    assert preview(*[act("goal.create", title="x") for _ in range(50)])


GOOD = {"action": "goal.create", "client_action_id": "123e4567-e89b-42d3-a456-426614174000", "params": {"title": "x"}}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"action": None}, "FIELD_REQUIRED"),
        ({"action": 5}, "UNKNOWN_ACTION"),
        ({"action": "goal.fly"}, "UNKNOWN_ACTION"),
        ({"action": "undo.last"}, "UNKNOWN_ACTION"),
        ({"action": "\ud800"}, "UNKNOWN_ACTION"),
        ({"action": ["goal.create"]}, "UNKNOWN_ACTION"),
        ({"client_action_id": None}, "FIELD_REQUIRED"),
        ({"client_action_id": "1"}, "INVALID_UUID"),
        ({"client_action_id": 1}, "INVALID_UUID"),
        ({"client_action_id": "{123e4567-e89b-42d3-a456-426614174000}"}, "INVALID_UUID"),
        ({"client_action_id": GOOD["client_action_id"] + "\n"}, "INVALID_UUID"),
        ({"params": None}, "FIELD_REQUIRED"),
        ({"params": []}, "FIELD_INVALID"),
        ({"params": "x"}, "FIELD_INVALID"),
        ({"params": {"title": deep(60)}}, "FIELD_INVALID"),
        ({"params": {"title": "x", "\ud800": 1}}, "FIELD_UNKNOWN"),
        ({"id": "x"}, "FIELD_UNKNOWN"),
    ],
)
def test_an_action_that_is_none(change: dict, code: str):
    error = refused(GOOD | change)
    assert error["code"] == code and error["hint"]
    json.dumps(error, ensure_ascii=False).encode()


@pytest.mark.parametrize("action", [None, "x", 5, [], True, deep(60)], ids=str)
def test_an_action_that_is_no_object(action: Any):
    assert refused(action)["code"] == "FIELD_INVALID"


def test_nesting_too_deep_to_print_is_refused_like_any_other():
    for levels in (900, 5000):
        assert refused(GOOD | {"params": {"title": deep(levels)}})["code"] == "FIELD_INVALID"
        assert refused(GOOD | {"action": deep(levels)})["code"] == "UNKNOWN_ACTION"
        assert call("cancel_preview", preview_id=deep(levels))["code"] == "INVALID_UUID"


@pytest.mark.parametrize(
    ("action", "params", "canonical"),
    [
        ("goal.update", {"id": 1}, "goal_id"),
        ("step.complete", {"id": 1}, "step_id"),
        ("step.complete", {"task_id": 1}, "step_id"),
        ("habit.delete", {"id": 1}, "habit_id"),
        ("diary.update_entry", {"id": 1}, "diary_id"),
        ("step.create", {"deadline": "2026-01-01"}, "dt"),
        ("step.create", {"date": "2026-01-01"}, "dt"),
        ("step.create", {"name": "x"}, "title"),
        ("goal.create", {"name": "x"}, "title"),
        ("goal.create", {"description": "x"}, "why_important"),
        ("habit.create", {"title": "x"}, "name"),
        ("goal.create", {"tittle": "x"}, "title"),
        ("goal.create", {"Title": "x"}, "title"),
    ],
)
def test_a_wrong_name_is_answered_with_the_right_one(action: str, params: dict, canonical: str):
    error = refused(act(action, **params))
    assert (error["code"], error["canonical"]) == ("FIELD_UNKNOWN", canonical)
    assert canonical in error["hint"]


@pytest.mark.parametrize("name", ["content", "text"])
def test_content_of_the_diary_is_one_of_four_fields(name: str):
    assert (
        refused(act("diary.create_entry", **{name: "x"}))["hint"]
        == "Use what_done or what_not_done or reflection or plans."
    )


@pytest.mark.parametrize("word", ["high", "medium", "low"])
def test_a_priority_from_elsewhere_is_answered_with_the_four(word: str, rows: dict):
    error = refused(act("step.update", step_id=rows["step_id"], priority=word))
    assert error["code"] == "INVALID_PRIORITY"
    assert "critical, important, attention, optional" in error["hint"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"include": ["goals", "everything"]}, "FIELD_INVALID"),
        ({"include": "goals"}, "FIELD_INVALID"),
        ({"include": 5}, "FIELD_INVALID"),
        ({"include": [[]]}, "FIELD_INVALID"),
        ({"date_from": "tomorrow"}, "INVALID_DATE"),
        ({"date_from": 20260101}, "INVALID_DATE"),
        ({"date_from": "2026-01-02", "date_to": "2026-01-01"}, "INVALID_DATE"),
        ({"goals_status": "done"}, "FIELD_INVALID"),
        ({"goal_id": True}, "FIELD_INVALID"),
        ({"goal_id": 0}, "FIELD_INVALID"),
        ({"goal_id": 2**70}, "FIELD_INVALID"),
        ({"goal_id": 77}, "GOAL_NOT_FOUND"),
        ({"id": 1}, "FIELD_UNKNOWN"),
        ({"user": "other"}, "FIELD_UNKNOWN"),
    ],
)
def test_wrong_arguments_of_the_snapshot(arguments: dict, code: str):
    answer = call("get_user_snapshot", **arguments)
    assert (answer["success"], answer.get("code")) == (False, code)
    assert answer["hint"]


def test_dates_at_the_ends_of_time_are_dates(rows: dict):
    assert snapshot("schedule", "diary", "xp", date_from="9999-12-31")
    assert snapshot("schedule", "diary", "xp", date_from="0001-01-01", date_to="9999-12-31")
    do(
        act("step.update", step_id=rows["step_id"], dt="9999-12-31"),
        act("diary.create_entry", plans="x", date="0001-01-01"),
    )


def test_nulls_for_optional_arguments_are_as_if_left_out():
    assert call("get_user_snapshot", include=None, date_from=None, date_to="", goals_status=None, goal_id=None)[
        "success"
    ]
    assert preview(act("goal.create", title="x", category=None, why_important=None))


def test_actions_sent_as_json_text_are_read():
    assert call("preview_actions", actions=json.dumps([GOOD]))["success"]


def test_a_lone_surrogate_is_refused_and_leaves_an_audit_row():
    assert refused(GOOD | {"params": {"title": "\ud800"}})["code"] == "FIELD_INVALID"
    assert (
        call("apply_actions", preview_id="\ud800", idempotency_key=str(uuid.uuid4()), user_confirmation="да")["code"]
        == "INVALID_UUID"
    )
