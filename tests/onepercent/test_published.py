"""What tools/list shows: strict, small, and the same as what the tools check."""

import json
import re
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
    act("goal.create", title="x", category="hobby", why_important="x"), act("goal.update", goal_id="1", title="x"),
    act("goal.complete", goal_id="1"), act("goal.reopen", goal_id="1"), act("goal.delete", goal_id=f"$ref:{uuid.uuid4()}"),
    act("goal.archive", goal_id="1"), act("goal.unarchive", goal_id="1"),
    act("step.create", goal_id="1", title="x", description="", priority="optional", dt="2026-01-01", order=1),
    act("step.update", step_id="1", time_duration="480", dt=""), act("step.complete", step_id="1"),
    act("step.reopen", step_id="1"), act("step.delete", step_id="1"), act("step.shift", goal_id="1", days=7),
    act("habit.create", name="x", xp_reward=1, xp_penalty=0, frequency_type="custom", schedule_days=[1, 7]),
    act("habit.update", habit_id="1", description="x"), act("habit.delete", habit_id="1"),
    act("habit.mark_completed", habit_id="1", date="2026-01-01"), act("habit.mark_missed", habit_id="1", excuse_reason="x"),
    act("habit.unmark", habit_id="1"), act("habit.archive", habit_id="1"), act("habit.unarchive", habit_id="1"),
    act("habit.pause", habit_id="1", to="2026-03-20"), act("habit.resume", habit_id="1"),
    act("diary.create_entry", what_done="x", date="2026-01-01"), act("diary.update_entry", diary_id="1", plans=""),
    act("diary.delete_entry", diary_id="1"), act("ssp.rate", category="work", score=10),
    act("person.update", time_zone="Asia/Tokyo", day_start_hour=3),
]  # fmt: skip

# What the schema can say, the tool says too.
WRONG = [
    act("goal.create", title=5), act("goal.create", title="x", category="money"),
    act("goal.update", goal_id=True, title="x"), act("goal.fly", title="x"),
    act("step.create", goal_id="1", title="x", priority="high"), act("habit.create", name="x", schedule_days=["Monday"]),
    act("habit.create", name="x", xp_reward="much"), act("diary.create_entry", content="x"), {"action": "goal.create"},
    {**act("goal.create", title="x"), "id": 1},
]  # fmt: skip

# Lengths, limits and who takes what: the tool is as strict as ever.
ONLY_THE_TOOL = [
    act("goal.create"), act("goal.create", title=""), act("goal.create", title="x", goal_id="1"),
    act("step.create", title="x"), act("step.create", goal_id="1", title="x", time_duration="five"),
    act("habit.create", name="x", schedule_days=[8]), act("habit.create", name="x", schedule_days=[1, 1]),
    act("habit.mark_completed", habit_id="1", excuse_reason="x"),
]  # fmt: skip

PLAIN = {"type", "properties", "items", "enum", "required", "additionalProperties", "description", "format", "default"}
PLAIN |= {"minItems", "maxItems", "minLength", "maxLength"}


def fits(*sent: dict) -> bool:
    return jsonschema.Draft202012Validator(SCHEMA).is_valid({"actions": list(sent)})


def schemas(schema: dict) -> Iterator[dict]:
    yield schema
    for inner in [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]:
        yield from schemas(inner)


@pytest.mark.parametrize("tool", OWN, ids=lambda tool: tool.name)
def test_every_schema_is_valid_strict_and_plain_and_every_part_of_it_has_one_type(tool: Tool):
    jsonschema.Draft202012Validator.check_schema(tool.schema)
    assert tool.schema["additionalProperties"] is False
    for schema in schemas(tool.schema):
        assert isinstance(schema.get("type"), str), schema
        assert schema.keys() <= PLAIN, schema
        assert None not in schema.get("enum", ())


def test_the_schema_takes_each_of_the_actions():
    assert {one["action"] for one in VALID} == {name for name, one in actions.ACTIONS.items() if one.published}
    for one in VALID:
        assert fits(one), one


def test_what_the_schema_refuses_the_tool_refuses_and_more():
    for wrong in WRONG:
        assert not fits(wrong), wrong
        assert not call("preview_actions", actions=[wrong])["success"], wrong
    for wrong in ONLY_THE_TOOL:
        error = refused(wrong)
        assert error["code"].startswith(("FIELD_", "GOAL_", "HABIT_")) and error["hint"]


def test_every_action_as_the_schema_has_it_is_taken():
    step, entry = act("step.create", goal_id=None, title="x"), act("diary.create_entry", what_done="x")
    assert do(act("goal.create", title="x"), step, act("habit.create", name="x"), entry) == [1, 1, 1, 1]
    for each in VALID:
        errors = {error["code"] for error in call("preview_actions", actions=[each]).get("errors", ())}
        assert errors <= {"NOT_COMPLETED", "NOTHING_TO_UPDATE", "GOAL_NOT_FOUND", "STEP_NOT_FOUND", "INVALID_DATE"}


def test_the_schema_counts_actions():
    assert not fits() and fits(*[VALID[0]] * 50) and not fits(*[VALID[0]] * 51)


def test_who_takes_what_is_said_in_words():
    params = SCHEMA["properties"]["actions"]["items"]["properties"]["params"]
    names, takes = list(params["properties"]), {}
    for domain, verbs in re.findall(
        r"(\w+): ((?:\w+ [\w*, -]+(?:; )?)+)", params["description"].partition("score 1-10. ")[2]
    ):
        for verb, listed in re.findall(r"(\w+) ([^;]+)", verbs):
            takes[f"{domain}.{verb}"] = set()
            for part in listed.replace("*", "").split(", "):
                first, _, last = part.partition("-")
                takes[f"{domain}.{verb}"] |= {*names[names.index(first) : names.index(last or first) + 1]}
    for one in actions.ACTIONS.values():
        if one.published and not one.updates:
            assert takes.get(one.name, set()) == {*one.fields} - {f"{one.domain}_id"}, one.name


def test_the_tools_are_small_in_every_conversation():
    """In characters of what a model sees, a quarter of which are tokens."""
    sizes = {
        tool.name: len(
            json.dumps([tool.name, tool.description, tool.schema], ensure_ascii=False, separators=(",", ":"))
        )
        for tool in OWN
    }
    assert sizes["preview_actions"] <= 3600
    assert sizes["preview_actions"] + sizes["apply_actions"] + sizes["get_user_snapshot"] <= 6000


def test_what_changes_things_says_so():
    assert {tool.name for tool in OWN if not tool.write} == {"get_user_snapshot"}
    assert {tool.name for tool in OWN if tool.destructive} == {"apply_actions"}
