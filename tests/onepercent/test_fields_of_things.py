"""A field of a goal, step, habit or diary entry: stored, said, shown, kept by a series, in every language.

docs/add_a_tool.md says where a new one goes; each place is missed by a test here.
"""

import re
from typing import Any

import pytest

from tests.onepercent.person import act, call, do, preview
from tests.support.client import PROJECT
from tools.onepercent.actions import diary, edits, goals, habits, steps
from tools.onepercent.actions.unit_of_work import StoredRow, UnitOfWork
from tools.onepercent.base import days, texts
from tools.onepercent.base.diff import Edit
from tools.onepercent.database import store

CONTENT = {
    "goal": goals.CONTENT,
    "step": steps.CONTENT,
    "habit": habits.CONTENT,
    "diary": diary.CONTENT,
}
TABLES = {"goal": "goals", "step": "steps", "habit": "habits", "diary": "diary"}

# A value of each field, which is not its default; a new field needs one here.
SAMPLES: dict[str, Any] = {
    "title": "Название", "name": "Имя", "description": "Описание", "category": "hobby", "priority": "critical",
    "due": "2026-05-01", "dt": "2026-04-02", "time_duration": 45, "order": 3, "repeat": {"every": "day"},
    "icon": "run", "xp_reward": 7, "xp_penalty": 3, "frequency_type": "weekdays", "schedule_days": [1, 3], "times": 3,
    "n": 4, "month_days": [1, 31], "target": {"amount": 2, "unit": "л"},
    "until": "2026-05-01", "goal_id": 1, "amount": 5,
} | {name: f"{name}: текст" for name in (*goals.TEXTS, *diary.CONTENT)}  # fmt: skip
# What a field needs beside it.
WITH: dict[str, dict[str, Any]] = {
    "schedule_days": {"frequency_type": "custom"},
    "times": {"frequency_type": "times_per_week"},
    "n": {"frequency_type": "every_n_days"},
    "month_days": {"frequency_type": "monthly"},
    "amount": {"target": {"amount": 9, "unit": "л"}},
}
FIELDS = [(entity, name) for entity, kinds in CONTENT.items() for name in kinds]


def creation(entity: str, **params: Any) -> dict[str, Any]:
    least = {
        "goal": {"title": "Дом"},
        "step": {"title": "Раз", "goal_id": 1},
        "habit": {"name": "Бег"},
        "diary": {"what_done": "Раз", "plans": "Два"},
    }
    return act(
        f"{entity}.create" + ("_entry" if entity == "diary" else ""), **least[entity] | params
    )


def whole(entity: str) -> list[dict[str, Any]]:
    """The things of a kind as a snapshot shows them whole, without ids."""
    if entity == "step":
        items = call("get_user_snapshot", goal_id=1)["data"]["goals"]["items"][0]["steps"]
    elif entity == "goal":
        items = [
            call("get_user_snapshot", goal_id=key)["data"]["goals"]["items"][0] for key in (2, 3)
        ]
    else:
        section = "habits" if entity == "habit" else "diary"
        items = call("get_user_snapshot", include=[section])["data"][section]["items"]
    return [{name: value for name, value in item.items() if name != "id"} for item in items]


@pytest.fixture(autouse=True)
def life() -> None:
    do(act("goal.create", title="Первая"))


@pytest.mark.parametrize(("entity", "name"), FIELDS)
def test_a_field_is_stored_said_before_the_yes_and_shown_afterwards(entity: str, name: str):
    plain = creation(entity)
    if name in ("schedule_days", "times", "n", "month_days"):
        plain = creation(entity, frequency_type="weekly")
    full = creation(entity, **WITH.get(name, {}), **{name: SAMPLES[name]})
    assert preview(plain)["message"] != preview(full)["message"]
    assert preview(plain)["diff"]["creates"][-1] != preview(full)["diff"]["creates"][-1] | {
        "client_action_id": preview(plain)["diff"]["creates"][-1]["client_action_id"]
    }

    do(plain, full)
    with store.reading() as db:
        rows = db.execute(f"SELECT * FROM {TABLES[entity]} ORDER BY id DESC LIMIT 2").fetchall()
    columns = [
        column for column in dict(rows[0]) if column == name or column.startswith(f"{name}_")
    ]
    assert columns and all(rows[0][column] != rows[1][column] for column in columns)
    first, second = whole(entity)[-2:]
    assert first != second


@pytest.mark.parametrize(("entity", "name"), FIELDS)
def test_a_field_has_a_name_in_both_languages(entity: str, name: str):
    for column in {"target": ("target_amount", "target_unit")}.get(name, (name,)):
        for language in ("ru", "en"):
            assert texts.table(language).get(f"field.{column}"), f"field.{column}"


@pytest.mark.parametrize("name", [name for name in steps.CONTENT if name != "dt"])
def test_the_next_step_of_a_series_has_every_field_of_the_one_before(name: str):
    series = creation("step", dt="2026-03-18", repeat={"every": "day"}) | {}
    series["params"][name] = SAMPLES[name]
    do(series)
    do(act("step.complete", step_id=1))
    with store.reading() as db:
        done, coming = db.execute(f'SELECT "{name}" FROM steps ORDER BY id').fetchall()
    assert coming[0] is not None and (name == "repeat" or coming[0] == done[0])


def test_a_step_in_a_list_takes_every_field_and_the_page_of_the_answers_names_each():
    every = {name: SAMPLES[name] for name in steps.IN_A_LIST}
    shown = preview(act("step.create", goal_id=1, steps=[every]))
    (row,) = shown["diff"]["creates"][0]["rows"]
    text = (PROJECT / "docs" / "onepercent.md").read_text(encoding="utf-8")
    named = re.search(r"`rows` \[(.*?)\]", re.sub(r"\s+", " ", text))
    assert named and len(named[1].split(", ")) == len(row) == len(every)
    for name in every.keys() - {"title"}:
        less = preview(act("step.create", goal_id=1, steps=[every | {name: None}]))
        assert less["message"] != shown["message"], name


def test_only_goals_and_habits_have_a_place_in_a_list():
    with store.reading() as db:
        unit = UnitOfWork(db, "u", days.now(), days.today())
        steps_of_today = [
            StoredRow("steps", {"id": 1, "place": place}) for place in ("дом", "дача")
        ]
        assert edits(unit, *steps_of_today) == {"place": Edit("дом", "дача")}
