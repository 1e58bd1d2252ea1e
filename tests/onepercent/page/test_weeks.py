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
)
from tools.core.presses import PRESS
from tools.onepercent.base import days
from tools.onepercent.page import person_pages
from tools.onepercent.snapshot.history import RECENT_DAYS


def read(clock):
    """The data of the day that ends the last four weeks."""
    today = days.today(clock())
    return person_pages.days_data((today - timedelta(RECENT_DAYS - 1), today), True)


def test_the_sums_of_the_weeks_stand_beside_those_before(clock):
    """tests/onepercent/test_history.py recounts them."""
    do(new_goal("g"), new_step("s"), new_entry(what_done="x"))
    clock.set("2026-04-15T12:00:00+00:00")  # the first of the weeks was the last of those before
    do(complete(1))
    shown = read(clock)
    assert (shown["before"], shown["now"], shown["passed"]) == (
        [0, 10, 0, 1],
        [0, 25, 1, 0],
        RECENT_DAYS,
    )
    assert len(shown["cells"]) == RECENT_DAYS and shown["cells"][-1] == [0, 25, 1, 0]
    assert shown["gained"] == 25


def test_days_that_are_still_to_come_are_no_losses(clock):
    """As many days of the time before as have passed: 7 of 28, of which the first two were full."""
    do(new_habit("a"))
    do(mark(1, dates=["2026-03-09..2026-03-18"]))
    first = date(2026, 3, 16)
    shown = person_pages.days_data((first, first + timedelta(6)), True)
    assert shown["passed"] == 3
    assert (shown["now"][:2], shown["before"][:2]) == ([1, 30], [1, 30]), (
        "Monday to Wednesday of both weeks"
    )


def test_what_is_still_due_today_is_not_missed(clock):
    do(new_habit("a"), new_habit("b"))
    assert read(clock)["now"] == []
    assert read(clock)["cells"][-1] == [0, 0, 0, 0], "the day itself is open"
    do(mark(1))
    assert (read(clock)["now"][0], read(clock)["cells"][-1][0]) == (1, 0.5)
    clock.set("2026-03-19T12:00:00+00:00")
    assert read(clock)["now"][0] == 0.5
    assert [habit["signs"][-2:] for habit in read(clock)["habits"]] == ["+?", "??"]


def test_tomorrow_has_what_is_due_then_and_no_habit_whose_week_has_enough(clock):
    do(
        new_habit("daily"),
        new_habit("on Thursdays", frequency_type="custom", schedule_days=[4]),
        new_habit("on Fridays", frequency_type="custom", schedule_days=[5]),
        new_habit("once a week", frequency_type="weekly"),
        new_goal("g"),
        new_step("s", dt="2026-03-19"),
    )
    assert read(clock)["next"]["habits"] == ["daily", "on Thursdays"]
    clock.set("2026-03-21T12:00:00+00:00")
    assert read(clock)["next"]["habits"] == ["daily", "once a week"], "on the last day it must"
    clock.set("2026-03-18T12:00:00+00:00")
    do(mark(4))
    assert read(clock)["next"] == {
        "date": "2026-03-19",
        "steps": ["s"],
        "habits": ["daily", "on Thursdays"],
    }
    do(act("habit.pause", 1))
    assert read(clock)["next"]["habits"] == ["on Thursdays"]


def test_the_week_that_can_be_turned_to_ends_today_or_is_the_days_own(clock):
    for day, monday in (
        ("2026-03-12", "2026-03-12"),
        ("2026-03-11", "2026-03-09"),
        ("2026-03-20", "2026-03-16"),
    ):
        strip = person_pages.days_data((date.fromisoformat(day),) * 2, True)["strip"]
        assert (len(strip), strip[0][0]) == (7, monday)
        assert day in dict(strip)


def test_the_page_is_told_of_the_days_that_were_asked_for(clock):
    do(new_entry(plans="x", date="2026-02-10"))
    for question, told in (
        ({}, ("2026-03-18", "2026-02-23", "2026-03-22")),
        ({"date_from": "2026-03-10"}, ("2026-03-10", "2026-02-16", "2026-03-15")),
        ({"date_to": "2026-03-20"}, ("2026-03-18", "2026-03-18", "2026-03-20")),
        ({"include": ["history"], "date_from": "2026-02-01", "date_to": "2026-02-28"}, ("2026-02-28", "2026-02-01", "2026-02-28")),
    ):  # fmt: skip
        private = person_pages.DAYS.private(call("get_user_snapshot", **question))
        shown = private[person_pages.DAYS_DATA]
        assert (shown["day"], shown["first"], shown["last"]) == told and shown[
            "today"
        ] == "2026-03-18"
        assert PRESS in private
    assert person_pages.DAYS.private({"success": False}) == {}


def test_the_ring_history_strip_report_and_the_chat_say_the_same_of_a_day(clock, tmp_path):
    clock.set("2026-03-16T12:00:00+00:00")  # a Monday
    do(
        *(new_habit(name) for name in ("a", "b")),
        new_habit("once a week", frequency_type="weekly"),
        new_habit("twice a week", frequency_type="times_per_week", times=2),
    )
    shown = read(clock)
    assert [habit["name"] for habit in shown["habits"]] == ["a", "b"]
    assert [habit["name"] for habit in shown["others"]] == ["once a week", "twice a week"]
    do(act("habit.mark_completed", habit_ids=[1, 2]))
    for done, marked in ((2, []), (3, [mark(3)])):
        do(*marked) if marked else None
        data = snapshot("habits", "history")
        assert data["history"]["days"][-1]["habits"] == f"{done}/{done}"
        assert (data["habits"]["today_completed"], data["habits"]["today_total"]) == (done, done)
        shown = read(clock)
        assert shown["cells"][shown["passed"] - 1][0] == shown["strip"][-1][1] == 1
        assert len(shown["habits"]) == done
    clock.set("2026-03-22T12:00:00+00:00")  # the last day: what is missing must be done
    assert {habit["name"]: habit["today_status"] for habit in items("habits")}[
        "twice a week"
    ] == "pending"
    assert "twice a week" in [habit["name"] for habit in read(clock)["habits"]]
