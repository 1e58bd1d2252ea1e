"""The snapshot: what each section says, and that its cost does not grow with a history."""

import json
from collections.abc import Callable

import pytest

import tests.onepercent.lifetimes as lifetimes
from tests.onepercent.person import act, call, do, items, ref, snapshot
from tools.onepercent.database import store


def test_the_default_is_goals_habits_and_xp():
    answer = call("get_user_snapshot")
    assert (answer["user_name"], list(answer["data"])) == ("local", ["xp"])
    do(act("goal.create", title="Цель"), act("habit.create", name="Бег"))
    assert list(snapshot()) == ["goals", "habits", "xp"]


def test_sections_without_content_cost_nothing():
    data = snapshot("goals", "habits", "diary", "schedule", "xp", "ssp", "subscription", "history")
    assert list(data) == ["xp", "subscription", "history"]
    assert data["xp"] == {"balance": 0, "lifetime": 0, "level": 1, "level_progress": 0, "next_level_xp": 1000}
    assert data["subscription"] == {"tariff": "self_hosted", "status": "active", "days_remaining": None}
    assert list(data["history"]) == ["date_from", "date_to", "xp", "total", "previous"]
    do(act("goal.create", title="Цель"), act("step.create", goal_id=None, title="Шаг", dt="2026-03-18"))
    assert list(snapshot("schedule")["schedule"]) == ["today"]


def test_a_goal_shows_its_first_five_open_steps_by_order_and_date_and_counts_the_rest():
    steps = [
        {"title": "поздно", "dt": "2026-05-01"},
        {"title": "рано", "dt": "2026-04-01"},
        {"title": "первый", "order": 1},
        {"title": "второй", "order": 2, "dt": "2027-01-01"},
        {"title": "без даты"},
        {"title": "последний"},
        {"title": "сделан", "order": 0},
    ]
    created = do(act("goal.create", title="Цель"), *[act("step.create", goal_id=None, **step) for step in steps])
    do(act("step.complete", step_id=created[7]))
    goal = items("goals")[0]
    assert [step["title"] for step in goal["steps"]] == ["первый", "второй", "рано", "поздно", "без даты"]
    assert goal["steps"][4] == {"id": created[5], "title": "без даты", "priority": "attention"}
    assert (goal["steps_more"], goal["steps_count"], goal["steps_completed"], goal["score"]) == (1, 7, 1, 25)
    whole = snapshot("goals", goal_id=created[0])["goals"]["items"][0]
    assert len(whole["steps"]) == 7 and whole["steps"][0]["is_complete"] is True and "steps_more" not in whole


def test_goals_are_shown_by_status():
    first, second, third = do(*[act("goal.create", title=title) for title in ("Раз", "Два", "Три")])
    do(act("goal.complete", goal_id=second), act("goal.delete", goal_id=third))
    found = {
        status: [one["id"] for one in snapshot("goals", goals_status=status)["goals"]["items"]]
        for status in ("work", "complete", "all")
    }
    assert found == {"work": [first], "complete": [second], "all": [first, second]}


def test_the_diary_is_newest_first_between_the_two_dates():
    for day in ("2026-03-10", "2026-03-17", "2026-03-18", "2026-03-25"):
        do(act("diary.create_entry", plans=day, date=day))

    def shown(**dates: str) -> list[str]:
        return [one["date"] for one in snapshot("diary", **dates)["diary"]["items"]]

    assert shown() == ["2026-03-25", "2026-03-18"]
    assert shown(date_from="2026-03-10") == ["2026-03-17", "2026-03-10"]
    assert shown(date_from="2026-03-10", date_to="2026-03-31") == [
        "2026-03-25",
        "2026-03-18",
        "2026-03-17",
        "2026-03-10",
    ]


def test_the_schedule_has_today_what_comes_and_what_is_overdue():
    days = ("2026-03-01", "2026-03-17", "2026-03-18", "2026-03-25", "2026-03-26")
    created = do(
        act("goal.create", title="Цель"), *[act("step.create", goal_id=None, title=day, dt=day) for day in days]
    )
    do(act("step.complete", step_id=created[1]), act("step.complete", step_id=created[3]))
    found = snapshot("schedule")["schedule"]
    assert [one["title"] for one in found["overdue"]] == ["2026-03-17"]
    assert found["today"] == [
        {
            "id": created[3],
            "title": "2026-03-18",
            "goal_id": created[0],
            "goal_title": "Цель",
            "date": "2026-03-18",
            "priority": "attention",
            "is_complete": True,
        }
    ]
    assert [one["title"] for one in found["upcoming"]] == ["2026-03-25"]


@pytest.mark.parametrize(("entries", "level", "progress"), [(0, 1, 0), (99, 1, 99), (100, 2, 0), (150, 2, 50)])
def test_level_n_starts_at_a_thousand_times_n_minus_one(entries: int, level: int, progress: int):
    for _ in range(entries // 50 + 1):
        if left := min(50, entries):
            do(*[act("diary.create_entry", plans="x") for _ in range(left)])
            entries -= left
    found = snapshot("xp")["xp"]
    assert (found["level"], found["level_progress"], found["next_level_xp"]) == (level, progress, level * 1000)


def test_lifetime_is_the_sum_of_gains():
    habit = do(act("habit.create", name="Бег"))[0]
    do(act("diary.create_entry", plans="x"), act("habit.mark_missed", habit_id=habit))
    found = snapshot("xp")["xp"]
    assert (found["balance"], found["lifetime"]) == (0, 10)


def test_the_six_spheres_show_the_last_rating():
    with store.writing() as db:
        for work in (3, 8):
            db.execute(
                "INSERT INTO ssp_evaluations (user, created_at, work, family) VALUES ('local', 'x', ?, 5)", (work,)
            )
    found = snapshot("ssp")["ssp"]
    assert (found["spheres"][0], found["average_score"]) == ({"category": "work", "name": "Работа", "score": 8}, 6.5)
    assert found["ssp_evaluation_id"] == 2


def test_a_busy_persons_default_snapshot_is_under_12_kb():
    lifetimes.settle_busy_person()
    answer = call("get_user_snapshot")
    found = {name: answer["data"][name]["total_count"] for name in ("goals", "habits")}
    assert found == {"goals": 20, "habits": 10}
    assert all(len(goal["steps"]) == 5 for goal in answer["data"]["goals"]["items"])
    assert len(json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()) < 12_000


def machine_steps(call: Callable[[], object]) -> int:
    """What a call costs in steps of sqlite's machine, which no other load on the computer changes."""
    count = [0]

    def step() -> None:
        count[0] += 1

    with store.connected() as db:
        db.set_progress_handler(step, 1)
    call()
    with store.connected() as db:
        db.set_progress_handler(None, 0)
    return count[0]


def a_busy_day() -> None:
    step, habit = act("step.create", goal_id=365, title="Шаг"), act("habit.create", name="Новая")
    do(step, act("step.complete", step_id=ref(step)), act("step.reopen", step_id=ref(step)),
       habit, act("habit.mark_completed", habit_id=ref(habit)), act("goal.complete", goal_id=365),
       act("diary.create_entry", plans="x"))  # fmt: skip


@pytest.mark.parametrize(
    "ask",
    [
        lambda: snapshot(),
        lambda: snapshot("history"),
        lambda: snapshot("history", date_from="2025-03-18"),
        lambda: snapshot("diary", "schedule", "xp", "ssp"),
        a_busy_day,
    ],
    ids=["default", "history of a week", "history of a year", "other sections", "preview and apply"],
)
def test_a_call_reads_no_more_of_four_years_than_of_two(ask: Callable[[], object]):
    costs = []
    for years in (2, 4):
        store.release()
        for file in store.path().parent.glob("life.sqlite3*"):
            file.unlink()
        lifetimes.live(years, habits=5)
        with store.writing() as db:
            db.execute("UPDATE goals SET status = 'work' WHERE id = 365")
        costs.append(machine_steps(ask))
    assert costs[1] < costs[0] * 1.5
