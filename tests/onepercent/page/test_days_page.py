"""The page of the days, in a real browser, against the real server and its database."""

import datetime
import json

import pytest

from tests.onepercent.page.test_preview_page import HOSTILE, ends, stays_text
from tests.onepercent.person import act, complete, mark, new_entry, new_goal, new_habit, new_step

pytestmark = pytest.mark.slow


def database_day(days=0):
    return datetime.datetime.now(datetime.timezone.utc).date() + datetime.timedelta(days)


def today(days=0):
    return database_day(days).isoformat()


@pytest.fixture
def person(sit):
    """Somebody with a step for today, an overdue one and two habits."""
    return sit(
        new_goal("Выучить Python"),
        new_step("Пройти тест", dt=today()),
        new_step("Прочитать главу", dt=today(-2)),
        new_habit("Зарядка"),
        new_habit("Бег"),
    )


def boxes(tab):
    """Whether each step and each habit is ticked, by its title."""
    steps = "[...document.querySelectorAll('label')].map(it => [it.children[1].firstChild.data, it.firstChild.checked])"
    habits = "[...document.querySelectorAll('.tick')].map(it => [it.ariaLabel, it.ariaPressed === 'true'])"
    return dict(tab.run(steps) + tab.run(habits))


def says(tab, words):
    tab.wait(f"document.getElementById('state').textContent.includes({json.dumps(words)})")


def saved(tab):
    tab.wait("/^(Saved|Отмечено)($| ·)/.test(document.getElementById('state').textContent)")


def tick(tab, selector):
    """Press it, and wait until that is saved."""
    tab.click(selector)
    saved(tab)


def keys(tab, *names):
    for name in names:
        tab.key(name)


def focus(tab):
    return tab.run("document.activeElement.id")


def calls(tab):
    return tab.run("calls", host=True)


def test_what_is_due_today_can_be_ticked_off(person):
    tab = person.days("en-GB")
    names = ("Пройти тест", "Прочитать главу", "Зарядка", "Бег")
    assert boxes(tab) == dict.fromkeys(names, False)
    assert tab.text("#ring") == "0/4" and "Overdue" in tab.text()
    assert calls(tab) == [], "the answer alone draws it"
    tab.press("Пройти тест")
    saved(tab)
    tick(tab, "#h1")
    assert boxes(tab)["Пройти тест"] and boxes(tab)["Зарядка"]
    assert tab.text("#ring") == "2/4" and "+10 XP" in tab.text("#state")
    assert person.rows("SELECT title FROM steps WHERE is_complete = 1") == [("Пройти тест",)]
    assert person.rows("SELECT habit_id, status FROM habit_marks") == [(1, "completed")]
    assert person.rows("SELECT tool FROM audit ORDER BY id")[2:] == [("tick_by_press",)] * 2
    assert calls(tab) == ["tick_by_press"] * 2
    tab.press("Прочитать главу")
    saved(tab)
    tick(tab, "#h2")
    assert tab.text("#ring") == "4/4"
    tab.run("draw()")
    assert "All done: +70 XP" in tab.text("#state")


def test_two_ticks_within_one_round_trip_are_both_saved(person):
    tab = person.days("en-GB")
    tab.run("given.slow = 300", host=True)
    tab.click("#h1")
    tab.click("#h2")
    assert boxes(tab)["Зарядка"] and boxes(tab)["Бег"]
    saved(tab)
    assert person.rows("SELECT count(*) FROM habit_marks WHERE status = 'completed'") == [(2,)]
    assert calls(tab) == ["tick_by_press"] * 2


def test_a_page_of_another_time_is_said_quietly_and_becomes_todays(person):
    tab = person.days("en-GB")
    person.do(complete(1))  # as another page does
    tab.press("Пройти тест")
    saved(tab)
    assert boxes(tab)["Пройти тест"] is True
    tab.run("(key = 'yesterday', data.day = data.today = '2020-01-01')")
    tab.click("#h1")
    says(tab, "did not work")
    assert person.rows("SELECT * FROM habit_marks") == []
    assert tab.run("data.day === data.today") and boxes(tab)["Зарядка"] is False
    tick(tab, "#h1")
    assert boxes(tab)["Зарядка"] is True


def fill_in(tab, field, text):
    """Type into a field of the panel and press Enter."""
    tab.run(f"document.getElementById('{field}').focus()")
    tab.type(text)
    tab.key("Enter")


def test_what_is_ticked_stays_under_the_thumb_until_the_day_is_looked_at_again(person):
    """An overdue step is today's once it is done; a habit that was not due is, once it is marked."""
    other_day = (database_day().isoweekday() % 7) + 1
    person.do(new_step("Ещё одно", 1, dt=today(-1)))
    person.do(new_habit("Баня", frequency_type="custom", schedule_days=[other_day]))
    person.do(new_habit("Сон"))
    tab = person.days("en-GB", width=390)
    places = "[...document.querySelectorAll('input, .tick')].map(it => [it.id, it.getBoundingClientRect().top])"
    before = tab.run(places)
    assert "Not due" in tab.text()
    for target in ("s2", "h3"):
        tick(tab, f"#{target}")
        assert tab.run(places) == before
    assert "Overdue\n1" in tab.text(), "one of two is left"
    tab.click(f"#t{today()}")
    order = "[...document.querySelectorAll('input, .tick')].map(it => it.id).join()"
    tab.wait(f"{order} !== '{','.join(name for name, _ in before)}'")


def test_a_thumb_finds_every_button(person):
    person.do(new_habit("Баня"))
    tab = person.days("en-GB", width=390)
    tab.click("#n1")
    assert too_small(tab) == []
    size = "parseFloat(getComputedStyle(document.querySelector('.panel input')).fontSize)"
    assert tab.run(size) >= 16, "a phone would zoom in"


def too_small(tab):
    """The buttons, fields and lines to press that are less than 44 pixels high."""
    pressed = "[...document.querySelectorAll('button, label, summary, input:not(label input)')]"
    measured = f"{pressed}.map(it => [it.id || it.innerText, it.getBoundingClientRect().height])"
    return [(name, height) for name, height in tab.run(measured) if height < 44]


def test_a_habit_takes_a_late_mark_an_excuse_an_amount_and_their_removal(person):
    person.do(act("habit.update", 2, target={"amount": 5, "unit": "км"}))
    person.do(mark(1, date=today(-2)))
    tab = person.days("en-GB")
    tab.click(f"#t{today(-1)}")
    tab.wait("data.day !== data.today")
    tick(tab, "#h1")
    assert (today(-1), "completed") in person.rows("SELECT date, status FROM habit_marks")
    mark_of = f"SELECT status, excuse_reason FROM habit_marks WHERE date = '{today(-1)}'"
    tab.click("#n1")
    tab.press("Missed")
    saved(tab)
    assert person.rows(mark_of) == [("missed", None)]
    tab.click("#n1")
    fill_in(tab, "e", "болел")
    saved(tab)
    assert person.rows(mark_of) == [("missed", "болел")]
    assert tab.run("signOf(data.habits[0])") == "e"
    tab.click("#n1")
    tab.press("Unmark")
    saved(tab)
    assert person.rows("SELECT date FROM habit_marks") == [(today(-2),)]
    tab.click(f"#t{today()}")
    tab.wait("data.day === data.today")
    tab.click("#n2")
    fill_in(tab, "Add", "2")
    saved(tab)
    water = "SELECT status, amount FROM habit_marks WHERE habit_id = 2"
    assert person.rows(water) == [("partial", 2.0)]
    assert "2/5 км" in tab.text()


def test_an_amount_that_is_none_is_not_sent_and_a_tick_elsewhere_keeps_what_is_typed(person):
    person.do(act("habit.update", 2, target={"amount": 5, "unit": "км"}))
    tab = person.days("en-GB")
    tab.click("#n2")
    fill_in(tab, "Add", "-3")
    tab.run("document.getElementById('e').focus()")
    tab.type("болел")
    tick(tab, "#h1")
    assert tab.run("document.getElementById('e').value") == "болел"
    assert person.rows("SELECT habit_id FROM habit_marks") == [(1,)]


@pytest.mark.parametrize(
    "question, head, text, count",
    [
        ({"find": "Бег"}, "Бег: 1", "Бег", 0),
        ({"include": ["diary"]}, "", "Diary\n", 0),
        ({"include": ["history"], "date_from": today(-20), "date_to": today()}, "–", "Зарядка", 0),
        ({"goal_id": 1}, "Выучить Python", "Пройти тест", 2),
        (
            {"date_from": today(-2), "date_to": today(-2), "include": ["schedule"]},
            "",
            "Прочитать главу",
            3,
        ),
        ({"include": ["habits", "schedule", "xp"]}, "", "Overdue", 4),
    ],
)
def test_the_page_answers_what_was_asked_without_another_call(person, question, head, text, count):
    person.do(new_entry(what_done="Пробежал пять"))
    tab = person.days("en-GB", arguments=question)
    assert head in tab.text("h1") and text in tab.text()
    assert (len(boxes(tab)), calls(tab)) == (count, [])


def test_the_weeks_stand_as_a_calendar_beside_those_before(person):
    person.do(mark(1, dates=[today(-day) for day in range(1, 5)]))
    tab = person.days("en-GB")
    cell = f".cal [id='{today(-1)}']"
    assert tab.run(f'document.querySelector("{cell}").title').endswith(": 100%")
    assert "100% in" in tab.text() and "▲" not in tab.text(), "there is nothing to compare with"
    tab.click("#m1")
    assert "40 in" in tab.text() and "4 days in a row" in tab.text()
    tab.click(cell)
    tab.wait("data.day !== data.today")


def test_a_morning_by_keyboard_has_one_tab_stop_a_row(person):
    person.do(act("habit.update", 1, target={"amount": 5, "unit": "км"}))
    tab = person.days("en-GB", width=320)
    assert tab.run("document.querySelector('nav').ariaLabel") == "Days"

    # A stop for each row.
    stops = []
    while not stops or tab.run("document.activeElement !== document.body"):
        tab.key("Tab")
        stops.append(focus(tab))
        assert len(stops) < 30
    assert stops[:-1] == [f"t{today()}", "s2", "s1", "h1", "h2", *stops[5:-1]]
    assert len(stops) <= 10, "a month and its metrics are a stop each, and tomorrow"

    # A step is ticked off, an amount added.
    tab.run("document.getElementById('s2').focus()")
    tab.key(" ")
    saved(tab)
    assert focus(tab) == "s2"
    keys(tab, "Tab", "Tab", "ArrowLeft")
    assert focus(tab) == "n1"
    keys(tab, "Enter")
    assert tab.run("document.activeElement.closest('.panel') !== null")
    keys(tab, "Tab")
    assert focus(tab) == "Add"
    tab.type("2")
    tab.key("Enter")
    saved(tab)
    assert person.rows("SELECT amount FROM habit_marks") == [(2.0,)]

    # The day before, and an excuse on it.
    tab.run(f"document.getElementById('t{today()}').focus()")
    keys(tab, "ArrowLeft", "Enter")
    tab.wait("data.day !== data.today")
    assert focus(tab) == f"t{today(-1)}"
    tab.run("document.getElementById('h2').focus()")
    keys(tab, "ArrowLeft", "Enter", "Tab")
    assert focus(tab) == "e"
    tab.type("болел")
    tab.key("Enter")
    saved(tab)
    reasons = person.rows("SELECT habit_id, date, excuse_reason FROM habit_marks WHERE xp = 0")
    assert (2, today(-1), "болел") in reasons

    assert tab.run("document.activeElement !== document.body"), "focus is not lost"
    assert tab.run("document.documentElement.scrollWidth") <= 320


def test_sixty_habits_and_sixty_steps_fold(sit):
    person = sit(new_goal("Дом"))
    for part in range(4):
        steps = [{"title": f"Шаг {part} {number}", "dt": today()} for number in range(15)]
        habits = [new_habit(f"Привычка {part} {number}") for number in range(15)]
        person.do(act("step.create", goal_id=1, steps=steps), *habits)
    tab = person.days("en-GB", width=390)
    assert tab.text("#ring") == "0/120"
    assert tab.run("document.documentElement.scrollHeight") <= 2500
    tab.click("#mores")
    is_whole = "innerHeight >= document.documentElement.scrollHeight"
    tab.wait(f"document.querySelector('details').open && {is_whole}")
    tick(tab, "#s60")
    assert tab.run("document.querySelector('details').open"), "what is unfolded stays so"


def test_who_may_not_tick_sees_the_days(person, sit):
    """Of a read-only server; in a host that hands no private data on, or lets a page call nothing."""
    tab = sit(MCP_READ_ONLY="1", ONEPERCENT_DB=str(person.file)).days()
    assert len(boxes(tab)) == 4
    to_tick = "document.querySelectorAll('[type=checkbox]:not(:disabled), .tick:not(:disabled)')"
    assert tab.run(f"{to_tick}.length") == 0
    tab = person.days(mute="yes")
    assert "Зарядка" in tab.text() and "скажите в чате" in tab.text()
    person.host.private = False
    tab = person.days()
    assert "Зарядка" in tab.text() and "Выучить Python" in tab.text() and boxes(tab) == {}
    assert "скажите в чате" in tab.text() and calls(tab) == []


def test_hostile_names_stay_text(person):
    person.do(new_habit(HOSTILE[:200]))
    stays_text(person.days("en-GB", width=320))


def test_a_new_language_and_theme_redraw_it(person):
    tab = person.days()
    assert "Просрочено" in tab.text()
    tab.run(
        "send({ method: 'ui/notifications/host-context-changed', params: { locale: 'en', theme: 'dark' } })",
        host=True,
    )
    ends(tab, "day")
    assert "Overdue" in tab.text()


def test_a_person_who_has_nothing_yet_sees_a_first_step(sit):
    tab = sit().days()
    assert boxes(tab) == {}
    tab.press("Хочу каждый день")
    tab.wait("model.length === 1", host=True)
    assert tab.run("model", host=True) == ["Хочу каждый день читать 20 минут"]


@pytest.mark.parametrize("private", [True, False])
def test_what_the_steps_of_an_answer_share_is_said_of_each(sit, private):
    person = sit()
    steps = [
        {"title": f"Глава {number}", "dt": today(number), "priority": "important"}
        for number in range(1, 6)
    ]
    person.do(new_goal("Выучить Python"), act("step.create", goal_id=None, steps=steps))
    person.do(complete(1))
    person.host.private = private
    goal = person.days(arguments={"goal_id": 1})
    assert "1/5" in goal.text() and goal.text().count("важно") == 5
    checked = goal.run("[...document.querySelectorAll('input')].map(it => it.checked)")
    assert checked == [False] * 4 + [True]
    week = {"include": ["schedule"], "date_from": today(), "date_to": today(6)}
    assert person.days("en-GB", arguments=week).text().count("Выучить Python") == 5


@pytest.mark.parametrize("private", [True, False], ids=["", "only the answer"])
def test_the_spheres_of_life_are_named_in_the_language_of_the_client(private, sit):
    person = sit(act("ssp.rate", category="health_sport", score=9))
    person.host.private = private
    names = {"ru-RU": "Здоровье и спорт", "en-GB": "Health and sports"}
    for locale, name in names.items():
        tab = person.days(locale, arguments={"include": ["ssp"]})
        drawn = name if private else names["ru-RU"]
        assert f"{drawn}9" in tab.text("#body").replace("\n", "")
