"""The page of the days, in a real browser, against the real server and its database."""

import datetime
import json

import pytest

from tests.onepercent.page.test_preview_page import HOSTILE, act, do, ends, stays_text

pytestmark = pytest.mark.slow

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
    """Whether each check box is ticked, by the text of its label."""
    pairs = tab.run(
        "[...document.querySelectorAll('label')].map(one => [one.children[1].firstChild.data, one.firstChild.checked])"
    )
    return dict(pairs)


def says(tab, words):
    tab.wait(f"document.getElementById('state').textContent.includes({json.dumps(words)})")


def saved(tab):
    tab.wait("/^Saved($| ·)/.test(document.getElementById('state').textContent)")


def calls(tab):
    return tab.run("calls", host=True)


def test_what_is_due_today_can_be_ticked_off(person):
    tab = person.see("get_user_snapshot")
    assert boxes(tab) == {"Пройти тест": False, "Прочитать главу": False, "Зарядка": False, "Бег": False}
    assert "0 of 4 done" in tab.text() and "Overdue" in tab.text()
    assert calls(tab) == [], "the answer alone draws it"
    tab.press("Пройти тест")
    saved(tab)
    tab.press("Зарядка")
    saved(tab)
    assert boxes(tab)["Пройти тест"] and boxes(tab)["Зарядка"]
    assert "2 of 4 done" in tab.text() and "+10 XP" in tab.text("#state")
    assert person.rows("SELECT title FROM steps WHERE is_complete = 1") == [("Пройти тест",)]
    assert person.rows("SELECT habit_id, status FROM habit_marks") == [(1, "completed")]
    assert [tool for (tool,) in person.rows("SELECT tool FROM audit ORDER BY id")][2:] == [
        "tick_by_press"
    ] * 2
    assert calls(tab) == ["tick_by_press"] * 2
    tab.press("Прочитать главу")
    saved(tab)
    tab.press("Бег")
    tab.wait("/All done! \\+70 XP today/.test(document.body.innerText)")


def test_two_ticks_within_one_round_trip_are_both_saved(person):
    tab = person.see("get_user_snapshot")
    tab.run("given.slow = 300", host=True)
    tab.press("Зарядка")
    tab.press("Бег")
    assert boxes(tab)["Зарядка"] and boxes(tab)["Бег"]
    saved(tab)
    assert person.rows("SELECT count(*) FROM habit_marks WHERE status = 'completed'") == [(2,)]
    assert calls(tab) == ["tick_by_press"] * 2


def test_a_host_that_refuses_leaves_the_page_true_and_alive(person):
    tab = person.see("get_user_snapshot", locale="ru-RU")
    tab.run("given.deny = true", host=True)
    tab.press("Зарядка")
    says(tab, "Не получилось")
    assert boxes(tab)["Зарядка"] is False
    assert "denied" not in tab.text()
    assert tab.run("[...document.querySelectorAll('input')].every(one => !one.disabled)")
    tab.run("given.deny = false", host=True)
    tab.press("Зарядка")
    says(tab, "Отмечено")
    assert boxes(tab)["Зарядка"] is True
    assert person.rows("SELECT count(*) FROM habit_marks") == [(1,)]


def test_a_page_of_another_time_is_said_quietly_and_becomes_todays(person):
    tab = person.see("get_user_snapshot")
    do(person, act("step.complete", step_id=1))  # as another page does
    tab.press("Пройти тест")
    says(tab, "Marked already")
    assert boxes(tab)["Пройти тест"] is True
    tab.run("key = 'yesterday'")
    tab.press("Зарядка")
    says(tab, "this is today")
    assert person.rows("SELECT * FROM habit_marks") == []
    tab.press("Зарядка")
    saved(tab)
    assert boxes(tab)["Зарядка"] is True


def test_a_box_of_the_last_days_takes_a_late_mark_an_excuse_and_its_removal(person):
    do(person, act("habit.update", habit_id=2, target={"amount": 5, "unit": "км"}))
    tab = person.see("get_user_snapshot")
    late = "#b1-2"
    for label, status in (("Done", "completed"), ("Missed", "missed")):
        tab.click(late)
        tab.press(label)
        saved(tab)
        assert person.rows("SELECT date, status FROM habit_marks") == [(today(-1), status)]
    tab.click(late)
    tab.run("document.querySelector('.panel input').value = 'болел'")
    tab.press("Excused")
    saved(tab)
    assert person.rows("SELECT excuse_reason FROM habit_marks") == [("болел",)]
    assert "Excused" in tab.run(f"document.querySelector('{late}').title")
    tab.click(late)
    tab.press("Unmark")
    saved(tab)
    assert person.rows("SELECT count(*) FROM habit_marks") == [(0,)]
    tab.click("#b2-1")
    tab.run("document.querySelector('.panel input').value = '2'")
    tab.press("Add")
    saved(tab)
    assert person.rows("SELECT status, amount FROM habit_marks") == [("partial", 2.0)]
    assert "2 of 5 км" in tab.text()


def test_another_day_is_turned_to_and_ticked(person):
    tab = person.see("get_user_snapshot")
    tab.click("#turn-1")
    tab.wait("data.day !== data.today")
    tab.click("summary")  # before they began, nothing was due
    tab.press("Зарядка")
    saved(tab)
    assert person.rows("SELECT date FROM habit_marks") == [(today(-1),)]
    assert boxes(tab) == {"Зарядка": True, "Бег": False}
    tab.press("Today")
    tab.wait("data.day === data.today")
    assert "Прочитать главу" in tab.text()


QUESTIONS = [
    ({"find": "бег"}, "Found: 1", "Бег", 0),
    ({"include": ["diary"]}, "Diary", "Пробежал пять", 0),
    ({"include": ["history"], "date_from": today(-20), "date_to": today(-1)}, "–", "Зарядка", 0),
    ({"goal_id": 1}, "Выучить Python", "Пройти тест", 2),
    ({"date_from": today(-2), "date_to": today(-2), "include": ["schedule"]}, "", "Прочитать главу", 3),
    ({"include": ["habits", "schedule", "xp"]}, "", "Overdue", 4),
]


@pytest.mark.parametrize(("question", "head", "shown", "count"), QUESTIONS)
def test_the_page_answers_what_was_asked_without_another_call(person, question, head, shown, count):
    do(person, act("diary.create_entry", what_done="Пробежал пять"))
    tab = person.see("get_user_snapshot", arguments=question)
    assert head in tab.text("h1") and shown in tab.text()
    assert (len(boxes(tab)), calls(tab)) == (count, [])


def test_the_weeks_stand_as_a_calendar_beside_those_before(person):
    do(person, act("habit.mark_completed", habit_id=1, dates=[today(-day) for day in range(1, 5)]))
    tab = person.see("get_user_snapshot")
    label = tab.run(f"document.querySelector('.month [title^=\"' + day('{today(-1)}') + '\"]').title")
    assert label.endswith("habits 1 of 1, +10 XP, steps: 0")
    rows = tab.run("[...document.querySelectorAll('tr')].map(one => one.innerText.replace(/\\s+/g, ' '))")
    assert rows[:2] == ["Habits 100% ▲ 100%", "XP 40 ▲ 40"]
    assert "4 days in a row" in tab.text()
    tab.click(f".month [title^='{tab.run(f'''day('{today(-1)}')''')}']")
    tab.wait("data.day !== data.today")


def test_the_days_work_by_keyboard_alone(person):
    tab = person.see("get_user_snapshot", width=320)
    tab.run("document.getElementById('s2').focus()")
    tab.key(" ")
    saved(tab)
    assert tab.run("document.activeElement.id") == "s2"
    tab.run("document.getElementById('b1-2').focus()")
    tab.key("Enter")
    tab.key("Tab")
    assert tab.run("document.activeElement.className") != "panel"
    assert tab.run("document.documentElement.scrollWidth") <= 320


def test_who_may_not_tick_sees_the_days(person, sit):
    """Of a read-only server; in a host that hands no private data on, or lets a page call nothing."""
    tab = sit(MCP_READ_ONLY="1", ONEPERCENT_DB=str(person.file)).see("get_user_snapshot")
    assert len(boxes(tab)) == 4
    assert tab.run("[...document.querySelectorAll('input')].every(one => one.disabled)")
    person.host.private = False
    tab = person.see("get_user_snapshot")
    tab.wait("document.querySelectorAll('label').length === 4")
    assert calls(tab) == ["get_user_snapshot"]
    assert "Зарядка" in person.see("get_user_snapshot", mute="yes").text()


def test_hostile_names_stay_text(person):
    do(person, act("habit.create", name=HOSTILE[:200]))
    stays_text(person.see("get_user_snapshot", width=320))


def test_a_new_language_and_theme_redraw_it(person):
    tab = person.see("get_user_snapshot", locale="ru-RU")
    assert "Просрочено" in tab.text()
    tab.run(
        "send({ method: 'ui/notifications/host-context-changed', params: { locale: 'en', theme: 'dark' } })",
        host=True,
    )
    ends(tab, "day")
    assert "Overdue" in tab.text()


def test_a_person_who_has_nothing_yet_sees_a_first_step(sit):
    tab = sit().see("get_user_snapshot", locale="ru-RU")
    assert boxes(tab) == {}
    tab.press("Хочу каждый день")
    tab.wait("model.length === 1", host=True)
    assert tab.run("model", host=True) == ["Хочу каждый день читать 20 минут"]
