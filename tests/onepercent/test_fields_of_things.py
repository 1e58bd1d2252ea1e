"""A field of a goal, step, habit or diary entry: stored, said, shown, kept by a series, in every language.

docs/add_a_tool.md says where a new one goes; each place is missed by a test here.
"""

import re
from datetime import date

import pytest

from tests.onepercent.examples import EXAMPLES, SCHEDULES, SUM, values
from tests.onepercent.person import act, complete, do, new_goal, preview, rows, said, snapshot
from tests.support.client import PROJECT
from tools.onepercent.actions import diary, edits, goals, habits, steps
from tools.onepercent.actions.unit_of_work import ENTITIES, StoredRow
from tools.onepercent.base import texts
from tools.onepercent.base.diff import Edit
from tools.onepercent.database import store

CONTENT = {
    "goal": goals.CONTENT,
    "step": steps.CONTENT,
    "habit": habits.CONTENT,
    "diary": diary.CONTENT,
}

FIELDS = [(entity, name) for entity, kinds in CONTENT.items() for name in kinds]


def sample(entity, name):
    """A value of a field that is not its default."""
    return values(entity, name, date(2026, 3, 18))[0]


def creation(entity, **params):
    name = "diary.create_entry" if entity == "diary" else f"{entity}.create"
    return act(name, **EXAMPLES[name] | params)


def whole(entity):
    """The things of a kind as a snapshot shows them whole, without ids."""
    if entity == "step":
        items = snapshot(goal_id=1)["goals"]["items"][0]["steps"]
    elif entity == "goal":
        items = [snapshot(goal_id=key)["goals"]["items"][0] for key in (2, 3)]
    else:
        section = ENTITIES[entity]
        items = snapshot(section)[section]["items"]
    return [{name: value for name, value in item.items() if name != "id"} for item in items]


@pytest.fixture(autouse=True)
def life():
    do(new_goal("Первая"))


@pytest.mark.parametrize("entity, name", FIELDS)
def test_a_field_is_stored_said_before_the_yes_and_shown_afterwards(entity, name):
    plain = creation(entity)
    if schedule := next((each for each in SCHEDULES if name in each), {}):
        plain = creation(entity, frequency_type="daily")
        full = creation(entity, **schedule)
    elif name == "amount":
        full = creation(entity, amount=5, target=SUM)
    else:
        full = creation(entity, **{name: sample(entity, name)})
    plain_answer, full_answer = map(preview, (plain, full))
    assert plain_answer["message"] != full_answer["message"]
    plain_entry, full_entry = (each["diff"]["creates"][-1] for each in (plain_answer, full_answer))
    assert plain_entry != full_entry | {"client_action_id": plain_entry["client_action_id"]}

    do(plain, full)
    with store.reading() as db:
        stored = db.execute(f"SELECT * FROM {ENTITIES[entity]} ORDER BY id DESC LIMIT 2").fetchall()
    columns = [column for column in dict(stored[0]) if f"{column}_".startswith(f"{name}_")]
    assert columns and all(stored[0][column] != stored[1][column] for column in columns)
    first, second = whole(entity)[-2:]
    assert first != second


@pytest.mark.parametrize("entity, name", FIELDS)
def test_a_field_has_a_name_in_both_languages(entity, name):
    for column in {"target": ("target_amount", "target_unit")}.get(name, (name,)):
        for language in ("ru", "en"):
            assert texts.in_language(language).get(f"field.{column}"), f"field.{column}"


@pytest.mark.parametrize("name", [name for name in steps.CONTENT if name != "dt"])
def test_the_next_step_of_a_series_has_every_field_of_the_one_before(name):
    series = {"dt": "2026-03-18", "repeat": {"every": "day"}, name: sample("step", name)}
    do(creation("step", **series))
    do(complete(1))
    (done,), (coming,) = rows(f'SELECT "{name}" FROM steps ORDER BY id')
    assert coming is not None and (name == "repeat" or coming == done)


def test_a_step_in_a_list_takes_every_field_and_the_page_of_the_answers_names_each():
    every = {name: sample("step", name) for name in steps.LIST_CONTENT}
    previewed = preview(act("step.create", goal_id=1, steps=[every]))
    (row,) = previewed["diff"]["creates"][0]["rows"]
    text = (PROJECT / "docs" / "onepercent.md").read_text("utf-8")
    named = re.search(r"`rows` .*?\[(.*?)\]", text)
    assert named and len(named[1].split(", ")) == len(row) == len(every)
    for name in every.keys() - {"title"}:
        less = said(act("step.create", goal_id=1, steps=[every | {name: None}]))
        assert less != previewed["message"], name


def test_only_goals_and_habits_have_a_place_in_a_list():
    before, after = (StoredRow("steps", {"place": place}) for place in ("дом", "дача"))
    assert edits(None, before, after) == {"place": Edit("дом", "дача")}
