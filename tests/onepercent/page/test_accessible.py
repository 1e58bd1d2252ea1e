"""What axe-core, the checker of accessibility, says of the pages."""

import json

import pytest

from tests.onepercent.page import npm
from tests.onepercent.page.test_days_page import today
from tests.onepercent.page.test_preview_page import HOSTILE, act, create, do

AXE = "axe-core@4.14.1"


@pytest.fixture(scope="session")
def axe(tmp_path_factory):
    folder = npm.install(tmp_path_factory.mktemp("axe"), AXE)
    return (folder / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


def violations(tab, axe):
    """What it finds in the light and in the dark; one test for both, since each that lacks npm is skipped."""
    found = []
    tab.run(f"(() => {{ {axe} }})()")
    for theme in ("dark", "light"):
        message = {"method": "ui/notifications/host-context-changed", "params": {"theme": theme}}
        tab.run(f"send({json.dumps(message)})", host=True)
        tab.wait(f"getComputedStyle(document.documentElement).colorScheme === '{theme}'")
        tab.run("axe.run(document).then(found => { window.found = found.violations })")
        found += tab.run("found.map(one => [one.id, one.nodes.map(node => node.html)])")
    return found


def test_the_page_of_a_preview_has_no_violation(sit, axe):
    person = sit()
    actions = [
        *create(HOSTILE[:500])["actions"],
        act("habit.create", name="Бег", frequency_type="custom", schedule_days=[1, 3]),
        act("step.complete", step_id=7),
    ]
    tab = person.see("preview_actions", arguments={"actions": actions}, locale="ru-RU")
    assert violations(tab, axe) == []
    tab.press("Применить")
    tab.wait("document.querySelector('h1').textContent === 'Применено'")
    assert violations(tab, axe) == []


def test_the_page_of_the_days_has_no_violation(sit, axe):
    person = sit()
    habits = [act("habit.create", name=HOSTILE[:200]), act("habit.create", name="Бег", frequency_type="weekly")]
    do(person, *create()["actions"], act("step.create", goal_id=None, title="s", dt=today()), *habits)
    do(
        person,
        act("habit.mark_completed", habit_id=1),
        act("habit.mark_missed", habit_id=1, date=today(-1), excuse_reason="x"),
    )
    tab = person.see("get_user_snapshot", locale="ru-RU")
    assert violations(tab, axe) == []
    tab.resize(360 // 2, 2)
    tab.wait("innerWidth === 180")
    assert tab.run("document.documentElement.scrollWidth") <= 180
