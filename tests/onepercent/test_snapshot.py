"""The snapshot: what each section says, and that its cost does not grow with a history."""

import pytest

import tests.onepercent.lifetimes as lifetimes
from tests.onepercent.person import (
    act,
    behind_the_tools,
    call,
    complete,
    do,
    first_goal,
    first_habit,
    items,
    mark,
    miss,
    new_entry,
    new_goal,
    new_habit,
    new_step,
    preview,
    ref,
    schedule,
    snapshot,
    use,
)
from tools.core.tool import TOOLS
from tools.onepercent.database import store
from tools.onepercent.transfer.backup import write_backup


def test_the_default_is_goals_habits_and_xp():
    answer = call("get_user_snapshot")
    assert (answer["user_name"], list(answer["data"])) == ("local", ["goals", "habits", "xp"])


def test_a_section_asked_for_is_there_also_when_it_is_empty():
    data = snapshot("goals", "habits", "diary", "schedule", "xp", "ssp", "history")
    assert list(data) == ["goals", "habits", "diary", "schedule", "xp", "ssp", "history"]
    assert data["goals"] == data["diary"] == {"items": [], "total_count": 0}
    assert data["schedule"] == {"today": [], "upcoming": [], "overdue": []}
    assert data["history"]["days"] == []
    assert data["xp"] == {
        "balance": 0,
        "lifetime": 0,
        "level": 1,
        "level_progress": 0,
        "next_level_xp": 1000,
    }


def test_a_goal_shows_what_is_next_and_its_open_steps_by_order_and_date_if_they_are_asked_for():
    do(
        new_goal("Цель", due="2026-12-31"),
        new_step("поздно", dt="2026-05-01"),
        new_step("рано", dt="2026-04-01"),
        new_step("первый", order=1),
        new_step("второй", order=2, dt="2027-01-01"),
        new_step("без даты"),
        new_step("сделан", order=0),
    )
    do(complete(6))
    [brief] = snapshot()["goals"]["items"]
    assert brief == {
        "id": 1,
        "title": "Цель",
        "done": "1/6",
        "due": "2026-12-31",
        "moved": "2026-03-18",
        "next": {"id": 3, "title": "первый"},
    }
    whole = first_goal()
    titles = [step["title"] for step in whole["steps"]]
    assert titles == ["первый", "второй", "рано", "поздно", "без даты"]
    assert whole["steps"][4] == {"id": 5, "title": "без даты"}
    assert snapshot("steps")["goals"]["usual"] == {"priority": "attention"}
    assert (whole["steps_count"], whole["steps_completed"], whole["score"]) == (6, 1, 25)
    alone = snapshot(goal_id=1)
    assert alone.keys() == {"goals"}
    assert alone["goals"]["usual"] == {"priority": "attention", "is_complete": False}
    only = alone["goals"]["items"][0]
    assert len(only["steps"]) == 6 and only["steps"][0]["is_complete"] is True


def test_the_diary_is_newest_first_between_the_two_dates():
    for day in ("2026-03-10", "2026-03-17", "2026-03-18", "2026-03-25"):
        do(new_entry(plans=day, date=day))
    for question, dates in (
        ({}, ["2026-03-25", "2026-03-18"]),
        ({"date_from": "2026-03-10"}, ["2026-03-17", "2026-03-10"]),
        ({"date_from": "2026-03-10", "date_to": "2026-03-17"}, ["2026-03-17", "2026-03-10"]),
    ):
        assert [entry["date"] for entry in items("diary", **question)] == dates


def test_the_schedule_has_today_what_comes_and_what_is_overdue():
    days = ("2026-03-01", "2026-03-17", "2026-03-18", "2026-03-25", "2026-03-26")
    do(new_goal("Цель"), *[new_step(day, dt=day) for day in days])
    do(complete(1), complete(3))
    section = schedule()
    assert [step["title"] for step in section["overdue"]] == ["2026-03-17"]
    assert section["usual"] == {"priority": "attention"} and section["goals"] == {"1": "Цель"}
    assert section["today"] == [
        {
            "id": 3,
            "title": "2026-03-18",
            "goal_id": 1,
            "date": "2026-03-18",
            "is_complete": True,
            "completed_on": "2026-03-18",
        }
    ]
    assert [step["title"] for step in section["upcoming"]] == ["2026-03-25"]


def test_a_habit_that_is_excused_today_is_missed_and_not_asked_for_again():
    do(new_habit("Бег"), miss(1, excuse_reason="болею"))
    assert first_habit()["today_status"] == "missed"


def test_the_six_spheres_show_the_last_rating():
    do(act("ssp.rate", category="work", score=3), act("ssp.rate", category="family", score=5))
    do(act("ssp.rate", category="work", score=8))
    section = snapshot("ssp")["ssp"]
    assert section["spheres"][0] == {"category": "work", "name": "Работа", "score": 8}
    assert section["average_score"] == 6.5


def machine_steps(call):
    """What a call costs in steps of sqlite's machine, which no other load on the computer changes."""
    steps = []
    with store.connected() as db:
        db.set_progress_handler(lambda: steps.append(0), 1)
    call()
    with store.connected() as db:
        db.set_progress_handler(None, 0)
    return len(steps)


def a_busy_day():
    step = new_step("Шаг", 365)
    habit = new_habit("Новая")
    do(step, complete(ref(step)), act("step.reopen", ref(step)),
       habit, mark(ref(habit)), act("goal.complete", 365),
       new_entry(plans="x"))  # fmt: skip


def test_calls_read_no_more_of_four_years_than_of_two():
    runs = [
        snapshot,
        lambda: snapshot("history"),
        lambda: snapshot("history", date_from="2025-03-18"),
        lambda: snapshot("diary", "schedule", "xp", "ssp"),
        a_busy_day,
    ]
    costs = []
    for years in (2, 4):
        use(store.path().with_name(f"{years}.sqlite3"))
        lifetimes.live(years, habits=5)
        behind_the_tools("UPDATE goals SET status = 'work' WHERE id = 365")
        costs.append([machine_steps(run) for run in runs])
    assert all(later < earlier * 1.5 for earlier, later in zip(*costs, strict=True)), costs


@pytest.mark.parametrize(
    "dates", [{"date_from": "9999-12-28"}, {"date_from": "9999-12-31", "date_to": "9999-12-31"}]
)
def test_a_date_without_days_after_it_is_a_clear_error(dates):
    answer = call("get_user_snapshot", **dates)
    assert (answer["code"], answer["field"]) == ("INVALID_DATE", "date_from")
    assert "is after 9000-01-01" in answer["error"]


@pytest.mark.parametrize("include", ["schedule", "history", "diary", "xp"])
def test_a_date_without_days_before_it_is_the_past(include):
    do(new_habit("Бег"))
    for dates in ({"date_to": "0001-02-01"}, {"date_to": "9999-12-31"}, {}):
        answer = call(
            "get_user_snapshot", include=[include], date_from="0001-01-01", picture=True, **dates
        )
        assert answer.get("code") == ("INVALID_DATE" if "0001" in str(dates) else None)
        assert TOOLS["get_user_snapshot"].page.private(answer) or not answer["success"]


@pytest.mark.parametrize("absent", ["", "null", None])
def test_a_text_that_stands_for_nothing_is_absent(absent):
    names = ("date_from", "date_to", "find", "goals_status", "include", "goal_id", "picture")
    assert call("get_user_snapshot", **dict.fromkeys(names, absent)) == call("get_user_snapshot")
    previewed = preview(new_goal("Дом"))
    arguments = {"preview_id": previewed["preview_id"], "user_confirmation": "да"}
    assert call("apply_actions", **arguments, idempotency_key=absent)["success"]


def test_the_status_names_the_newest_copy_and_how_to_make_one():
    status = snapshot("status")["status"]
    assert status["backup"]["newest"] is None
    assert "python3 -m tools onepercent backup" in status["commands"]
    assert status["systems"]["onepercent"] == "ok" and "search" in status["offline"]
    write_backup()
    assert snapshot("status")["status"]["backup"]["newest"] == "2026-03-18"
