"""What axe-core, the checker of accessibility, says of the pages."""

import json

import pytest

from tests.onepercent.page.test_days_page import today
from tests.onepercent.page.test_preview_page import HOSTILE, create
from tests.onepercent.page.test_report import lived
from tests.onepercent.person import (
    complete,
    mark,
    miss,
    new_entry,
    new_goal,
    new_habit,
    new_step,
    run,
)
from tools.http.sign_in import code_form

pytestmark = pytest.mark.slow


def in_both_themes(tab, axe):
    """What axe finds in the light and in the dark; one test for both, since each that lacks npm is skipped."""
    violations = []
    for theme in ("dark", "light"):
        message = {"method": "ui/notifications/host-context-changed", "params": {"theme": theme}}
        tab.run(f"send({json.dumps(message)})", host=True)
        tab.wait(f"getComputedStyle(document.documentElement).colorScheme === '{theme}'")
        violations += axe(tab)
    return violations


def test_the_page_of_a_preview_has_no_violation(sit, axe):
    person = sit()
    actions = [
        create(HOSTILE[:500]),
        new_habit("Бег", frequency_type="custom", schedule_days=[1, 3]),
        complete(7),
    ]
    tab = person.offer(*actions)
    assert in_both_themes(tab, axe) == []
    tab.press("Применить")
    tab.wait("document.querySelector('h1').textContent.startsWith('Применено')")
    assert in_both_themes(tab, axe) == []


def test_the_page_of_the_days_has_no_violation(sit, axe):
    person = sit()
    habits = [new_habit(HOSTILE[:200]), new_habit("Бег", frequency_type="weekly")]
    person.do(create(), new_step("s", dt=today()), *habits)
    person.do(mark(1), miss(1, date=today(-1), excuse_reason="x"))
    tab = person.days()
    assert in_both_themes(tab, axe) == []
    tab.click("#n2")
    tab.wait("document.querySelector('.panel')")
    assert in_both_themes(tab, axe) == []
    tab.resize(360 // 2, 2)
    tab.wait("innerWidth === 180")
    assert tab.run("document.documentElement.scrollWidth") <= 180


def test_what_else_is_asked_and_nothing_yet_have_no_violation(sit, axe):
    person = sit()
    assert axe(person.days("en-GB")) == []
    person.do(new_goal("Дом"), new_step("s", dt=today()))
    person.do(new_habit("Бег"), new_entry(what_done="x"))
    person.do(mark(1, dates=[today(-1), today()]))
    period = {
        "include": ["history", "schedule", "diary"],
        "date_from": today(-6),
        "date_to": today(6),
    }
    for question in (period, {"goal_id": 1}, {"goal_id": 9}, {"find": "Бег"}, {"include": ["ssp"]}):
        assert axe(person.days("en-GB", arguments=question, width=390)) == [], question


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_report_has_no_violation(scheme, browser, axe, tmp_path):
    lived()
    run("report", tmp_path / "r.html", "--from", "2026-03-01")
    tab = browser.open((tmp_path / "r.html").as_uri())
    tab.send(
        "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}]
    )
    tab.wait("document.querySelector('.habit')", host=True)
    assert axe(tab, host=True) == []
    tab.close()


@pytest.mark.parametrize("lang", ["en", "ru"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_of_a_sign_in_has_no_violation_and_fits_a_phone(
    lang, scheme, browser, axe, tmp_path
):
    host = "a-host-with-a-name-of-many-letters.connectors.example.com"
    far = ("Claude" * 9, f"https://{host}")
    forms = (
        ("asks", "", "", *far),
        ("wrong", "wrong", 'AB"><script>', *far),
        ("day", "", "", "OnePercent"),
        ("other", "other", "ABCD-EFGH", "OnePercent"),
    )
    for look, problem, typed, *client in forms:
        file = tmp_path / "sign_in.html"
        file.write_bytes(code_form({"lang": lang, "code": typed}, problem, *client)[2])
        tab = browser.open(file.as_uri(), width=390)
        tab.send(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )
        tab.wait("document.querySelector('button')", host=True)
        tab.picture(tmp_path / f"sign_in-{lang}-{scheme}-{look}.png")
        assert tab.run("document.documentElement.scrollWidth", host=True) == 390
        assert tab.run("document.querySelector('input').value", host=True) == typed, (
            "what was typed stays"
        )
        assert axe(tab, host=True) == []
        ground = tab.run("getComputedStyle(document.body).backgroundColor", host=True)
        assert (ground == "rgb(38, 38, 36)") is (scheme == "dark")
        tab.close()
