"""No page has a detail that is not so: marks of today, presses that failed, days gone by, shades."""

import re

import pytest

from tests.onepercent.page.test_days_page import says, today
from tests.onepercent.page.test_preview_page import act, do, ends, head
from tests.support.pages import MONDAY

pytestmark = pytest.mark.slow

SUNDAY = "2026-11-22"


def lines(tab, selector):
    """The texts of all elements that a selector finds."""
    return tab.run(f"[...document.querySelectorAll({selector!r})].map(it => it.innerText)")


def test_a_miss_and_an_excuse_of_today_are_seen_in_their_rows(sit):
    person = sit()
    for name in ("Зарядка", "Чтение", "Прогулка"):
        do(person, act("habit.create", name=name))
    tab = person.see("get_user_snapshot", locale="ru-RU")
    tab.click("#n1")
    tab.press("Пропущено")
    says(tab, "Отмечено")
    tab.click("#n2")
    tab.run("document.getElementById('e').focus()")
    tab.type("болею")
    tab.key("Enter")
    says(tab, "Отмечено")

    assert [tab.text(f"#h{habit}") for habit in (1, 2, 3)] == ["×", "◇", ""]
    assert "Пропущено" in tab.text("#n1") and "Уважительная причина" in tab.text("#n2")


@pytest.mark.parametrize("fault", ["deny", "lose"])
def test_a_press_that_failed_is_answered_in_its_own_row(sit, fault):
    """Far below the heading; a reply that is lost all the time leaves it open, a refused call does not."""
    person = sit()
    for number in range(1, 13):
        do(person, act("habit.create", name=f"Привычка {number}"))
    tab = person.see("get_user_snapshot", width=390, locale="ru-RU")
    tab.run(f"given.{fault} = 'yes'", host=True)
    tab.click("#h12")
    says(tab, "Ответа нет")
    assert "Ответа нет: может быть, уже записано. Нажмите ещё раз." in tab.text("#n12")
    assert lines(tab, "li .bad") == ["Ответа нет: может быть, уже записано. Нажмите ещё раз."]

    tab.run(f"given.{fault} = ''", host=True)
    tab.click("#h12")
    says(tab, "Отмечено")
    assert lines(tab, "li .bad") == []
    assert person.rows("SELECT status FROM habit_marks") == [("completed",)]


def test_a_press_that_is_not_saved_says_so_and_one_that_is_says_nothing(sit):
    """Both replies are lost, but the second call was carried out."""
    person = sit()
    do(person, act("habit.create", name="Зарядка"), act("habit.create", name="Чтение"))
    tab = person.see("get_user_snapshot", locale="ru-RU")
    tab.run("given.deny = 'once'", host=True)
    tab.click("#h1")
    tab.wait("!queue.length && document.querySelector('#n1 .bad')")
    assert "не сохранено, нажмите ещё раз" in tab.text("#n1")
    tab.run("given.lose = 'once'", host=True)
    tab.click("#h2")
    tab.wait("!queue.length && document.querySelector('#h2').ariaPressed === 'true'")
    assert lines(tab, "#n2 .bad") == []


def test_a_past_day_shows_no_streak_and_no_hours_of_today(on):
    person, _ = on
    do(
        person,
        act("habit.create", name="Зарядка"),
        act("goal.create", title="Дом"),
        act("step.create", goal_id=None, title="Покрасить", dt="2026-11-20", time_duration="two"),
    )
    do(person, act("habit.mark_completed", habit_id=1, dates=["2026-11-19..2026-11-23"]))
    tab = person.see("get_user_snapshot", locale="ru-RU")
    assert "5 дней подряд" in tab.text()
    strip = "[...document.querySelectorAll('nav button')].map(it => it.title)"
    days = tab.run(strip)
    tab.click(f"[id='t{SUNDAY}']")
    ends(tab, "22 ноября")
    assert "подряд" not in tab.text()
    assert tab.run(strip) == days, "the days after it are as full as before"
    friday = person.see(
        "get_user_snapshot",
        locale="ru-RU",
        arguments={"date_from": "2026-11-20", "date_to": "2026-11-20"},
    )
    assert "Покрасить" in friday.text() and "осталось" not in friday.text().lower()


@pytest.mark.parametrize("habits", [3, 6, 9, 12])
def test_two_thirds_of_a_day_have_one_shade_on_the_page_and_in_the_report(on, habits):
    person, _ = on
    do(person, *(act("habit.create", name=f"h{number}") for number in range(habits)))
    marked = range(1, habits * 2 // 3 + 1)
    do(person, *(act("habit.mark_completed", habit_id=habit, date=MONDAY) for habit in marked))
    tab = person.see("get_user_snapshot")
    share = tab.run(f"document.getElementById('{MONDAY}').style.getPropertyValue('--l')")
    assert share.strip() == tab.run("shade(2 / 3).style").partition(": ")[2] == "32%"


def test_the_compared_habits_rise_by_points_and_experience_by_its_number(on):
    person, turn = on
    turn("2026-11-01")
    do(person, act("habit.create", name="Зарядка"))
    do(person, act("habit.mark_completed", habit_id=1, dates=["2026-10-05..2026-11-01"]))
    turn(MONDAY)
    do(person, act("habit.mark_completed", habit_id=1, dates=["2026-11-02..2026-11-12"]))
    tab = person.see("get_user_snapshot", locale="ru-RU")
    text = tab.text().replace("\xa0", " ")
    assert re.search(r"\d+ % за \d+ д\w+ ▼ \d+ п\. п\. к прежним", text)
    tab.click("#m1")
    assert re.search(r"▼ [\d ]+ к прежним", tab.text().replace("\xa0", " "))


def test_tomorrow_names_no_empty_list(on):
    person, _ = on
    do(person, act("habit.create", name="Зарядка"))
    tab = person.see("get_user_snapshot", locale="ru-RU")
    assert "1 привычка" in tab.text("#tomorrow") and "0" not in tab.text("#tomorrow")


def test_a_search_without_a_match_and_a_diary_without_an_entry_say_so(sit):
    person = sit()
    do(person, act("habit.create", name="Зарядка"))
    tab = person.see("get_user_snapshot", locale="ru-RU", arguments={"find": "зубр"})
    assert tab.text().lower() == "«зубр» не найдено ни в целях, ни в шагах, ни в дневнике"
    tab = person.see("get_user_snapshot", locale="ru-RU", arguments={"include": ["diary"]})
    assert "Ничего нет" in tab.text()


def test_archived_goals_are_shown_if_they_were_asked_for(sit):
    person = sit()
    do(person, act("goal.create", title="Старая"), act("goal.create", title="Новая"))
    do(person, act("goal.archive", goal_id=1))
    tab = person.see("get_user_snapshot", locale="ru-RU", arguments={"goals_status": "archived"})
    assert "Старая" in tab.text() and "Новая" not in tab.text() and "Цели в архиве" in tab.text()


def test_the_changes_that_undo_reaches_are_a_list_and_no_failure(sit):
    person = sit()
    assert "changes" in person.ask("undo_last", list=True)
    empty = person.see("undo_last", locale="ru-RU", arguments={"list": True})
    assert head(empty) == "Последние изменения" and "Изменений ещё нет" in empty.text()
    for title in ("Старое", "Новое"):
        do(person, act("goal.create", title=title))
    tab = person.see("undo_last", locale="ru-RU", arguments={"list": True})
    assert head(tab) == "Последние изменения"
    assert "Старое" in tab.text() and "Новое" in tab.text() and today() not in tab.text()
    assert "Попробовать снова" not in tab.text() and "Не получилось" not in tab.text()
    assert tab.run("document.querySelectorAll('button').length") == 0


def test_warnings_of_a_plan_that_was_made_twice_fold(sit):
    person = sit()
    do(person, act("goal.create", title="Бег"))
    steps = [{"title": f"Тренировка {number}", "dt": today(number)} for number in range(1, 13)]
    do(person, act("step.create", goal_id=1, steps=steps))
    plan = {"actions": [act("step.create", goal_id=1, steps=steps)]}
    tab = person.see("preview_actions", locale="ru-RU", width=390, arguments=plan)
    assert len(lines(tab, "li .card")) == 0
    assert tab.run("document.documentElement.scrollHeight") < 800


def test_thirty_steps_of_one_goal_name_it_once(sit):
    person = sit()
    do(person, act("goal.create", title="Бег"))
    actions = [
        act("step.create", goal_id=1, title=f"Тренировка {number}") for number in range(1, 31)
    ]
    tab = person.see("preview_actions", locale="ru-RU", width=390, arguments={"actions": actions})
    assert sum("Бег" in line for line in lines(tab, "li")) == 1


def test_what_is_refused_beside_a_deletion_is_named_with_its_reason(sit):
    person = sit()
    do(person, act("goal.create", title="Бег"))
    actions = [act("goal.delete", goal_id=1), act("step.complete", step_id=99)]
    tab = person.see("preview_actions", locale="ru-RU", arguments={"actions": actions})
    assert head(tab) == "Ничего не изменено" and "удаление ждёт" in tab.text()
    assert len(lines(tab, ".errors")) == 1


def test_an_apply_and_a_cancel_that_were_lost_leave_it_open(sit):
    person = sit()
    plan = {"actions": [act("goal.create", title="Бег")]}
    tab = person.see("preview_actions", locale="ru-RU", arguments=plan)
    tab.run("given.lose = 'yes'", host=True)
    tab.press("Применить")
    ends(tab, "Ответа нет")
    tab.press("Отмена")
    tab.wait("/отменено ли/.test(document.body.innerText)")
    assert head(tab) == "Ответа нет" and "Проверить" in tab.text("#buttons")


def test_try_again_is_offered_only_where_it_can_help_and_details_are_the_servers_words_alone(sit):
    person = sit()
    tab = person.see("get_user_snapshot", locale="ru-RU", arguments={"goal_id": 9})
    assert head(tab) == "Такой цели нет" and "Попробовать снова" not in tab.text()
    tab.click("summary")
    assert "get_user_snapshot" not in tab.text()


def test_habits_fold_from_the_seventeenth_on_and_the_fold_counts_the_open_ones(sit):
    person = sit()
    do(person, *(act("habit.create", name=f"Привычка {number}") for number in range(14)))
    tab = person.see("get_user_snapshot", locale="ru-RU", width=390)
    assert len(lines(tab, "summary")) == 0
    do(person, *(act("habit.create", name=f"Ещё {number}") for number in range(10)))
    do(person, act("habit.mark_completed", habit_id=24))
    tab = person.see("get_user_snapshot", locale="ru-RU", width=390)
    assert lines(tab, "summary") == ["ещё 8 · не отмечено: 7"]


def test_a_panel_that_a_key_opened_has_the_focus_and_the_days_have_a_name(sit):
    person = sit()
    do(person, act("habit.create", name="Зарядка"))
    tab = person.see("get_user_snapshot", locale="ru-RU")
    tab.run("document.getElementById('n1').focus()")
    tab.key("Enter")
    tab.wait("document.querySelector('.panel')")
    assert tab.run("document.activeElement.closest('.panel') !== null")
    assert tab.run("document.querySelector('nav').ariaLabel") == "Дни"
    assert (
        tab.run("parseFloat(getComputedStyle(document.querySelector('.panel input')).fontSize)")
        >= 16
    )


def test_the_chosen_tab_is_marked_by_properties_of_their_own(sit):
    """Safari drops `text-decoration: underline 2px …` whole."""
    person = sit()
    do(person, act("habit.create", name="Зарядка"))
    do(person, act("habit.mark_completed", habit_id=1))
    tab = person.see("get_user_snapshot")
    style = "getComputedStyle(document.querySelector('.tabs > [aria-current=true]'))"
    assert tab.run(f"{style}.textDecorationLine") == "underline"
    source = tab.run("document.querySelector('style').textContent")
    assert "underline 2px" not in source and "text-decoration-thickness" in source


def test_forced_colours_leave_the_ring_the_circles_and_the_calendar(sit, tmp_path):
    person = sit()
    do(person, act("habit.create", name="Зарядка"), act("habit.create", name="Чтение"))
    do(person, act("habit.mark_completed", habit_id=1))
    tab = person.see("get_user_snapshot", width=390)
    tab.send("Emulation.setEmulatedMedia", features=[{"name": "forced-colors", "value": "active"}])
    tab.picture(tmp_path / "days-forced.png")
    for part in ("#ring", "#h1", ".cal"):
        assert (
            tab.run(f"getComputedStyle(document.querySelector('{part}')).forcedColorAdjust")
            == "none"
        )
    assert (
        tab.run("getComputedStyle(document.querySelector('.card')).backgroundColor")
        == "rgb(255, 255, 255)"
    )
    tab = person.see("preview_actions", arguments={"actions": [act("goal.create", title="Дом")]})
    tab.send("Emulation.setEmulatedMedia", features=[{"name": "forced-colors", "value": "active"}])
    button = "getComputedStyle(document.querySelector('.main'))"
    assert tab.run(f"{button}.forcedColorAdjust") == "none", (
        "else its words have the colour of their ground"
    )


def test_days_have_few_tab_stops(sit):
    person = sit()
    do(person, *(act("habit.create", name=f"Привычка {number}") for number in range(9)))
    tab = person.see("get_user_snapshot")
    stops = "[...document.querySelectorAll('button, input, summary')].filter(it => it.tabIndex >= 0).length"
    assert tab.run(stops) <= 20


def test_a_habit_that_may_wait_is_below_the_daily_ones_and_out_of_the_ring(on):
    """On a Monday; the ring says what the history of the day says."""
    person, _ = on
    do(
        person,
        act("habit.create", name="Зарядка"),
        act("habit.create", name="Баня", frequency_type="weekly"),
        act("habit.create", name="Бег", frequency_type="times_per_week", times=2),
    )
    do(person, act("habit.mark_completed", habit_id=1))
    tab = person.see("get_user_snapshot", locale="ru-RU")
    (history,) = person.ask("get_user_snapshot", include=["history"], date_from=MONDAY)["data"][
        "history"
    ]["days"]
    assert tab.text("#ring") == history["habits"] == "1/1"
    assert "всё сделано" in tab.text().lower()
    assert "до воскресенья" in tab.text("#n2") and "0/2 за неделю" in tab.text("#n3")
    assert "Не по расписанию" not in tab.text()
    assert "1 привычка" in tab.text("#tomorrow"), "tomorrow the others may wait, too"
    tab.click("#h2")
    says(tab, "Отмечено")
    assert "до воскресенья" not in tab.text("#n2") and tab.text("#ring") == "2/2"


def test_an_amount_whose_replies_are_lost_counts_once(sit):
    person = sit()
    do(person, act("habit.create", name="Вода", target={"amount": 2, "unit": "л"}))
    tab = person.see("get_user_snapshot", locale="ru-RU")
    for fault in ("yes", "yes", ""):
        tab.run(f"given.lose = '{fault}'", host=True)
        tab.click("#n1")
        tab.run("document.getElementById('Add').value = ''; document.getElementById('Add').focus()")
        tab.type("0.5")
        tab.key("Enter")
        tab.wait(
            "!queue.length && /Ответа нет|Отмечено/.test(document.getElementById('state').textContent)"
        )
    tab.wait("/0,5/.test(document.body.innerText)")
    assert person.rows("SELECT amount FROM habit_marks") == [(0.5,)]
