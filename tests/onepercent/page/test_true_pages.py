"""No page says what is not so: numbers that accuse wrongly, replies that were lost, days that look free."""

import pytest

from tests.onepercent.page.test_days_page import tick, today
from tests.onepercent.page.test_details import since_october
from tests.onepercent.page.test_preview_page import ends
from tests.onepercent.person import act, new_goal, new_habit, new_step
from tests.support.pages import MONDAY

pytestmark = pytest.mark.slow


def test_on_a_monday_equal_numbers_of_days_are_compared(on):
    """Four ISO weeks end on Sunday: their coming days are no losses."""
    tab = since_october(on, MONDAY)
    tab.click("#m1")

    assert "220 за 22 дня" in tab.text()
    assert "▼" not in tab.text() and "▲" not in tab.text()


def test_a_week_on_a_monday_has_its_overdue_and_todays_steps_and_compares_one_day(on):
    person, _ = on
    person.do(
        new_goal("Дом"),
        new_step("Сегодняшний", dt=MONDAY),
        new_step("Просроченный", dt="2026-11-20"),
        new_step("Завтрашний", dt="2026-11-24"),
    )
    week = {"date_from": MONDAY, "date_to": "2026-11-29", "include": ["schedule", "history"]}

    tab = person.days(arguments=week)

    assert all(title in tab.text() for title in ("Сегодняшний", "Просроченный", "Завтрашний"))
    assert tab.run("calls", host=True) == []


def test_tomorrow_has_its_habits(on):
    person, _ = on
    person.do(
        new_habit("Зарядка"),
        new_habit("Бег", frequency_type="custom", schedule_days=[2]),
        new_goal("Дом"),
        new_step("Завтрашний", dt="2026-11-24"),
    )

    tab = person.days()
    evening = tab.text("#tomorrow")
    tab.click("#tomorrow")
    tab.wait("data.day === '2026-11-24'")

    assert "2 привычки, 1 шаг" in evening and "Зарядка · Бег" in evening
    text = tab.text().replace("\n", " ")
    assert "Завтрашний" in text and "Привычки 2" in text and "Ничего нет" not in text
    assert "Завтра " not in text, "Wednesday is not tomorrow"


def test_a_plan_of_twenty_steps_reads_as_a_plan(sit):
    person = sit(new_goal("Выучить Python"))
    steps = [{"title": f"Глава {number}", "dt": today(number)} for number in range(1, 21)]

    tab = person.offer(act("step.create", goal_id=1, steps=steps), width=390)

    assert tab.text("#head") == "20 изменений"
    assert "20 шагов" in tab.text("li b")
    assert "Выучить Python" in tab.text("li") and "Глава 4" in tab.text("li")
    assert "Глава 5" not in tab.text("li") and "ещё 16" in tab.text("li")
    tab.click("summary")
    tab.wait("document.querySelector('li').innerText.includes('Глава 20')")
    assert "Выучить Python" in tab.text("li b")
    assert "Применить 20" in tab.text("#buttons")


def test_a_host_that_takes_no_message_leaves_the_words_to_the_person(sit):
    tab = sit().days(nomessage="yes")

    tab.press("Хочу каждый день")

    tab.wait("/[Нн]апишите это в чат/.test(document.body.innerText)")
    assert tab.run("model", host=True) == []


@pytest.mark.parametrize("browser_zone", ["Pacific/Honolulu", "Pacific/Kiritimati"])
def test_the_days_are_those_of_the_server_however_far_the_browser_is(sit, tmp_path, browser_zone):
    """24 hours apart, and in the same zone: what the page calls today is marked."""
    clock = tmp_path / "clock"
    clock.write_text("2026-11-23T12:00:00+00:00", "utf-8")
    # There it is two at night, on Tuesday.
    person = sit(new_habit("Зарядка"), clock=clock, ONEPERCENT_TZ="Pacific/Kiritimati")
    tab = person.days()
    tab.send("Emulation.setTimezoneOverride", timezoneId=browser_zone)
    tab.run("draw()")

    assert tab.text("#head") == "Вторник, 24 ноября"
    tick(tab, "#h1")
    tab.click("[id='t2026-11-23']")
    ends(tab, "понедельник, 23 ноября")
    tick(tab, "#h1")

    marks = person.rows("SELECT date FROM habit_marks ORDER BY date")
    assert marks == [("2026-11-23",), ("2026-11-24",)]
    assert "вт\n24" in tab.text("nav").lower()
