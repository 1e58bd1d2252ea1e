"""The page of the days, in a real browser, against the real server and its database."""

import datetime
import json

import pytest

from tests.onepercent.page.test_preview_page import HOSTILE, act, do, ends

DATABASE_TODAY = datetime.datetime.now(datetime.timezone.utc).date()


def today(days=0):
    return (DATABASE_TODAY + datetime.timedelta(days)).isoformat()


@pytest.fixture
def person(sit):
    """Somebody with a step for today, an overdue one and two habits."""
    someone = sit()
    do(
        someone,
        act("goal.create", title="Выучить Python"),
        act("step.create", goal_id=None, title="Пройти тест", dt=today()),
        act("step.create", goal_id=None, title="Прочитать главу", dt=today(-2)),
        act("habit.create", name="Зарядка"),
        act("habit.create", name="Бег"),
    )
    return someone


def boxes(tab):
    """Whether each check box is ticked, by its label's first line."""
    pairs = tab.run(
        "[...document.querySelectorAll('label')].map(one => [one.children[1].innerText, one.firstChild.checked])"
    )
    return dict(pairs)


def saved(tab):
    tab.wait("document.getElementById('state').textContent === 'Saved.'")


def test_what_is_due_today_can_be_ticked_off(person):
    tab = person.see("get_user_snapshot")
    assert boxes(tab) == {"Пройти тест": False, "Прочитать главу": False, "Зарядка": False, "Бег": False}
    tab.press("Пройти тест")
    saved(tab)
    tab.press("Зарядка")
    saved(tab)
    assert boxes(tab)["Пройти тест"] and boxes(tab)["Зарядка"]
    assert "35 XP" in tab.text()
    assert person.rows("SELECT title FROM steps WHERE is_complete = 1") == [("Пройти тест",)]
    assert person.rows("SELECT habit_id, status FROM habit_marks") == [(1, "completed")]
    assert [tool for (tool,) in person.rows("SELECT tool FROM audit ORDER BY id")][2:] == ["tick_by_press"] * 2


def test_no_heading_of_the_table_is_broken_on_a_narrow_screen(person):
    tab = person.see("get_user_snapshot", width=320, locale="ru-RU")
    tab.wait("document.querySelector('thead')")
    lines = """[...document.querySelectorAll('thead th')].map(heading => {
        const range = document.createRange()
        range.selectNodeContents(heading)
        return new Set([...range.getClientRects()].map(box => box.top)).size
    })"""
    assert tab.run(lines) == [1, 1]
    assert tab.run("document.documentElement.scrollWidth") <= 320


def test_the_days_work_by_keyboard_alone(person):
    tab = person.see("get_user_snapshot", width=320)
    for pressed in ("head", "s1"):  # the overdue step, which is gone once it is done, then today's
        tab.key("Tab")
        tab.key(" ")
        saved(tab)
        assert tab.run("document.activeElement.id") == pressed
    assert person.rows("SELECT count(*) FROM steps WHERE is_complete = 1") == [(2,)]
    assert tab.run("document.documentElement.scrollWidth") <= 320


def test_a_tick_that_fails_is_said_and_the_page_shows_what_is_true(person):
    tab = person.see("get_user_snapshot")
    do(person, act("step.complete", step_id=1))
    tab.press("Пройти тест")
    tab.wait("document.getElementById('state').textContent.includes('did not work')")
    assert boxes(tab)["Пройти тест"] is True


def test_the_last_weeks_stand_beside_those_before(person):
    do(person, *(act("habit.mark_completed", habit_id=1, date=today(-day)) for day in range(1, 5)))
    tab = person.see("get_user_snapshot")
    assert tab.run("document.querySelector('.marks').ariaLabel") == "Зарядка: 4 of 4, in a row 4"
    assert tab.run("[...document.querySelectorAll('.marks')].map(one => one.querySelectorAll('i').length)") == [28, 28]
    rows = tab.run("[...document.querySelectorAll('tr')].map(one => one.innerText.split('\\t'))")
    assert rows == [
        ["", "Before", "Now"],
        ["XP", "0", "40"],
        ["Habits", "–", "100%"],
        ["Steps", "0", "0"],
        ["Days with a diary", "0", "0"],
    ]


def test_a_key_of_another_day_is_refused(person):
    tab = person.see("get_user_snapshot")
    tab.run("key = 'yesterday'")
    tab.press("Зарядка")
    tab.wait("document.getElementById('state').textContent.includes('did not work')")
    assert person.rows("SELECT * FROM habit_marks") == []


def test_a_read_only_server_shows_the_days_and_takes_no_tick(person, sit):
    tab = sit(MCP_READ_ONLY="1", ONEPERCENT_DB=str(person.file)).see("get_user_snapshot")
    assert len(boxes(tab)) == 4
    assert tab.run("[...document.querySelectorAll('input')].every(one => one.disabled)")


def test_a_host_without_tools_shows_what_it_was_given(person):
    sections = json.dumps({"include": ["habits", "schedule", "xp"]})
    tab = person.see("get_user_snapshot", arguments=json.loads(sections), mute="yes")
    assert "Зарядка" in tab.text()


def test_hostile_names_stay_text(person):
    do(person, act("habit.create", name=HOSTILE[:200]))
    tab = person.see("get_user_snapshot", width=320)
    assert "<img src=x" in tab.text()
    assert tab.run("document.querySelectorAll('img, main script').length") == 0
    assert "run" not in tab.run("seen", host=True)
    assert tab.run("document.documentElement.scrollWidth") <= 320


def test_a_new_language_and_theme_redraw_it(person):
    tab = person.see("get_user_snapshot", locale="ru-RU")
    assert tab.text("h1").startswith("Сегодня") or tab.text("h1").startswith("сегодня")
    tab.run(
        "send({ method: 'ui/notifications/host-context-changed', params: { locale: 'en', theme: 'dark' } })", host=True
    )
    ends(tab, "oday")


def test_a_person_who_has_nothing_yet_sees_an_empty_day(sit):
    tab = sit().see("get_user_snapshot")
    tab.wait("document.querySelector('progress')")
    assert boxes(tab) == {}
    assert tab.run("document.querySelector('#body > p:not([class])').textContent") == "Nothing due today"
