"""What tools/list shows: small, and the same as what the tools check."""

import json
import re
import uuid
from pathlib import Path

import pytest

from tests.onepercent.person import act, call, do
from tests.support.air import check_cap
from tools.core.tool import TOOLS
from tools.onepercent import actions
from tools.onepercent.base import fields

jsonschema = pytest.importorskip("jsonschema", reason="the SDK brings jsonschema")

PROJECT = Path(__file__).parents[2]
OWN = [tool for tool in TOOLS.values() if tool.toolset == "onepercent" and not tool.app_only]
SCHEMA = TOOLS["preview_actions"].schema

VALID = [
    act("goal.create", title="x", category="hobby", why_important="x"), act("goal.update", goal_id="1", title="x"),
    act("goal.add", goal_id="9", amount=1.5),
    act("goal.delete", goal_id=f"$ref:{uuid.uuid4()}"),
    *(act(f"goal.{verb}", goal_id="1") for verb in ("complete", "reopen", "archive", "unarchive")),
    act("step.create", goal_id="1", title="x", description="", priority="optional", dt="2026-01-01", order=1),
    act("step.update", step_id="1", time_duration="480", dt=""), act("step.shift", goal_id="1", days=7),
    *(act(f"step.{verb}", step_id="1") for verb in ("complete", "reopen", "delete")),
    act("habit.create", name="x", xp_reward=1, xp_penalty=0, frequency_type="custom", schedule_days=[1, 7]),
    act("habit.update", habit_id="1", description="x"), act("habit.pause", habit_id="1", to="2026-03-20"),
    act("habit.mark_completed", habit_id="1", date="2026-01-01"), act("habit.mark_missed", habit_id="1", excuse_reason="x"),
    *(act(f"habit.{verb}", habit_id="1") for verb in ("unmark", "archive", "unarchive", "resume", "delete")),
    act("diary.create_entry", what_done="x", date="2026-01-01"), act("diary.update_entry", diary_id="1", plans=""),
    act("diary.delete_entry", diary_id="1"), act("ssp.rate", category="work", score=10),
    act("person.update", time_zone="Asia/Tokyo", day_start_hour=3),
]  # fmt: skip

# What the schema can say, the tool says too.
WRONG = [
    act("goal.create", title=5), act("goal.create", title="x", category="garage"), act("goal.update", goal_id=True, title="x"),
    act("goal.fly", title="x"), act("diary.create_entry", content="x"),
    {"action": "goal.create"}, {**act("goal.create", title="x"), "id": 1},
]  # fmt: skip


def fits(*sent: dict) -> bool:
    return jsonschema.Draft202012Validator(SCHEMA).is_valid({"actions": list(sent)})


def test_what_the_schema_refuses_the_tool_refuses():
    for wrong in WRONG:
        assert not fits(wrong), wrong
        assert not call("preview_actions", actions=[wrong])["success"], wrong
    assert fits(*[VALID[0]] * 50)
    for count, code in ((0, "NO_ACTIONS"), (51, "TOO_MANY_ACTIONS")):  # the tool's own business
        assert call("preview_actions", actions=[VALID[0]] * count)["code"] == code


def test_every_action_as_the_schema_has_it_is_taken():
    assert {one["action"] for one in VALID} == {
        name for name, one in actions.ACTIONS.items() if one.published
    }
    step, entry = (
        act("step.create", goal_id=None, title="x"),
        act("diary.create_entry", what_done="x"),
    )
    assert do(act("goal.create", title="x"), step, act("habit.create", name="x"), entry) == [
        1,
        1,
        1,
        1,
    ]
    for each in VALID:
        assert fits(each), each
        errors = {
            error["code"] for error in call("preview_actions", actions=[each]).get("errors", ())
        }
        assert errors <= {
            "NOT_COMPLETED",
            "NOTHING_TO_UPDATE",
            "GOAL_NOT_FOUND",
            "STEP_NOT_FOUND",
            "INVALID_DATE",
        }


def test_an_id_of_0_from_clients_that_fill_every_field_is_absent():
    assert call("get_user_snapshot", goal_id=0)["success"]
    kinds = {"goal_id": fields.KEY, "days": fields.integer(0, 9)}
    assert fields.members({"goal_id": 0, "days": 0}, kinds, (), "it") == {"days": 0}


def test_who_takes_what_is_said_in_words():
    params = SCHEMA["properties"]["actions"]["items"]["properties"]["params"]
    takes = {}
    for domain, verbs in re.findall(
        r"(\w+): ((?:\w+ [\w*, ]+(?:; )?)+)", params["description"].partition("score 1-10. ")[2]
    ):
        for verb, listed in re.findall(r"(\w+) ([^;]+)", verbs):
            takes[f"{domain}.{verb}"] = {*re.split(r"\*?, ", listed.rstrip("*"))}
    for one in actions.ACTIONS.values():
        if one.published and not one.updates:
            assert takes.get(one.name, set()) == {*one.fields} - {f"{one.domain}_id"}, one.name


@pytest.mark.filterwarnings("default:a cap")
def test_the_tools_are_small_in_every_conversation():
    """In characters of what a model sees, a quarter of which are tokens."""
    shown = {tool.name: [tool.name, tool.description, tool.schema] for tool in OWN}
    sizes = {
        name: len(json.dumps(each, ensure_ascii=False, separators=(",", ":")))
        for name, each in shown.items()
    }
    check_cap("preview_actions", sizes["preview_actions"], 4400)
    together = sizes["preview_actions"] + sizes["apply_actions"] + sizes["get_user_snapshot"]
    check_cap("the three", together, 6500)


def test_what_changes_things_says_so():
    assert {tool.name for tool in OWN if not tool.write} == {"get_user_snapshot"}
    assert {tool.name for tool in OWN if tool.destructive} == {"apply_actions"}
