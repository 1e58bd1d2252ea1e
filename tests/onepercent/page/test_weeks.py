"""The days, and the weeks before them, as the page of the days gets them."""

from datetime import date, timedelta

from tests.onepercent.person import (
    act,
    call,
    complete,
    do,
    items,
    mark,
    new_entry,
    new_goal,
    new_habit,
    new_step,
    snapshot,
    use,
)
from tests.support.client import json_lines
from tools.core.presses import PRESS
from tools.onepercent.base import days
from tools.onepercent.page import person_pages
from tools.onepercent.snapshot.history import RECENT_DAYS


def four_weeks(clock):
    """The data of the last four weeks and of today."""
    today = days.today(clock())
    return person_pages.days_data((today - timedelta(RECENT_DAYS - 1), today), True)


def test_the_sums_of_the_weeks_stand_beside_those_before(clock):
    """tests/onepercent/test_history.py recounts them."""
    do(new_goal("g"), new_step("s"), new_entry(what_done="x"))
    clock.set("2026-04-15T12:00:00+00:00")  # the first of the weeks was the last of those before
    do(complete(1))
    data = four_weeks(clock)
    assert data["before"] == [0, 10, 0, 1]
    assert data["now"] == data["cells"][-1] == [0, 25, 1, 0]
    assert data["passed"] == len(data["cells"]) == RECENT_DAYS
    assert data["gained"] == 25


def test_days_that_are_still_to_come_are_no_losses(clock):
    """As many days of the time before as have passed: 7 of 28, of which the first two were full."""
    do(new_habit("a"))
    do(mark(1, dates=["2026-03-09..2026-03-18"]))
    first = date(2026, 3, 16)
    data = person_pages.days_data((first, first + timedelta(6)), True)
    assert data["passed"] == 3
    assert data["now"][:2] == data["before"][:2] == [1, 30], "Monday to Wednesday of both weeks"


def test_what_is_still_due_today_is_not_missed(clock):
    do(new_habit("a"), new_habit("b"))
    data = four_weeks(clock)
    assert data["now"] == []
    assert data["cells"][-1] == [0, 0, 0, 0], "the day itself is open"
    do(mark(1))
    data = four_weeks(clock)
    assert (data["now"][0], data["cells"][-1][0]) == (1, 0.5)
    clock.set("2026-03-19T12:00:00+00:00")
    data = four_weeks(clock)
    assert data["now"][0] == 0.5
    assert [habit["signs"][-2:] for habit in data["habits"]] == ["+?", "??"]


def test_a_step_of_the_last_day_of_a_month_is_done_by_its_end(clock):
    clock.set("2026-01-31T12:00:00+00:00")
    do(new_goal("g", steps=["a", "b"]))
    do(complete(1))
    clock.set("2026-03-18T12:00:00+00:00")
    year = person_pages.days_data((date(2026, 1, 1), date(2026, 3, 18)), False)["year"]
    assert [month["first"] for month in year["months"]] == [
        "2026-01-01",
        "2026-02-01",
        "2026-03-01",
    ]
    assert year["Goals"][0]["parts"] == [0.5, 0.5, 0.5]


def test_tomorrow_has_what_is_due_then_and_no_habit_whose_week_has_enough(clock):
    do(
        new_habit("daily"),
        new_habit("on Thursdays", frequency_type="custom", schedule_days=[4]),
        new_habit("on Fridays", frequency_type="custom", schedule_days=[5]),
        new_habit("once a week", frequency_type="weekly"),
        new_goal("g"),
        new_step("s", dt="2026-03-19"),
    )
    thursday = {"date": "2026-03-19", "steps": ["s"], "habits": ["daily", "on Thursdays"]}
    assert four_weeks(clock)["next"] == thursday
    clock.set("2026-03-21T12:00:00+00:00")
    names = four_weeks(clock)["next"]["habits"]
    assert names == ["daily", "once a week"], "on the last day it must"
    do(mark(4))
    assert four_weeks(clock)["next"]["habits"] == ["daily"]
    do(act("habit.pause", 1))
    assert four_weeks(clock)["next"]["habits"] == []
    do(act("habit.archive", 1), act("habit.resume", 1))
    data = four_weeks(clock)
    assert data["next"]["habits"] == [], "it is out of sight, paused or not"
    assert "daily" not in [habit["name"] for habit in data["habits"] + data["others"]]


def test_the_week_that_can_be_turned_to_ends_today_or_is_the_days_own(clock):
    for day, begin in (
        ("2026-03-12", "2026-03-12"),
        ("2026-03-11", "2026-03-09"),
        ("2026-03-20", "2026-03-16"),
    ):
        strip = person_pages.days_data((date.fromisoformat(day),) * 2, True)["strip"]
        assert (len(strip), strip[0][0]) == (7, begin)
        assert day in dict(strip)


# A question, and the day that is drawn for it, the first and the last one.
DRAWN_DAYS = json_lines("""
[{}, ["2026-03-18", "2026-02-23", "2026-03-22"]]
[{"date_from": "2026-03-10"}, ["2026-03-10", "2026-02-16", "2026-03-15"]]
[{"date_to": "2026-03-20"}, ["2026-03-18", "2026-03-18", "2026-03-20"]]
[{"include": ["history"], "date_from": "2026-03-10"}, ["2026-03-18", "2026-03-10", "2026-03-18"]]
[{"include": ["history"], "date_to": "2026-02-28", "date_from": "2026-02-01"}, ["2026-02-28", "2026-02-01", "2026-02-28"]]
""")


def test_the_page_is_told_of_the_days_that_were_asked_for(file):
    do(new_entry(plans="x", date="2026-02-10"))
    for question, drawn in DRAWN_DAYS:
        meta = person_pages.DAYS.private(call("get_user_snapshot", **question))
        data = meta[person_pages.DAYS_DATA]
        assert [data["day"], data["first"], data["last"]] == drawn
        assert data["today"] == "2026-03-18" and PRESS in meta
    diary = person_pages.DAYS.private(call("get_user_snapshot", include=["diary"]))
    assert diary[person_pages.DAYS_DATA] == {}, "the entries alone are a list"
    assert person_pages.DAYS.private({"success": False}) == {}
    use(file, MCP_READ_ONLY="1")
    assert PRESS not in person_pages.DAYS.private({"success": True})


def test_the_ring_history_strip_and_the_chat_say_the_same_of_a_day(clock):
    clock.set("2026-03-16T12:00:00+00:00")  # a Monday
    do(
        *(new_habit(name) for name in ("a", "b")),
        new_habit("once a week", frequency_type="weekly"),
        new_habit("twice a week", frequency_type="times_per_week", times=2),
    )
    data = four_weeks(clock)
    assert [habit["name"] for habit in data["habits"]] == ["a", "b"]
    assert [habit["name"] for habit in data["others"]] == ["once a week", "twice a week"]
    for done, ids in ((2, [1, 2]), (3, [3])):
        do(act("habit.mark_completed", habit_ids=ids))
        sections = snapshot("habits", "history")
        assert sections["history"]["days"][-1]["habits"] == f"{done}/{done}"
        assert sections["habits"]["today_completed"] == sections["habits"]["today_total"] == done
        data = four_weeks(clock)
        assert data["cells"][-1][0] == data["strip"][-1][1] == 1
        assert len(data["habits"]) == done
    clock.set("2026-03-22T12:00:00+00:00")  # the last day: what is missing must be done
    assert items("habits")[3]["today_status"] == "pending"
    assert "twice a week" in [habit["name"] for habit in four_weeks(clock)["habits"]]
