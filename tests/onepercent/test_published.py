"""What tools/list shows: strict, small, and the same as what the tools check."""

import json
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.onepercent.person import act, call, do, refused
from tools.core.tool import TOOLS, Tool
from tools.onepercent import actions

jsonschema = pytest.importorskip("jsonschema", reason="the SDK brings jsonschema")

PROJECT = Path(__file__).parents[2]
OWN = [tool for tool in TOOLS.values() if tool.toolset == "onepercent" and not tool.app_only]
SCHEMA = TOOLS["preview_actions"].schema

VALID = [
    act("goal.create", title="x", category="hobby", why_important="x"),
    act("goal.update", goal_id="1", title="x"),
    act("goal.complete", goal_id="1"),
    act("goal.reopen", goal_id="1"),
    act("goal.delete", goal_id=f"$ref:{uuid.uuid4()}"),
    act(
        "step.create",
        goal_id="1",
        title="x",
        description="",
        priority="optional",
        dt="2026-01-01",
        time_duration="half",
        order=1,
    ),
    act("step.update", step_id="1", time_duration="480", dt=""),
    act("step.complete", step_id="1"),
    act("step.reopen", step_id="1"),
    act("step.delete", step_id="1"),
    act(
        "habit.create", name="x", icon="star", xp_reward=1, xp_penalty=0, frequency_type="custom", schedule_days=[1, 7]
    ),
    act("habit.update", habit_id="1", description="x"),
    act("habit.delete", habit_id="1"),
    act("habit.mark_completed", habit_id="1", date="2026-01-01"),
    act("habit.mark_missed", habit_id="1", excuse_reason="x"),
    act("habit.unmark", habit_id="1"),
    act("diary.create_entry", what_done="x", date="2026-01-01"),
    act("diary.update_entry", diary_id="1", plans=""),
    act("diary.delete_entry", diary_id="1"),
    act("ssp.rate", category="work", score=10),
]

WRONG = [
    act("goal.create", title=5),
    act("goal.create", title="x", category="money"),
    act("goal.update", goal_id=True, title="x"),
    act("goal.fly", title="x"),
    act("step.create", goal_id="1", title="x", priority="high"),
    act("habit.create", name="x", schedule_days=["Monday"]),
    act("habit.create", name="x", xp_reward="much"),
    act("diary.create_entry", content="x"),
    {"action": "goal.create", "params": {"title": "x"}},
    {**act("goal.create", title="x"), "id": 1},
]
"""What the schema can say, the tool says too."""

ONLY_THE_TOOL = [
    act("goal.create"),
    act("goal.create", title=""),
    act("goal.create", title="x" * 501),
    act("goal.create", title="x", goal_id="1"),
    act("step.create", title="x"),
    act("step.create", goal_id="1", title="x", time_duration="five"),
    act("step.create", goal_id="1", title="x", time_duration="481"),
    act("habit.create", name="x" * 201),
    act("habit.create", name="x", xp_reward=0),
    act("habit.create", name="x", schedule_days=[8]),
    act("habit.create", name="x", schedule_days=[1, 1]),
    act("habit.mark_completed", habit_id="1", excuse_reason="x"),
]
"""Lengths, limits and who takes what: the tool is as strict as ever."""

PLAIN = {"type", "properties", "items", "enum", "required", "additionalProperties", "description", "format", "default"}
PLAIN |= {"minItems", "maxItems", "minLength", "maxLength"}


def fits(*sent: dict) -> bool:
    return jsonschema.Draft202012Validator(SCHEMA).is_valid({"actions": list(sent)})


def schemas(schema: dict) -> Iterator[dict]:
    yield schema
    for inner in [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]:
        yield from schemas(inner)


@pytest.mark.parametrize("tool", OWN, ids=lambda tool: tool.name)
def test_every_schema_is_valid_and_strict(tool: Tool):
    jsonschema.Draft202012Validator.check_schema(tool.schema)
    assert tool.schema["additionalProperties"] is False


@pytest.mark.parametrize("tool", OWN, ids=lambda tool: tool.name)
def test_every_schema_is_plain_and_every_part_of_it_has_one_type(tool: Tool):
    for schema in schemas(tool.schema):
        assert isinstance(schema.get("type"), str), schema
        assert schema.keys() <= PLAIN, schema
        assert None not in schema.get("enum", ())


def test_the_schema_takes_each_of_the_actions():
    assert {one["action"] for one in VALID} == {name for name, one in actions.ACTIONS.items() if one.published}
    for one in VALID:
        assert fits(one), one


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: json.dumps(wrong.get("params"))[:50])
def test_what_the_schema_refuses_the_tool_refuses(wrong: dict):
    assert not fits(wrong)
    assert not call("preview_actions", actions=[wrong])["success"]


@pytest.mark.parametrize("wrong", ONLY_THE_TOOL, ids=lambda wrong: json.dumps(wrong.get("params"))[:50])
def test_what_the_schema_cannot_say_the_tool_refuses(wrong: dict):
    error = refused(wrong)
    assert error["code"].startswith(("FIELD_", "GOAL_", "HABIT_")) and error["hint"]


def test_every_action_as_the_schema_has_it_is_taken():
    created = do(
        act("goal.create", title="x"),
        act("step.create", goal_id=None, title="x"),
        act("habit.create", name="x"),
        act("diary.create_entry", what_done="x"),
    )
    assert created == [1, 1, 1, 1]
    for one in VALID:
        answer = call("preview_actions", actions=[one])
        codes = {error["code"] for error in answer.get("errors", ())}
        assert codes <= {"NOT_COMPLETED", "NOTHING_TO_UPDATE", "GOAL_NOT_FOUND", "INVALID_DATE"}, answer


def test_the_schema_counts_actions():
    assert not fits() and fits(*[VALID[0]] * 50) and not fits(*[VALID[0]] * 51)


def test_who_takes_what_is_said_in_words():
    words = SCHEMA["properties"]["actions"]["items"]["properties"]["params"]["description"]
    for one in actions.ACTIONS.values():
        for name in one.fields if one.published and not one.partial else ():
            assert name in words, (one.name, name)


def test_the_tools_are_small_in_every_conversation():
    sizes = {
        tool.name: len((json.dumps(tool.schema, ensure_ascii=False, separators=(",", ":")) + tool.description).encode())
        for tool in OWN
    }
    assert sizes.pop("preview_actions") <= 2800
    assert sum(sizes.values()) / len(sizes) < 700


def test_what_changes_things_says_so():
    assert {tool.name for tool in OWN if not tool.write} == {"get_user_snapshot"}
    assert {tool.name for tool in OWN if tool.destructive} == {"apply_actions"}


NAP = '''"""A sixteenth action."""

from tools.onepercent.actions import Outcome, action
from tools.onepercent.fields import Text


@action("nap.take", {"title": Text(10, line=True)}, required=("title",))
def take(work, given):
    earned = work.earn(5, "nap.take", 1)
    return Outcome([("creates", {"entity": "nap", **given})], f"Сон '{given['title']}'", xp=earned)
'''


def test_a_sixteenth_action_is_one_file(tmp_path: Path):
    shutil.copytree(PROJECT / "tools", tmp_path / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "tools" / "onepercent" / "actions" / "naps.py").write_text(NAP, encoding="utf-8")

    def run(*words: str) -> dict:
        command = [sys.executable, "-m", "tools", *words]
        return json.loads(
            subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False).stdout
        )

    assert "nap.take" in json.dumps(run("schema", "preview_actions"))
    answer = run("call", "preview_actions", json.dumps({"actions": [act("nap.take", title="час")]}))
    assert answer["xp_total"] == 5 and "Сон 'час'" in answer["message"]
    applied = {"preview_id": answer["preview_id"], "idempotency_key": str(uuid.uuid4()), "user_confirmation": "да"}
    assert run("call", "apply_actions", json.dumps(applied))["xp"] == {"delta": 5, "balance": 5}
