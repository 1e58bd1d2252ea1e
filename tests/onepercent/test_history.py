"""The history, against a recount by hand."""

import random
from datetime import date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from tests.onepercent.person import (
    accepted,
    act,
    call,
    complete,
    do,
    first_goal,
    history,
    insert,
    mark,
    miss,
    new_entry,
    new_goal,
    new_habit,
    new_step,
    run,
    snapshot,
    use,
)
from tests.support.client import json_lines
from tools.onepercent.base import days
from tools.onepercent.database import store

TODAY = date(2026, 11, 22)
STAMPS = {"created_at": "2024-01-01T00:00:00.000Z", "updated_at": "2024-01-01T00:00:00.000Z"}
UNIT_OF_LENGTH = {
    1: "days",
    31: "days",
    32: "weeks",
    92: "weeks",
    93: "months",
    366: "months",
}


@pytest.mark.parametrize("zone", ["America/New_York", "Pacific/Kiritimati", "Asia/Kathmandu"])
def test_a_history_is_what_a_recount_says(zone, file, clock):
    chance = random.Random(zone)
    use(file, ONEPERCENT_TZ=zone)
    clock.set("2026-11-22T09:00:00+00:00")
    do(new_goal("Цель"), new_habit("Бег"))
    # The days and the XP of closed steps; also around the midnights of New York and the changes of clocks.
    closed = []
    entries = {TODAY - timedelta(chance.randrange(733)) for _ in range(200)}
    kept = {TODAY - timedelta(ago) for ago in range(700) if chance.random() < 0.6}
    done = {"priority": "optional", "is_complete": 1, "goal_id": 1}
    with store.writing() as db:
        db.execute("UPDATE habits SET created_on = '2024-11-01'")
        for hour in sorted(chance.sample(range(733 * 24), 600)):
            moment = datetime(2024, 11, 20, 0, 59, tzinfo=timezone.utc) + timedelta(hours=hour)
            stamp = days.stamp(moment)
            day = days.date_of_stamp(stamp)
            xp = chance.choice([25, 10, 150])
            step = {"title": f"Шаг {len(closed)}", "completed_at": stamp, "completed_on": day}
            insert(db, "steps", **step, **done, **STAMPS)
            insert(db, "xp_ledger", at=stamp, day=day, xp=xp, action="x", entity_id=1)
            closed.append((moment.astimezone(ZoneInfo(zone)).date(), xp))
        for day in entries:
            insert(db, "diary", date=f"{day}", plans="x", **STAMPS)
        for day in kept:
            insert(db, "habit_marks", habit_id=1, date=f"{day}", status="completed", xp=0, **STAMPS)

    present = clock().astimezone(ZoneInfo(zone)).date()
    for length, unit in UNIT_OF_LENGTH.items():
        first = present - timedelta(length - 1)
        section = history(date_from=f"{first}", date_to=f"{present}")
        for name, start in (("total", first), ("previous", first - timedelta(length))):
            sums = section[name]
            span = {start + timedelta(ago) for ago in range(length)}
            gains = [xp for day, xp in closed if day in span]
            assert (sums["xp"], sums["steps"]) == (sum(gains), len(gains))
            assert sums["diary"] == len(span & entries)
            assert sums["habits"].startswith(f"{len(span & kept)}/")
        summaries = section[unit]
        assert sum(summary.get("xp", 0) for summary in summaries) == section["total"]["xp"]
        assert section["xp"]["to"] - section["xp"]["from"] == section["total"]["xp"]
        if unit == "days":
            for summary in summaries:
                day = date.fromisoformat(summary["date"])
                titles = [f"Шаг {number}" for number, (on, _) in enumerate(closed) if on == day]
                assert summary.get("steps", []) == titles
            is_kept = [first + timedelta(ago) in kept for ago in range(length)]
            assert [sign == "+" for sign in section["habits"][0]["marks"]] == is_kept
        else:
            steps = [summary.get("steps", 0) for summary in summaries]
            assert sum(steps) == section["total"]["steps"]


def test_the_history_of_a_week_is_its_closed_steps_and_kept_habits(clock):
    do(new_goal("Марафон"), new_step("5 км"), new_habit("Бег"))
    do(mark(1, date="2026-03-17"), miss(1))
    clock.set("2026-03-19T12:00:00+00:00")
    do(complete(1), new_entry(plans="x"), act("goal.complete", 1))
    section = history()
    assert (section["date_from"], section["date_to"]) == ("2026-03-13", "2026-03-19")
    day = {"date": "2026-03-19", "xp": 185, "steps": ["5 км"], "goals": ["Марафон"]}
    assert day.items() <= section["days"][-1].items()
    assert section["habits"] == [
        {"id": 1, "name": "Бег", "marks": "....+-?", "rate": 50, "streak": 0}
    ]
    assert section["total"]["steps"] == 1 and section["previous"]["steps"] == 0


# Sections, their first day, and how often they have an entry of 18 March.
QUOTED = json_lines("""
[["history", "diary"], "2026-03-18", 1]
[["history", "diary"], "2026-03-17", 1]
[["history"], "2026-03-11", 1]
[["history"], "2026-03-10", 0]
""")


def test_a_day_of_the_diary_is_told_once_and_quoted_in_a_history_of_eight_days():
    do(new_entry(what_done="Бегал в парке"))
    for sections, first, count in QUOTED:
        sections = snapshot(*sections, date_from=first, date_to="2026-03-18")
        assert str(sections).count("Бегал в парке") == count
    do(new_entry(what_done="Читал", date="2026-03-17"))
    assert str(snapshot("history", "diary")).count("Читал") == 1


def test_a_half_done_step_says_so_and_a_goal_the_day_of_its_last_change(clock):
    do(new_goal("Дом", steps=["Уборка"]), new_goal("Сад"))
    clock.set("2026-03-20T12:00:00+00:00")
    assert "Шаг «Уборка»: готово: — → половина" in accepted(act("step.update", 1, progress=50))
    assert first_goal()["steps"][0]["progress"] == 50
    goals = snapshot("goals")["goals"]["items"]
    assert [goal["moved"] for goal in goals] == ["2026-03-20", "2026-03-18"]


def test_a_history_reaches_as_far_back_as_the_data_and_days_before_them_are_an_error(
    clock, tmp_path
):
    do(new_habit("Бег"), new_goal("Цель", steps=["Шаг"]))
    do(mark(1), complete(1), new_entry(plans="x"))
    clock.set("2029-03-18T12:00:00+00:00")
    month = {"date_from": "2026-03-01", "date_to": "2026-03-31"}
    section = history(**month)
    assert section["total"] == {"xp": 45, "steps": 1, "goals": 0, "diary": 1, "habits": "1/14"}
    assert section["days"][0]["date"] == "2026-03-18"
    section = history(date_from="2000-01-01")
    assert section["date_from"] == "2026-03-18" and section["months"][0]["month"] == "2026-03"
    assert section["total"]["xp"] == 45
    # Up to a year begins as asked.
    for first, begin in (("2025-03-18", "2025-03-18"), ("2025-03-17", "2026-03-18")):
        assert history(date_from=first, date_to="2026-03-18")["date_from"] == begin
    for period in (
        {"date_from": "2026-02-01", "date_to": "2026-03-17"},
        {"date_from": "2029-03-19"},
    ):
        error = call("get_user_snapshot", include=["history"], **period)
        assert error["code"] == "INVALID_DATE" and "Send dates from 2026-03-18" in error["hint"]
    file = tmp_path / "report.html"
    assert run("report", file, "--from", "2026-03-01", "--to", "2026-03-31").status == 0
    refusal = run("report", file, "--from", "2025-03-01", "--to", "2025-03-31")
    assert "Nothing is kept" in refusal.text
