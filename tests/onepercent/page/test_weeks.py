"""The last four weeks and the four before, as the page of the days gets them."""

import random
from datetime import date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from tests.onepercent.person import act, do, use
from tools.onepercent import days
from tools.onepercent.database import store
from tools.onepercent.page import pages
from tools.onepercent.page.weeks import DAYS, weeks


def read(clock):
    with store.reading() as db:
        return weeks(db, "local", days.today(clock()))


@pytest.mark.parametrize("zone", ["UTC", "Pacific/Auckland", "America/New_York"])
def test_the_sums_are_those_of_a_recount(clock, file, zone):
    use(file, ONEPERCENT_TZ=zone)
    draw = random.Random(zone)
    start = datetime(2026, 3, 1, 5, tzinfo=timezone.utc)
    clock.set(start.isoformat())
    do(
        act("goal.create", title="g"),
        act("habit.create", name="a"),
        act("habit.create", name="b", frequency_type="weekends"),
    )
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
    for name, first in (("now", today - timedelta(DAYS - 1)), ("before", today - timedelta(2 * DAYS - 1))):
        inside = [what for when, what in seen if first <= when < first + timedelta(DAYS)]
        assert {key: answer[name][key] for key in ("xp", "steps", "diary")} == {
            key: sum(what[key] for what in inside) for key in ("xp", "steps", "diary")
        }


def test_what_is_still_due_today_is_not_missed(clock):
    do(act("habit.create", name="a"), act("habit.create", name="b"))
    assert read(clock)["now"]["habits"] == [0, 0]
    do(act("habit.mark_completed", habit_id=1))
    assert read(clock)["now"]["habits"] == [1, 1]
    clock.set("2026-03-19T12:00:00+00:00")
    assert read(clock)["now"]["habits"] == [1, 2]
    assert [habit["marks"][-2:] for habit in read(clock)["habits"]] == ["+?", "??"]
    assert [habit["streak"] for habit in read(clock)["habits"]] == [1, 0]


def test_only_the_page_is_told(clock):
    do(act("habit.create", name="a"))
    private = pages.DAYS.private({"success": True})
    assert private[pages.WEEKS]["today"] == date(2026, 3, 18).isoformat()
    assert pages.PRESS in private
    assert pages.DAYS.private({"success": False}) == {}
