"""What tools/list shows: small, and the same as what the tools check."""

import uuid

import pytest

from tests.onepercent.examples import EXAMPLES, lived
from tests.onepercent.person import act, call, new_entry, new_goal, propose
from tests.support.air import check_cap
from tools.core.json_types import compact_json
from tools.core.tool import TOOLS
from tools.onepercent import actions
from tools.onepercent.base import fields

jsonschema = pytest.importorskip("jsonschema", reason="the SDK brings jsonschema")

SCHEMA = TOOLS["preview_actions"].schema

# What the schema can say, the tool says too.
WRONG = [
    new_goal(5), new_goal("x", category="garage"), act("goal.update", True, title="x"),
    act("goal.fly", title="x"), new_entry(content="x"),
    {"action": "goal.create"}, {**new_goal("x"), "id": 1},
]  # fmt: skip


def fits(*sent):
    return jsonschema.Draft202012Validator(SCHEMA).is_valid({"actions": list(sent)})


def test_what_the_schema_refuses_the_tool_refuses():
    for wrong in WRONG:
        assert not fits(wrong), wrong
        assert not propose(wrong)["success"], wrong
    assert fits(*[new_goal("x")] * 50)


def test_the_examples_are_of_every_action():
    published = {name for name, action in actions.ACTIONS.items() if action.published}
    assert EXAMPLES.keys() == published


@pytest.mark.parametrize(
    "action, params",
    [
        *EXAMPLES.items(),
        ("goal.delete", {"goal_id": f"$ref:{uuid.uuid4()}"}),
        ("step.update", {"step_id": 1, "time_duration": "480", "dt": ""}),
        ("habit.create", {"name": "x", "frequency_type": "custom", "schedule_days": [1, 7]}),
    ],
)
def test_every_action_as_the_schema_has_it_is_taken(action, params):
    lived()
    ids = {name: str(value) for name, value in params.items() if name.endswith("_id")}
    sent = act(action, **params | ids)
    assert fits(sent)
    codes = [error["code"] for error in propose(sent).get("errors", ())]
    assert codes == ["GOAL_NOT_FOUND"] * ("$ref" in str(params))


def test_an_id_of_0_from_clients_that_fill_every_field_is_absent():
    assert call("get_user_snapshot", goal_id=0)["success"]
    kinds = {"goal_id": fields.ENTITY_ID, "days": fields.integer(0, 9)}
    assert fields.parse_members({"goal_id": 0, "days": 0}, kinds, (), "it") == {"days": 0}


def test_who_takes_what_is_said_in_words():
    params = SCHEMA["properties"]["actions"]["items"]["properties"]["params"]
    words = params["description"].replace("*", "")
    for name, action in actions.ACTIONS.items():
        domain, verb = name.split(".")
        taken = [field for field in action.fields if field != f"{domain}_id"]
        if taken and action.published and not action.updates:
            of_domain = words.partition(f" {domain}: ")[2].partition(".")[0]
            assert f"{verb} {', '.join(taken)}" in of_domain.split("; "), name


@pytest.mark.filterwarnings("default:a cap")
def test_the_tools_are_small_in_every_conversation():
    """In characters of what a model sees, a quarter of which are tokens."""
    sizes = []
    for name in ("preview_actions", "apply_actions", "get_user_snapshot"):
        tool = TOOLS[name]
        sizes.append(len(compact_json([name, tool.description, tool.schema])))
    check_cap("preview_actions", sizes[0], 4400)
    check_cap("the three", sum(sizes), 6500)
