"""The days, and the weeks before them, as the page of the days gets them."""

from datetime import timedelta

from tests.onepercent.person import act, call, do
from tools.core.presses import PRESS
from tools.onepercent import days
from tools.onepercent.database import store
from tools.onepercent.page import person_pages
from tools.onepercent.page.person_pages import DAYS_SHOWN, glance


def read(clock):
    """The data of the day that ends the last four weeks; `sums` added up: habits kept and due, XP, steps,
    diary entries."""
    today = days.today(clock())
    with store.reading() as db:
        shown = glance(db, "local", today, today, today - timedelta(DAYS_SHOWN - 1), today)
    assert [len(part) for part in shown["sums"]] == [DAYS_SHOWN, DAYS_SHOWN]
    return shown | {"sums": [[*map(sum, zip(*part, strict=True))] for part in shown["sums"]]}


def test_the_sums_of_the_weeks_stand_beside_those_before(clock):
    """tests/onepercent/test_history.py recounts them."""
    do(
        act("goal.create", title="g"),
        act("step.create", goal_id=None, title="s"),
        act("diary.create_entry", what_done="x"),
    )
    clock.set("2026-04-15T12:00:00+00:00")  # the first of the weeks was the last of those before
    do(act("step.complete", step_id=1))
    assert read(clock)["sums"] == [[0, 0, 10, 0, 1], [0, 0, 25, 1, 0]]
    assert read(clock)["gained"] == 25


def test_what_is_still_due_today_is_not_missed(clock):
    do(act("habit.create", name="a"), act("habit.create", name="b"))
    assert read(clock)["sums"][1][:2] == [0, 0]
    do(act("habit.mark_completed", habit_id=1))
    assert read(clock)["sums"][1][:2] == [1, 1]
    clock.set("2026-03-19T12:00:00+00:00")
    assert read(clock)["sums"][1][:2] == [1, 2]
    assert [signs[-2:] for signs in read(clock)["week"].values()] == ["+?", "??"]


def test_the_page_is_told_of_the_days_that_were_asked_for(clock):
    for question, told in (
        ({}, ("2026-03-18", "2026-02-23", "2026-03-22")),
        ({"date_from": "2026-03-10"}, ("2026-03-10", "2026-02-16", "2026-03-15")),
        ({"date_to": "2026-03-20"}, ("2026-03-18", "2026-03-18", "2026-03-20")),
        ({"include": ["history"], "date_from": "2026-02-01", "date_to": "2026-02-28"}, ("2026-02-28", "2026-02-01", "2026-02-28")),
    ):  # fmt: skip
        private = person_pages.DAYS.private(call("get_user_snapshot", **question))
        shown = private[person_pages.DAYS_DATA]
        assert (shown["day"], shown["first"], shown["last"]) == told and shown["today"] == "2026-03-18"
        assert PRESS in private
    assert person_pages.DAYS.private({"success": False}) == {}
