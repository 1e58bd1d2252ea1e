"""Each tool with a page, through each shape of its success: none is drawn as a failure."""

import pytest

from tests.onepercent.page.test_days_page import today
from tests.onepercent.person import (
    act,
    complete,
    mark,
    miss,
    new_entry,
    new_goal,
    new_habit,
    new_step,
)
from tests.support.pages import is_drawn
from tools.core import registry
from tools.core.tool import TOOLS
from tools.onepercent.get_user_snapshot import Section, Status

# The tools with a page: those of OnePercent are walked here, Anki's in tests/anki/studying, the printer's in
# tests/printer.
WALKED = {
    "get_user_snapshot",
    "preview_actions",
    "undo_last",
    "anki.due",
    "anki.stats",
    "printer_state",
    "printer_log",
    "printer_resonances",
    "check_config",
}


def test_each_tool_with_a_page_is_walked():
    registry.load()
    assert {tool.name for tool in TOOLS.values() if tool.page and not tool.app_only} == WALKED


@pytest.fixture
def person(sit):
    """Somebody with one of each thing, also archived and done ones."""
    person = sit(
        new_goal("Learn Python", due=today(30)),
        new_goal("Old"),
        new_step("Install it", 1, dt=today()),
        new_step("Read a book", 1, dt=today(-3)),
        new_step("Write a bot", 1, dt=today(3)),
        new_habit("Run"),
        new_habit("Sauna", frequency_type="weekly"),
        new_habit("Water", target={"amount": 2, "unit": "l"}),
        new_habit("Old habit"),
        new_entry(what_done="Wrote a test"),
        act("ssp.rate", category="health_sport", score=9),
    )
    person.do(
        act("goal.archive", 2),
        act("habit.archive", 4),
        mark(1, dates=[today(-1), today()]),
        complete(2),
    )
    return person


@pytest.mark.slow
def test_every_question_about_a_life_has_a_drawing(person):
    sections = Section.__args__
    questions = [{}, {"picture": True}, {"find": "Python"}, {"find": "zebra"}]
    questions += [{"include": [section]} for section in sections] + [{"include": [*sections]}]
    questions += [{"goals_status": status} for status in Status.__args__]
    questions += [{"goal_id": 1}, {"goal_id": 2}, {"goal_id": 1, "include": ["steps"]}]
    spans = [(-1, -1), (1, 1), (-6, 0), (-6, 6), (-40, 0), (-100, 0), (-366, 0), (0, 100), (7, 14)]
    for first, last in spans:
        span = {"date_from": today(first), "date_to": today(last)}
        questions += [span | {"include": [part]} for part in ("history", "schedule", "diary")]
    for question in questions:
        if not person.ask("get_user_snapshot", **question)["success"]:
            continue  # history of days of which nothing is kept
        tab = person.days("en-GB", arguments=question)
        is_drawn(tab)
        tab.close()
        person.tabs.remove(tab)


@pytest.mark.slow
def test_every_preview_and_every_way_back_has_a_drawing(person):
    previews = [
        [new_goal("New")],
        [act("goal.delete", 1)],
        [miss(3, excuse_reason="ill"), act("habit.unmark", 1)],
        [act("step.create", goal_id=1, steps=[{"title": f"{number}"} for number in range(30)])],
        [act("habit.update", 1, name="Walk"), act("step.reopen", 2)],
        [new_entry(what_done="x"), act("ssp.rate", category="health_sport", score=3)],
    ]
    for actions in previews:
        is_drawn(person.offer(*actions, locale="en-GB"))
    mixed = [new_goal("New"), complete(99)]
    is_drawn(person.see("preview_actions", arguments={"actions": mixed, "partial": True}))
    for arguments in ({}, {"list": True}):
        is_drawn(person.see("undo_last", arguments=arguments))
    person.do(new_goal("Newer"))
    is_drawn(person.see("undo_last", arguments={"number": 2}))
    tab = person.see("undo_last")
    tab.press("Put back")
    tab.wait("/Put back/.test(document.querySelector('h1').textContent)")
    is_drawn(person.see("undo_last", arguments={"redo": True}))
    is_drawn(person.see("undo_last", arguments={"list": True}))
