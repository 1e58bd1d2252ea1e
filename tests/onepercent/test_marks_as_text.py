"""The marks as lines of text beside a snapshot."""

import json

from tests.onepercent.person import behind_the_tools, call, do, mark, new_habit
from tools.core import results


def test_a_snapshot_brings_the_marks_beside_its_json(clock):
    do(new_habit("Бег"), mark(1))
    clock.set("2026-03-19T12:00:00+00:00")
    period = {"date_from": "2026-03-01", "date_to": "2026-03-20"}
    text, lines = results.as_result(call("get_user_snapshot", picture=True, **period))["content"]
    assert json.loads(text["text"])["user_name"]
    assert lines["text"].startswith("2026-03-01 – 2026-03-19: + сделано")
    assert lines["text"].endswith(f"\n1 Бег {'.' * 17}+?")
    assert len(results.as_result(call("get_user_snapshot"))["content"]) == 1


def test_the_marks_are_of_four_weeks_and_of_a_year_at_most():
    do(new_habit("Бег"))
    behind_the_tools("UPDATE habits SET created_on = '2020-01-01'")
    for dates, days in (
        ({}, 28),
        ({"date_from": "2020-01-01"}, 366),
        ({"date_from": "2027-01-01"}, 1),
    ):
        (lines,) = call("get_user_snapshot", picture=True, **dates).content
        assert len(lines.splitlines()[1]) == len("1 Бег ") + days


def test_without_habits_there_are_no_lines():
    assert call("get_user_snapshot", picture=True).content == ()
