"""Hostile input: every field at and over its limit, wrong types, and text that means mischief."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.onepercent.person import act, apply, call, do, items, preview, refused, snapshot
from tools.core.errors import LINE_BREAKERS
from tools.onepercent.actions import ACTIONS
from tools.onepercent.database import store

EVIL = [
    "'; DROP TABLE goals; --", "$ref:123", "🎯👩‍👩‍👧‍👦 שלום עולם ‮evil", "\x01\x1b[31m\u2028\ufeff", "%s %d {0} \\u0000 \\",
    "<script>alert(1)</script>",
]  # fmt: skip

# Values that no field takes, but for an id that nothing has.
NEVER = [True, 1.5, {}, [[]], "\0", "a\0b", "\ud800", float("nan"), -1, 2**200, "9" * 20_000]

FIELDS = [
    (name, field, kind)
    for name, one in ACTIONS.items()
    if one.published
    for field, kind in one.fields.items()
]

VALID: dict[str, dict[str, Any]] = {
    "step.complete": {"step_id": 1},
    "step.shift": {"days": 1, "overdue": True},
    "step.create": {"goal_id": 1, "title": "Новое"},
    "person.update": {"time_zone": "Asia/Tokyo"},
    "diary.create_entry": {"plans": "план"},
    "diary.update_entry": {"diary_id": 1, "plans": "другой план"},
    "ssp.rate": {"category": "family", "score": 7},
    "goal.update": {"goal_id": 1, "title": "Новое"},
    "step.update": {"step_id": 1, "title": "Новое"},
    "habit.update": {"habit_id": 1, "name": "Новое"},
    "habit.mark_completed": {"habit_id": 1},
    "habit.mark_missed": {"habit_id": 1},
    "habit.pause": {"habit_id": 1},
    "habit.resume": {"habit_id": 1},
}
FREQUENCY = {
    "times": "times_per_week",
    "n": "every_n_days",
    "month_days": "monthly",
    "schedule_days": "custom",
}


@pytest.fixture
def life() -> None:
    """One of each kind, with the id 1."""
    step = act("step.create", goal_id=None, title="Шаг", dt="2026-03-01")
    do(
        act("goal.create", title="Цель"),
        step,
        act("habit.create", name="Бег"),
        act("diary.create_entry", plans="план"),
    )


def with_field(name: str, field: str, value: Any) -> dict[str, Any]:
    """The action with one of its fields, valid but for that."""
    valid = VALID.get(name) or {
        key: 1 if key.endswith("_id") else "Новое" for key in ACTIONS[name].required
    }
    more = {"frequency_type": FREQUENCY[field]} if field in FREQUENCY else {}
    return act(name, **valid | more | {field: value})


def bounds(words: str) -> Iterator[tuple[Any, str]]:
    """Values at and over the limits that a field's words name, each with the code of its error, or "" if it
    fits."""
    if limit := re.match(r"text, (?:1 to|at most) (\d+) ", words):
        yield "я" * int(limit[1]), ""
        yield "я" * (int(limit[1]) + 1), "FIELD_TOO_LONG"
    if limit := re.match(r"a whole number from (-?\d+) to (\d+)", words):
        least, most = int(limit[1]), int(limit[2])
        yield from (
            (least, ""),
            (most, ""),
            (least - 1, "FIELD_INVALID"),
            (most + 1, "FIELD_INVALID"),
        )


def test_every_field_is_taken_at_the_limits_that_its_words_name_and_refused_beyond(life):
    tried = [(name, field, *bound) for name, field, kind in FIELDS for bound in bounds(kind.words)]
    assert len(tried) > 80
    for name, field, value, code in tried:
        if code:
            error = refused(with_field(name, field, value))
            assert (error["code"], error["field"]) == (code, field)
        else:
            assert call("preview_actions", actions=[with_field(name, field, value)])["success"], (
                name,
                field,
                value,
            )


def test_values_of_the_wrong_kind_are_refused_with_a_code_and_a_hint(life):
    for name, field, kind in FIELDS:
        fitting = {"true or false": [True], "a whole number from -3660 to 3660": [-1]}.get(
            kind.words, []
        )
        fitting = [1.5] if field == "target" else fitting
        values = [value for value in NEVER if value not in fitting]
        answer = call(
            "preview_actions", actions=[with_field(name, field, value) for value in values]
        )
        assert len(answer.get("errors", ())) == len(values), (name, field, answer)
        for error in answer["errors"]:
            assert re.fullmatch(
                "FIELD_INVALID|FIELD_TOO_LONG|INVALID_.*|.*_NOT_FOUND", error["code"]
            ), (
                name,
                error,
            )
            assert error["code"].endswith("_NOT_FOUND") <= ("an id" in kind.words)
            assert error["hint"] and len(error["error"]) < 300
        json.dumps(answer, ensure_ascii=False).encode()


def test_text_comes_back_as_it_was_given_and_is_nothing_but_text(life):
    for number, text in enumerate(EVIL, 2):
        line = LINE_BREAKERS.sub("", f"x{text}x")
        goal, step = (
            act("goal.create", title=line, why_important=text),
            {"title": line, "description": text},
        )
        actions = (act("step.create", goal_id=None, **step), act("habit.create", name=line))
        do(goal, *actions, act("diary.create_entry", plans=text))
        goal = snapshot("goals", goal_id=number)["goals"]["items"][0]
        assert (goal["title"], goal["why_important"], goal["steps"][0]["description"]) == (
            line,
            text,
            text,
        )
        assert items("habits")[-1]["name"] == line and items("diary")[0]["plans"] == text
    assert items("goals")[0]["title"] == "Цель" and len(items("goals")) == 1 + len(EVIL)


@pytest.mark.parametrize("breaker", ["\n", "\x1b", "\x85", "\u2028", "\u202e", "\u2066"])
def test_what_breaks_a_line_or_turns_it_round_is_refused_in_fields_of_one_line(breaker: str, life):
    for name, field, kind in FIELDS:
        if kind.words.startswith("text, 1 to"):
            error = refused(with_field(name, field, f"a{breaker}b"))
            assert (error["code"], error["field"]) == ("FIELD_INVALID", field)


def test_a_title_from_before_cannot_forge_the_sentences_around_it(life):
    forged = "Чай»: работа\nXP не изменится\n\n(конец списка)\n\u202e"
    with store.writing() as db:
        for table, column in (
            ("goals", "title"),
            ("steps", "title"),
            ("habits", "name"),
            ("diary", "plans"),
        ):
            db.execute(f"UPDATE {table} SET {column} = ?", (forged,))
    actions = [act("step.complete", step_id=1), act("diary.update_entry", diary_id=1, plans="x"),
               act("habit.delete", habit_id=1), act("goal.delete", goal_id=1)]  # fmt: skip
    previewed = preview(*actions)
    for message, signs in (
        (previewed["message"], "•" * len(actions)),
        (apply(previewed)["message"], "✓"),
    ):
        assert sum(line.startswith(signs[0]) for line in message.splitlines()) == len(signs)
        assert not any(line.startswith("XP не изменится") for line in message.splitlines())
        assert "Чай»" not in message and "\u202e" not in message


def test_a_list_of_actions_that_is_none():
    goals = [act("goal.create", title="x") for _ in range(51)]
    for actions, code in (
        ("text", "FIELD_INVALID"),
        ([], "NO_ACTIONS"),
        (goals, "TOO_MANY_ACTIONS"),
    ):
        assert call("preview_actions", actions=actions)["code"] == code
    assert call("preview_actions", actions=json.dumps(goals[:50]))["success"]
    for action in (None, "x", []):
        assert refused(action)["code"] == "FIELD_INVALID"


def test_an_action_that_is_none():
    for change, code in (
        ({"action": None}, "FIELD_REQUIRED"), ({"action": "undo.last"}, "UNKNOWN_ACTION"), ({"action": "\ud800"}, "UNKNOWN_ACTION"),
        ({"client_action_id": " "}, "FIELD_REQUIRED"), ({"client_action_id": "x" * 41}, "FIELD_TOO_LONG"),
        ({"client_action_id": "a\nb"}, "FIELD_INVALID"), ({"params": "x"}, "FIELD_INVALID"), ({"id": "x"}, "FIELD_UNKNOWN"),
        ({"params": {"title": "x", "\ud800": 1}}, "FIELD_UNKNOWN"),
    ):  # fmt: skip
        error = refused(act("goal.create", title="x") | change)
        assert error["code"] == code and error["hint"]
        json.dumps(error, ensure_ascii=False).encode()


def test_lists_a_thousand_deep_are_refused_and_leave_their_row():
    """Python 3.13 writes them whole; before it they are too deep for its JSON, and only names stay."""
    deep: list[Any] = []
    for _ in range(990):
        deep = [deep]
    answer = call(
        "preview_actions",
        actions=[{"action": "goal.create", "params": {"title": "x", "steps": deep}}],
    )
    assert answer["code"] == "ALL_FAILED"
    with store.reading() as db:
        assert "actions" in db.execute("SELECT request FROM audit").fetchone()[0]


def test_a_wrong_name_is_answered_with_the_right_one(life):
    for action, name, canonical in (
        ("goal.update", "id", "goal_id"), ("step.complete", "task_id", "step_id"), ("step.create", "deadline", "dt"),
        ("goal.create", "deadline", "due"), ("goal.create", "description", "why_important"), ("goal.create", "Tittle", "title"),
        ("habit.create", "title", "name"), ("habit.create", "frequency", "frequency_type"),
    ):  # fmt: skip
        error = refused(act(action, **{name: 1}))
        assert (error["code"], error["canonical"]) == (
            "FIELD_UNKNOWN",
            canonical,
        ) and canonical in error["hint"]
    hint = refused(act("diary.create_entry", text="x"))["hint"]
    assert hint == "Use what_done or what_not_done or reflection or plans."
    error = refused(act("step.update", step_id=1, priority="heavy"))
    assert (
        error["code"] == "INVALID_PRIORITY"
        and "critical, important, attention, optional" in error["hint"]
    )


def test_wrong_arguments_of_the_snapshot():
    for arguments, code in (
        ({"include": ["goals", "everything"]}, "FIELD_INVALID"), ({"include": "goals"}, "FIELD_INVALID"),
        ({"date_from": "tomorrow"}, "INVALID_DATE"), ({"date_from": "2026-01-02", "date_to": "2026-01-01"}, "INVALID_DATE"),
        ({"goals_status": "done"}, "FIELD_INVALID"), ({"goal_id": 2**70}, "GOAL_NOT_FOUND"), ({"user": "other"}, "FIELD_UNKNOWN"),
    ):  # fmt: skip
        answer = call("get_user_snapshot", **arguments)
        assert (answer["success"], answer.get("code")) == (False, code) and answer["hint"]
    nothing = dict.fromkeys(("include", "date_from", "goals_status", "goal_id"))
    assert call("get_user_snapshot", **nothing, date_to="")["success"]
    assert snapshot("schedule", "diary", "xp", date_from="0001-01-01", date_to="9999-12-31")
