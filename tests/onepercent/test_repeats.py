"""Steps that repeat: one ahead at a time."""

from datetime import date, timedelta

import pytest

from tests.onepercent.person import (
    accepted,
    act,
    apply,
    balance,
    behind_the_tools,
    call,
    complete,
    do,
    errand,
    found,
    new_goal,
    new_habit,
    new_step,
    preview,
    refused,
    said,
    schedule,
    snapshot,
    undo,
)
from tests.support.client import json_lines
from tools.onepercent.actions.repeats import RULE
from tools.onepercent.habits.due_days import first_day, start_rule

TUESDAYS = {"every": "week", "on": ["tue"]}
CALL = errand("Созвон", repeat=TUESDAYS)
EXERCISE = errand("Зарядка", repeat="daily")


def dates():
    """Of every open step, the late ones first."""
    planned = schedule(date_to="2026-06-01")
    steps = [step for part in ("overdue", "today", "upcoming") for step in planned[part]]
    return [step["date"] for step in steps if not step.get("is_complete")]


# A rule, and its first days from 18 March 2026 on, a Wednesday.
DAYS_OF_RULES = json_lines("""
[{"every": "day"}, ["2026-03-18", "2026-03-19", "2026-03-20"]]
[{"every": "day", "on": []}, ["2026-03-18", "2026-03-19", "2026-03-20"]]
[{"every": "week", "on": ["tue", "Friday"]}, ["2026-03-20", "2026-03-24", "2026-03-27"]]
[{"every": "week", "on": [3]}, ["2026-03-18", "2026-03-25", "2026-04-01"]]
[{"every": "month", "on": [1, 31]}, ["2026-03-31", "2026-04-01", "2026-04-30"]]
[{"every": "day", "until": "2026-03-19"}, ["2026-03-18", "2026-03-19"]]
[{"every": "day", "interval": 3}, ["2026-03-18", "2026-03-21", "2026-03-24"]]
[{"every": "week"}, ["2026-03-18", "2026-03-25", "2026-04-01"]]
[{"every": "week", "interval": 2, "on": ["mon", "fri"]}, ["2026-03-20", "2026-03-30", "2026-04-03"]]
[{"every": "month", "interval": 3, "on": [31]}, ["2026-03-31", "2026-06-30", "2026-09-30"]]
[{"every": "year"}, ["2026-03-18", "2027-03-18", "2028-03-18"]]
[{"every": "year", "interval": 2, "until": "2028-03-17"}, ["2026-03-18"]]
""")


@pytest.mark.parametrize("rule, days", DAYS_OF_RULES)
def test_a_rule_names_its_days(rule, days):
    since = date(2026, 3, 18)
    repeat = start_rule(RULE.convert("repeat", rule), since)
    named = []
    while len(named) < 3 and (day := first_day(repeat, since)):
        named.append(day)
        since = date.fromisoformat(day) + timedelta(1)
    assert named == days


def test_a_birthday_on_the_29th_of_february_is_on_the_last_day_of_it_in_other_years():
    repeat = start_rule(RULE.convert("repeat", {"every": "year"}), date(2024, 2, 29))
    assert first_day(repeat, date(2025, 1, 1)) == "2025-02-28"
    assert first_day(repeat, date(2028, 1, 1)) == "2028-02-29"


def test_a_yearly_step_keeps_its_day_and_says_it():
    birthday = errand("Birthday", dt="2026-03-19", repeat="yearly")
    assert "19.03; каждый год: 19.03" in accepted(birthday)
    assert "следующий 19.03.2027" in said(complete(1))
    [step] = schedule(date_to="2026-04-01")["upcoming"]
    assert step["repeat"] == {"every": "year"}


RULES_IN_WORDS = json_lines("""
[{"every": "week", "interval": 2, "on": ["tue"]}, "раз в 2 недели: вт"]
[{"every": "month", "interval": 21, "on": [1]}, "раз в 21 месяц: 1-го числа"]
[{"every": "day", "interval": 3, "after": "done"}, "через 3 дня после выполнения"]
[{"every": "day", "until": "2026-12-31"}, "каждый день, до 31.12"]
""")


@pytest.mark.parametrize("rule, words", RULES_IN_WORDS)
def test_a_rule_is_said_as_a_person_says_it(rule, words):
    assert words in said(errand("Созвон", repeat=rule))


def test_what_repeats_after_it_is_done_waits_and_begins_again_with_that_day(clock):
    rule = {"every": "day", "interval": 3, "after": "done"}
    do(errand("Полить", repeat=rule))
    assert dates() == ["2026-03-18"]
    clock.set("2026-03-23T09:00:00+00:00")
    assert dates() == ["2026-03-18"]  # late, and never twice
    do(complete(1))
    assert dates() == ["2026-03-26"]
    undo()
    assert dates() == ["2026-03-18"]


def test_the_next_step_is_made_when_one_is_done_and_undo_takes_it_back():
    assert "Шаг «Созвон»: новый; к цели «Входящие»; 24.03; важный; каждую неделю: вт" in accepted(
        errand("Созвон", repeat=TUESDAYS, priority="important")
    )
    assert dates() == ["2026-03-24"]
    assert "Шаг «Созвон»: сделан; следующий 31.03 (+25 XP)" in accepted(complete(1))
    assert dates() == ["2026-03-31"]
    undo()
    assert dates() == ["2026-03-24"] and balance() == 0
    undo(redo=True)
    assert dates() == ["2026-03-31"]


def test_a_step_that_nobody_does_is_due_on_the_next_day_of_its_rule_however_often_one_looks(clock):
    do(CALL)
    clock.set("2026-04-15T09:00:00+00:00")
    for _ in range(2):
        assert dates() == ["2026-04-21"]
    assert schedule()["upcoming"][0]["missed"] == 4
    assert snapshot("goals")["goals"]["items"][0]["next"]["dt"] == "2026-04-21"
    assert found("созвон")[0]["dt"] == "2026-04-21"
    assert "21.04 → 22.04" in said(act("step.shift", step_ids=[1], days=1))
    assert "следующий 21.04" in accepted(complete(1))
    assert dates() == ["2026-04-21"]
    undo()
    clock.set("2026-03-20T09:00:00+00:00")
    assert dates() == ["2026-03-24"]


def test_a_look_changes_no_row_and_makes_no_preview_stale(clock, file):
    do(EXERCISE)
    clock.set("2026-03-20T09:00:00+00:00")
    previewed = preview(act("step.update", 1, title="Йога"))
    before = file.with_name("life.sqlite3-wal").read_bytes()
    for day in range(21, 29):
        clock.set(f"2026-03-{day}T09:00:00+00:00")
        assert len(dates()) == 1
    assert file.with_name("life.sqlite3-wal").read_bytes() == before
    clock.set("2026-03-20T09:01:00+00:00")
    assert apply(previewed)["success"]


def test_yesterdays_step_done_today_leaves_that_of_today(clock):
    do(EXERCISE)
    clock.set("2026-03-25T09:00:00+00:00")
    do(complete(1, date="2026-03-24"))
    assert dates() == ["2026-03-25"]
    do(complete(2))
    assert dates() == ["2026-03-26"]


def test_a_clock_that_ran_ahead_moves_no_series(clock):
    do(EXERCISE)
    clock.set("2027-03-20T09:00:00+00:00")
    do(complete(1))
    clock.set("2026-03-19T09:00:00+00:00")
    assert dates() == ["2026-03-19"]
    do(complete(2))
    assert dates() == ["2026-03-20"]


def test_another_rule_leaves_the_day_that_was_due(clock):
    do(EXERCISE)
    clock.set("2026-03-25T09:00:00+00:00")
    do(act("step.update", 1, repeat=None))
    assert dates() == ["2026-03-25"]
    undo()
    assert dates() == ["2026-03-25"]
    clock.set("2026-03-26T09:00:00+00:00")
    assert dates() == ["2026-03-26"]


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE steps SET repeat = '{', dt = '2020-01-01'",
        "UPDATE habits SET created_on = 'вчера'",
        "UPDATE habits SET frequency_type = 'hourly'",
        "UPDATE habits SET frequency_type = 'custom', schedule_days = '1,x'",
    ],
)
def test_a_rule_or_a_schedule_that_is_damaged_is_named(damage):
    do(EXERCISE, new_habit("Бег"))
    behind_the_tools(damage)
    assert call("get_user_snapshot", include=["schedule", "habits"])["code"] == "DATABASE_ERROR"


def test_one_is_shifted_alone_and_all_by_their_rule():
    do(CALL)
    do(act("step.shift", step_ids=[1], days=1))
    do(complete(1))
    assert dates() == ["2026-03-31"]
    assert "повтор: каждую неделю: вт → каждую неделю: чт" in accepted(
        act("step.update", 2, dt="2026-04-02", repeat="weekly")
    )
    do(complete(2))
    assert dates() == ["2026-04-09"]


def test_a_step_without_a_day_begins_on_the_first_of_its_rule_and_a_null_ends_it():
    do(new_goal("Дом", steps=["Созвон"]))
    do(act("step.update", 1, repeat=TUESDAYS))
    assert dates() == ["2026-03-24"]
    do(act("step.update", 1, repeat=None), complete(1))
    assert dates() == []


def test_a_deletion_an_end_and_a_reached_goal_end_the_repetition(clock):
    report = new_step("Отчёт", repeat={"every": "day", "until": "2026-03-18"})
    do(new_goal("Дом", steps=["Цветы"]), new_step("Созвон", repeat=TUESDAYS), report)
    assert "больше не повторится (каждую неделю: вт)" in said(act("step.delete", 2))
    do(complete(3))
    assert dates() == ["2026-03-24"]
    do(act("goal.complete", 1))
    clock.set("2026-04-15T09:00:00+00:00")
    assert dates() == []
    do(act("goal.reopen", 1), act("step.delete", 2))
    assert dates() == []


NOT_RULES = json_lines("""
"fortnightly"
{}
{"every": "day", "interval": 0}
{"every": "day", "on": [1]}
{"every": "month", "on": [32]}
{"every": "week", "on": ["x"]}
{"every": "year", "on": [3]}
{"every": "week", "on": [true]}
{"every": "day", "until": "скоро"}
{"every": "day", "n": 2}
{"every": "week", "on": ["tue"], "after": "done"}
""")


@pytest.mark.parametrize("repeat", NOT_RULES)
def test_a_rule_that_does_not_fit_is_refused(repeat):
    error = refused(errand("x", repeat=repeat))
    codes = ("FIELD_INVALID", "FIELD_REQUIRED", "INVALID_DATE", "FIELD_UNKNOWN")
    assert error["code"] in codes and error["hint"]


def test_a_preview_shows_the_rule_and_the_first_day_of_each_step_of_a_plan():
    first = {"title": "Созвон", "repeat": TUESDAYS, "description": "Аня"}
    assert "«Созвон» (24.03, каждую неделю: вт, «Аня»), «Отчёт» (24.03, каждую" in said(
        new_goal("Дом", steps=[first, first | {"title": "Отчёт"}])
    )
    every_date = {"every": "month", "on": [*range(1, 32)]}
    assert "1-го, 2-го, 3-го" in said(errand("Созвон", repeat=every_date))


def test_every_two_weeks_without_a_day_begins_on_the_next_of_its_days():
    bill = errand("Счёт", repeat={"every": "month", "interval": 3, "on": [1]})
    do(errand("Полив", repeat=TUESDAYS | {"interval": 2}), bill)
    assert dates() == ["2026-03-24", "2026-04-01"]
