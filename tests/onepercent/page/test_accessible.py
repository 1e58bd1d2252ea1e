"""What axe-core, the checker of accessibility, says of the pages."""

import json
import re

import pytest

from tests.onepercent.page import npm
from tests.onepercent.page.test_days_page import today
from tests.onepercent.page.test_preview_page import HOSTILE, act, create, do
from tests.onepercent.page.test_report import lived, report
from tests.onepercent.page.test_screenshots import live
from tools.http.sign_in import form

pytestmark = pytest.mark.slow

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
    tab.wait("document.querySelector('h1').textContent.startsWith('Применено')")
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


def test_the_day_is_in_one_language(sit):
    person = sit()
    live(person)
    tab = person.see("get_user_snapshot", locale="ru-RU")
    own = ("Python", "Voron", "input shaper", "XP")
    text = tab.text() + " ".join(tab.run("[...document.querySelectorAll('[title]')].map(one => one.title)"))
    for words in own:
        text = text.replace(words, "")
    assert re.findall("[A-Za-z]{2,}", text) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_report_has_no_violation(scheme, browser, axe, tmp_path):
    lived()
    report(tmp_path / "r.html", "--from", "2026-03-01")
    tab = browser.open((tmp_path / "r.html").as_uri())
    tab.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    tab.wait("document.querySelector('.habit')", host=True)
    end(tab, axe)


def end(tab, axe):
    """Check a page that has no host around it, and close it."""
    tab.run(f"(() => {{ {axe} }})()", host=True)
    found = "axe.run(document).then(({ violations }) => violations.map(one => [one.id, one.nodes[0].html]))"
    assert tab.run(found, host=True) == []
    tab.close()


@pytest.mark.parametrize("lang", ["en", "ru"])
def test_the_page_of_a_sign_in_has_no_violation_and_fits_a_phone(lang, browser, axe, tmp_path):
    scope = {"onepercent", "klipper:read", "printer", "anki", "search", "server:read"}
    host = "a-host-with-a-name-of-many-letters.connectors.example.com"
    for look, problem, allowed in (("asks", "", scope), ("wrong", "wrong", scope), ("closed", "wait", set())):
        (tmp_path / "sign_in.html").write_text(form(lang, "Claude" * 9, host, allowed, problem), encoding="utf-8")
        tab = browser.open((tmp_path / "sign_in.html").as_uri(), width=390)
        tab.wait("document.querySelector('button')", host=True)
        tab.picture(tmp_path / f"sign_in-{lang}-{look}.png")
        assert tab.run("[innerWidth, document.documentElement.scrollWidth]", host=True) == [390, 390]
        end(tab, axe)
