"""The last four weeks and the four before, as the page of the days gets them."""

import random
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from tests.onepercent.person import act, call, do, use
from tools.core.presses import PRESS
from tools.onepercent import days
from tools.onepercent.database import store
from tools.onepercent.page import person_pages
from tools.onepercent.page.person_pages import DAYS_SHOWN, glance


def read(clock):
    """The sums of the last four weeks and of those before, up to today."""
    today = days.today(clock())
    with store.reading() as db:
        shown = glance(db, "local", today, today, today - timedelta(DAYS_SHOWN - 1), today)
    names = ("kept", "due", "xp", "steps", "diary")
    parts = {"now": shown["sums"][1], "before": shown["sums"][0]}
    assert {len(part) for part in parts.values()} == {DAYS_SHOWN}
    return shown | {
        name: dict(zip(names, map(sum, zip(*part, strict=True)), strict=True)) for name, part in parts.items()
    }


@pytest.mark.parametrize("zone", ["UTC", "Pacific/Auckland", "America/New_York"])
def test_the_sums_are_those_of_a_recount(clock, file, zone):
    use(file, ONEPERCENT_TZ=zone)
    draw = random.Random(zone)
    start = datetime(2026, 3, 1, 5, tzinfo=timezone.utc)
    clock.set(start.isoformat())
    do(act("goal.create", title="g"))
    seen = []
    for day in range(70):
        clock.set((start + timedelta(days=day, hours=draw.randrange(24))).isoformat())
        local = clock().astimezone(ZoneInfo(zone)).date()
        happened = {"steps": 0, "xp": 0, "diary": 0}
        if draw.random() < 0.5:
            do(act("step.create", goal_id=1, title="s"))
            with store.reading() as db:
                (step,) = db.execute("SELECT max(id) FROM steps").fetchone()
            do(act("step.complete", step_id=step))
            happened |= {"steps": 1, "xp": 25}
        if draw.random() < 0.3 and not any(when == local and what["diary"] for when, what in seen):
            do(act("diary.create_entry", what_done="x"))
            happened = {**happened, "diary": 1, "xp": happened["xp"] + 10}
        seen.append((local, happened))
    today = days.today(clock())
    answer = read(clock)
    for name, first in (("now", today - timedelta(DAYS_SHOWN - 1)), ("before", today - timedelta(2 * DAYS_SHOWN - 1))):
        inside = [what for when, what in seen if first <= when < first + timedelta(DAYS_SHOWN)]
        assert {key: answer[name][key] for key in ("xp", "steps", "diary")} == {
            key: sum(what[key] for what in inside) for key in ("xp", "steps", "diary")
        }


def test_what_is_still_due_today_is_not_missed(clock):
    do(act("habit.create", name="a"), act("habit.create", name="b"))
    assert read(clock)["now"]["due"] == 0
    do(act("habit.mark_completed", habit_id=1))
    assert (read(clock)["now"]["kept"], read(clock)["now"]["due"]) == (1, 1)
    clock.set("2026-03-19T12:00:00+00:00")
    assert (read(clock)["now"]["kept"], read(clock)["now"]["due"]) == (1, 2)
    assert [signs[-2:] for signs in read(clock)["week"].values()] == ["+?", "??"]


def test_the_page_is_told_of_the_days_that_were_asked_for(clock):
    do(act("habit.create", name="a"), act("habit.create", name="b", frequency_type="weekly"))
    month = {"include": ["history"], "date_from": "2026-02-01", "date_to": "2026-02-28"}
    spans = {}
    for name, question in {
        "today": {},
        "a day": {"date_from": "2026-03-10"},
        "ahead": {"date_to": "2026-03-20"},
        "a month": month,
    }.items():
        private = person_pages.DAYS.private(call("get_user_snapshot", **question))
        shown = private[person_pages.DAYS_DATA]
        spans[name] = (shown["day"], shown["first"], shown["last"], len(shown["sums"][1]))
        assert PRESS in private
    assert spans == {
        "today": ("2026-03-18", "2026-02-23", "2026-03-22", 28),
        "a day": ("2026-03-10", "2026-02-16", "2026-03-15", 28),
        "ahead": ("2026-03-18", "2026-03-18", "2026-03-20", 3),
        "a month": ("2026-02-28", "2026-02-01", "2026-02-28", 28),
    }
    assert shown["today"] == "2026-03-18"
    assert person_pages.DAYS.private({"success": False}) == {}
