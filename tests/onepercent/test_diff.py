"""The entries of a diff: each kind of change has a sentence, and a JSON that a preview can keep."""

import json
import re
from dataclasses import fields

import pytest

from tests.onepercent.person import (
    accepted,
    act,
    apply,
    call,
    do,
    first_habit,
    mark,
    new_goal,
    new_habit,
    preview,
    undo,
)
from tests.support.client import PROJECT
from tools.onepercent import sentences
from tools.onepercent.base import diff
from tools.onepercent.base.diff import DiffEntry, Thing

STEP = {"title": "Раз", "dt": "2026-03-20", "priority": "attention", "description": None}
MARK = Thing("mark", "Бег", 1, dates=("2026-03-16..2026-03-18",))
SLIPS = Thing("mark", "Кофе", 2, dates=("2026-03-16", "2026-03-18"))
GOAL = Thing("goal", "Дом", 1)

# Every kind of change, with every attribute that it can have.
ENTRIES = [
    diff.Created(GOAL, values={"title": "Дом", "due": "2026-12-20"}, steps=[STEP]),
    diff.Changed(GOAL, xp_reward=-150, changes={"title": diff.Edit("Дом", "Сад"), "due": diff.Edit(None, "2026-03-20")}),
    diff.Grouped(Thing("steps", goal_title="Дом"), count=7, fields=["title"]),
    diff.Grouped(MARK, count=3, noun="mark"),
    diff.Shifted(Thing("steps"), count=1, moves=[("Раз", "2026-03-20", "2026-03-21")], days=1),
    diff.Archived(GOAL, archived=False),
    diff.Paused(Thing("habit", "Бег", 1), pause={"from": "2026-03-20", "to": None, "reason": "отпуск"}),
    diff.Resumed(Thing("habit", "Бег", 1), resumed="2026-03-20"),
    diff.Done(Thing("step", "Раз", 1, "Дом"), xp_reward=25, date="2026-03-17", next="2026-03-19"),
    diff.Marked(MARK, xp_reward=0, count=3, status="missed", excuse_reason="болел",
                replaces={"2026-03-16": "completed"}),
    diff.Marked(MARK, count=3, status="partial", note="в парке", amount=3, added=1,
                target={"amount": 5, "unit": "км"}),
    diff.Deleted(GOAL, step_titles=["Раз", "Два"]),
    diff.Deleted(GOAL, restored=True, step_titles=["Раз", "Два"]),
    diff.Deleted(Thing("habit", "Бег", 1), marks=3, best_streak=2, streak_in="days"),
    diff.Deleted(Thing("step", "Раз", 1, "Дом"), repeat='{"every": "day"}'),
    diff.Deleted(Thing("ssp"), scores={"work": 5}),
    diff.Deleted(SLIPS, status="missed", amount=3, target={"at_most": 2, "unit": "кофе"}),
]  # fmt: skip


def kinds(base):
    return {base}.union(*map(kinds, base.__subclasses__()))


def test_every_kind_of_change_has_a_sentence_and_a_json_to_be_kept():
    assert {type(entry) for entry in ENTRIES} == kinds(DiffEntry) - {DiffEntry}
    for entry in ENTRIES:
        members = entry.as_json()
        assert json.loads(json.dumps(members)) == members
        line = sentences.sentence_of(entry)
        assert entry.thing.title in line.text and line.done and line.page["what"], entry
        assert entry.section in diff.DIFF_SECTIONS
    assert ENTRIES[0].as_json()["rows"] == [["Раз", "2026-03-20"]]


def test_the_page_of_the_answers_names_every_key_of_an_entry():
    keys = {"client_action_id", "category"}
    unset = {field.name for kind in kinds(DiffEntry) for field in fields(kind)} - {"thing"}
    for entry in ENTRIES:
        keys |= entry.as_json().keys() - (entry.values.keys() - {"title"})
        plain = type(entry)(entry.thing)
        unset -= {name for name, value in vars(entry).items() if value != vars(plain)[name]}
    assert unset == set(), "an attribute that no entry above has"

    page = (PROJECT / "docs" / "onepercent.md").read_text("utf-8")
    table = page.partition("## The entries of a diff")[2].partition("##")[0]
    heads = re.findall(r"^\| (`.*?) \|", table, re.M)
    assert set(re.findall("`(.*?)`", "".join(heads))) == keys
    named_edits = table.partition("In `changes`")[2]
    assert all(f"`{name}`" in named_edits for name in ("target", "sum", "list_place", "place"))


def test_what_is_deleted_is_counted_first():
    assert sentences.counts_in_words(ENTRIES) == (
        "Удалить: 1 цель, 3 шага, 1 привычка, 1 сфера, 1 отметка."
        " Изменить: 2 цели, 8 шагов, 3 отметки, 2 привычки."
        " Отметить: 1 шаг, 6 отметок. Создать: 1 цель, 1 шаг. Вернуть: 1 цель, 2 шага."
    )


def test_what_one_action_does_to_many_habits_is_counted_once_it_is_done():
    do(*map(new_habit, "abcd"))
    answer = apply(preview(act("habit.pause", all=True)))
    assert answer["message"] == "✓ Изменено: 4 привычки."


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: type(entry).__name__)
def test_whatever_an_entry_says_makes_it_another_one(entry):
    """Apply compares what it does with what was shown by the JSON alone."""
    plain = type(entry)(entry.thing)
    if isinstance(entry, diff.Shifted):
        plain.moves = [("Раз", "2026-03-20", "2026-03-27")]
    for name, value in vars(entry).items():
        if name != "thing" and value != vars(plain)[name]:
            other = type(entry)(**vars(entry) | {name: vars(plain)[name]})
            assert other.as_json() != entry.as_json(), name


def test_an_undo_names_what_changed_about_a_goal_and_about_its_steps():
    do(new_goal("Дом", steps=["Раз"]))
    do(act("goal.update", 1, due="2026-04-01"), act("step.update", 1, dt="2026-03-20"))
    message = call("undo_last")["message"]
    assert "• Цель «Дом»: срок: 01.04 → —" in message and "• Шаг «Раз»: день: 20.03 → —" in message


def test_what_changed_is_said_whole_once_it_is_done():
    do(new_goal("Дом", steps=[{"title": "Раз", "dt": "2026-03-20"}]))
    answer = apply(preview(act("step.update", 1, title="Два", dt="2026-03-21")))
    assert answer["message"] == "✓ Шаг «Раз»: название: «Раз» → «Два»; 20.03 → 21.03"


def test_a_goal_that_is_reached_again_is_said_as_it_was_the_first_time():
    do(new_goal("Дом"))
    do(act("goal.complete", 1))
    undo()
    assert "• Цель «Дом»: достигнута" in call("undo_last", redo=True)["message"]


def test_a_mark_that_is_taken_off_says_what_it_was():
    do(new_habit("Отжимания", target="10 раз"))
    assert "18 раз, нужно 10" in accepted(mark(1, amount=18))
    assert "• «Отжимания», 18.03: 18 раз, нужно 10 → нет отметки (−10 XP)" in accepted(
        act("habit.unmark", 1)
    )
    assert "• «Отжимания», 18.03: нет отметки → 18 раз, нужно 10" in call("undo_last")["message"]
    assert first_habit()["today_status"] == "pending"
