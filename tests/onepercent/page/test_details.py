"""No page has a detail that is not so: marks of today, presses that failed, days gone by, shades."""

import re

import pytest

from tests.onepercent.page.test_days_page import fill_in, saved, says, tick, today
from tests.onepercent.page.test_preview_page import ends, head
from tests.onepercent.person import act, complete, mark, new_goal, new_habit, new_step
from tests.support.pages import MONDAY

pytestmark = pytest.mark.slow


def lines(tab, selector):
    """The texts of all elements that a selector finds."""
    return tab.run(f"[...document.querySelectorAll({selector!r})].map(it => it.innerText)")


def test_a_miss_and_an_excuse_of_today_are_seen_in_their_rows(sit):
    person = sit(*(new_habit(name) for name in ("Зарядка", "Чтение", "Прогулка")))
    tab = person.days()
    tab.click("#n1")
    tab.press("Пропущено")
    saved(tab)
    tab.click("#n2")
    fill_in(tab, "e", "болею")
    saved(tab)

    assert [tab.text(f"#h{habit}") for habit in (1, 2, 3)] == ["×", "◇", ""]
    assert "Пропущено" in tab.text("#n1") and "Уважительная причина" in tab.text("#n2")


@pytest.mark.parametrize("fault", ["deny", "lose"])
def test_a_press_that_failed_is_answered_in_its_own_row(sit, fault):
    """Far below the heading; a reply that is lost all the time leaves it open, a refused call does not."""
    person = sit(*(new_habit(f"Привычка {number}") for number in range(1, 13)))
    tab = person.days(width=390)
    tab.run(f"given.{fault} = 'yes'", host=True)
    tab.click("#h12")
    says(tab, "Ответа нет")
    open_end = "Ответа нет: может быть, уже записано. Нажмите ещё раз."
    assert open_end in tab.text("#n12") and lines(tab, "li .bad") == [open_end]
    assert "denied" not in tab.text() and lines(tab, ":disabled") == []

    tab.run(f"given.{fault} = ''", host=True)
    tick(tab, "#h12")
    assert lines(tab, "li .bad") == []
    assert person.rows("SELECT status FROM habit_marks") == [("completed",)]


def test_a_press_that_is_not_saved_says_so_and_one_that_is_says_nothing(sit):
    """Both replies are lost, but the second call was carried out."""
    person = sit(new_habit("Зарядка"), new_habit("Чтение"))
    tab = person.days()
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
    person.do(
        new_habit("Зарядка"),
        new_goal("Дом"),
        new_step("Покрасить", dt="2026-11-20", time_duration="two"),
    )
    person.do(mark(1, dates=["2026-11-19..2026-11-23"]))
    tab = person.days()
    assert "5 дней подряд" in tab.text()
    strip = "[...document.querySelectorAll('nav button')].map(it => it.title)"
    days = tab.run(strip)
    tab.click("[id='t2026-11-22']")
    ends(tab, "22 ноября")
    assert "подряд" not in tab.text()
    assert tab.run(strip) == days, "the days after it are as full as before"
    friday = person.days(arguments={"date_from": "2026-11-20", "date_to": "2026-11-20"})
    assert "Покрасить" in friday.text() and "осталось" not in friday.text().lower()


@pytest.mark.parametrize("habits", [3, 6, 9, 12])
def test_two_thirds_of_a_day_have_one_shade_on_the_page_and_in_the_report(on, habits):
    person, _ = on
    person.do(*(new_habit(f"h{number}") for number in range(habits)))
    marked = range(1, habits * 2 // 3 + 1)
    person.do(*(mark(habit, date=MONDAY) for habit in marked))
    tab = person.days("en-GB")
    share = tab.run(f"document.getElementById('{MONDAY}').style.getPropertyValue('--l')")
    assert share.strip() == tab.run("shade(2 / 3).style").partition(": ")[2] == "32%"


def since_october(on, last):
    """The page on MONDAY of somebody whose habit is marked on every day from October to `last`."""
    person, turn = on
    turn("2026-11-01")
    person.do(new_habit("Зарядка"))
    person.do(mark(1, dates=["2026-10-05..2026-11-01"]))
    turn(MONDAY)
    person.do(mark(1, dates=[f"2026-11-02..{last}"]))
    return person.days()


def test_the_compared_habits_rise_by_points_and_experience_by_its_number(on):
    tab = since_october(on, "2026-11-12")
    text = tab.text().replace("\xa0", " ")
    assert re.search(r"\d+ % за \d+ д\w+ ▼ \d+ п\. п\. к прежним", text)
    tab.click("#m1")
    assert re.search(r"▼ [\d ]+ к прежним", tab.text().replace("\xa0", " "))


def test_a_search_without_a_match_and_a_diary_without_an_entry_say_so(sit):
    person = sit(new_habit("Зарядка"))
    tab = person.days(arguments={"find": "зубр"})
    assert tab.text().split() == ["Зубр:", "0", "Ничего", "нет"]
    tab = person.days(arguments={"include": ["diary"]})
    assert "Ничего нет" in tab.text()


def test_archived_goals_are_shown_if_they_were_asked_for(sit):
    person = sit(new_goal("Старая"), new_goal("Новая"))
    person.do(act("goal.archive", 1))
    tab = person.days(arguments={"goals_status": "archived"})
    assert "Старая" in tab.text() and "Новая" not in tab.text() and "Цели в архиве" in tab.text()


def test_the_changes_that_undo_reaches_are_a_list_and_no_failure(sit):
    person = sit()
    empty = person.see("undo_last", locale="ru-RU", arguments={"list": True})
    assert head(empty) == "Последние изменения" and "Изменений ещё нет" in empty.text()
    for title in ("Старое", "Новое"):
        person.do(new_goal(title))
    tab = person.see("undo_last", locale="ru-RU", arguments={"list": True})
    assert head(tab) == "Последние изменения"
    assert "Старое" in tab.text() and "Новое" in tab.text() and today() not in tab.text()
    assert tab.run("document.querySelectorAll('button').length") == 0


def test_warnings_of_a_plan_that_was_made_twice_fold(sit):
    person = sit(new_goal("Бег"))
    steps = [{"title": f"Тренировка {number}", "dt": today(number)} for number in range(1, 13)]
    person.do(act("step.create", goal_id=1, steps=steps))
    tab = person.offer(act("step.create", goal_id=1, steps=steps), width=390)
    assert len(lines(tab, "li .card")) == 0
    assert tab.run("document.documentElement.scrollHeight") < 800


def test_thirty_steps_of_one_goal_name_it_once(sit):
    person = sit(new_goal("Бег"))
    actions = [new_step(f"Тренировка {number}", 1) for number in range(1, 31)]
    tab = person.offer(*actions, width=390)
    assert sum("Бег" in line for line in lines(tab, "li")) == 1


def test_what_is_refused_beside_a_deletion_is_named_with_its_reason(sit):
    person = sit(new_goal("Бег"))
    tab = person.offer(act("goal.delete", 1), complete(99))
    assert head(tab) == "Ничего не изменено" and "удаление ждёт" in tab.text()
    assert len(lines(tab, ".errors")) == 1


def test_try_again_is_offered_only_where_it_can_help_and_details_are_the_servers_words_alone(sit):
    person = sit()
    tab = person.days(arguments={"goal_id": 9})
    assert head(tab) == "Такой цели нет" and "Попробовать снова" not in tab.text()
    tab.click("summary")
    assert "get_user_snapshot" not in tab.text()


def test_habits_fold_from_the_seventeenth_on_and_the_fold_counts_the_open_ones(sit):
    person = sit(*(new_habit(f"Привычка {number}") for number in range(14)))
    tab = person.days(width=390)
    assert len(lines(tab, "summary")) == 0
    person.do(*(new_habit(f"Ещё {number}") for number in range(10)))
    person.do(mark(24))
    tab = person.days(width=390)
    assert lines(tab, "summary") == ["ещё 8 · не отмечено: 7"]


def test_the_chosen_tab_is_marked_by_properties_of_their_own(sit):
    """Safari drops `text-decoration: underline 2px …` whole."""
    person = sit(new_habit("Зарядка"))
    person.do(mark(1))
    tab = person.days("en-GB")
    style = "getComputedStyle(document.querySelector('.tabs > [aria-current=true]'))"
    assert tab.run(f"{style}.textDecorationLine") == "underline"
    source = tab.run("document.querySelector('style').textContent")
    assert "underline 2px" not in source and "text-decoration-thickness" in source


def test_forced_colours_leave_the_ring_the_circles_and_the_calendar(sit, tmp_path):
    person = sit(new_habit("Зарядка"), new_habit("Чтение"))
    person.do(mark(1))
    tab = person.days("en-GB", width=390)
    features = [{"name": "forced-colors", "value": "active"}]
    tab.send("Emulation.setEmulatedMedia", features=features)
    tab.picture(tmp_path / "days-forced.png")
    for part in ("#ring", "#h1", ".cal"):
        style = f"getComputedStyle(document.querySelector('{part}'))"
        assert tab.run(f"{style}.forcedColorAdjust") == "none"
    card = "getComputedStyle(document.querySelector('.card'))"
    assert tab.run(f"{card}.backgroundColor") == "rgb(255, 255, 255)"
    tab = person.offer(new_goal("Дом"), locale="en-GB")
    tab.send("Emulation.setEmulatedMedia", features=features)
    button = "getComputedStyle(document.querySelector('.main'))"
    assert tab.run(f"{button}.forcedColorAdjust") == "none", (
        "else its words have the colour of their ground"
    )


def test_a_habit_that_may_wait_is_below_the_daily_ones_and_out_of_the_ring(on):
    """On a Monday; the ring says what the history of the day says."""
    person, _ = on
    person.do(
        new_habit("Зарядка"),
        new_habit("Баня", frequency_type="weekly"),
        new_habit("Бег", frequency_type="times_per_week", times=2),
    )
    person.do(mark(1))
    tab = person.days()
    (history,) = person.ask("get_user_snapshot", include=["history"], date_from=MONDAY)["data"][
        "history"
    ]["days"]
    assert tab.text("#ring") == history["habits"] == "1/1"
    assert "всё сделано" in tab.text().lower()
    assert "до воскресенья" in tab.text("#n2") and "0/2 за неделю" in tab.text("#n3")
    assert "Не по расписанию" not in tab.text()
    tomorrow = tab.text("#tomorrow")
    assert "1 привычка" in tomorrow, "tomorrow the others may wait, too"
    assert "0" not in tomorrow, "no list is named that is empty"
    tick(tab, "#h2")
    assert "до воскресенья" not in tab.text("#n2") and tab.text("#ring") == "2/2"


def test_an_amount_whose_replies_are_lost_counts_once(sit):
    person = sit(new_habit("Вода", target={"amount": 2, "unit": "л"}))
    tab = person.days()
    for fault in ("yes", "yes", ""):
        tab.run(f"given.lose = '{fault}'", host=True)
        tab.click("#n1")
        tab.run("document.getElementById('Add').value = ''")
        fill_in(tab, "Add", "0.5")
        tab.wait(
            "!queue.length && /Ответа нет|Отмечено/.test(document.getElementById('state').textContent)"
        )
    tab.wait("/0,5/.test(document.body.innerText)")
    assert person.rows("SELECT amount FROM habit_marks") == [(0.5,)]
