"""Years of somebody's life in the database, for benchmarks and tests of speed."""

import random
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from typing import Any

from tools.onepercent.base import days
from tools.onepercent.database import store
from tools.onepercent.habits import histories

ACTIVE_GOALS, OPEN_STEPS = 20, 5
A_YEAR = {"goals": 300, "steps": 3000, "diary": 500, "calls": 1000}

# The share of days that has a mark: 100,000 marks on 30 habits in ten years.
MARKED = 0.913

STAMP = "2026-01-01T09:00:00.000Z"
STAMPS = {"user": "local", "created_at": STAMP, "updated_at": STAMP}

GOALS = ("Выучить Python", "Марафон", "Ремонт кухни", "Отпуск", "Читать больше")
STEPS = ("Глава 12", "Билеты", "К врачу", "Бег 5 км", "Урок 7")


def live(years: int, habits: int = 30) -> None:
    """Fill the present database, which is empty, with what a busy person leaves in that time.

    However long, 20 goals are open with 5 open steps each.
    """
    chance, today = random.Random(years), days.today(days.now())
    with store.writing() as db:
        _insert(db, "goals", _goals(years, chance))
        _insert(db, "steps", _steps(years, chance, today))
        _insert(db, "habits", _habits(years, habits, today))
        _insert(db, "habit_marks", _marks(years, habits, chance, today))
        _insert(db, "diary", _diary(years, chance, today))
        _insert(db, "xp_ledger", _ledger(years, habits, today))
        _insert(db, "audit", _calls(years))
        histories.fold_streaks(db, today)


def _insert(db: Any, table: str, rows: Iterable[dict[str, Any]]) -> None:
    rows = list(rows)
    names = ", ".join(f":{name}" for name in rows[0])
    db.executemany(f"INSERT INTO {table} ({names.replace(':', '')}) VALUES ({names})", rows)


def _goals(years: int, chance: random.Random) -> Iterator[dict[str, Any]]:
    for left in range(A_YEAR["goals"] * years, 0, -1):
        status = "work" if left <= ACTIVE_GOALS else "complete"
        yield {"title": chance.choice(GOALS), "category": "work", "status": status, **STAMPS}


def _steps(years: int, chance: random.Random, today: date) -> Iterator[dict[str, Any]]:
    goals, open_steps = A_YEAR["goals"] * years, ACTIVE_GOALS * OPEN_STEPS
    for number in range(A_YEAR["steps"] * years):
        still_open = number < open_steps
        day = _ago(today, -chance.randrange(30) if still_open else chance.randrange(1, 365 * years))
        goal_id = (
            goals - number % ACTIVE_GOALS if still_open else 1 + number % (goals - ACTIVE_GOALS)
        )
        done = {
            "is_complete": int(not still_open),
            "completed_at": None if still_open else f"{day}T09:00:00.000Z",
        }
        yield {
            "goal_id": goal_id,
            "title": chance.choice(STEPS),
            "priority": "attention",
            "dt": day,
            **done,
            **STAMPS,
        }


def _habits(years: int, habits: int, today: date) -> Iterator[dict[str, Any]]:
    for number in range(habits):
        how = {
            "frequency_type": "daily" if number % 3 else "weekdays",
            "created_on": _ago(today, 365 * years),
        }
        yield {
            "name": f"Привычка {number}",
            "icon": "star",
            "xp_reward": 10,
            "xp_penalty": 10,
            **how,
            **STAMPS,
        }


def _marks(years: int, habits: int, chance: random.Random, today: date) -> Iterator[dict[str, Any]]:
    for habit_id in range(1, habits + 1):
        for ago in range(365 * years):
            if chance.random() < MARKED:
                status = "completed" if chance.random() < 0.9 else "missed"
                yield {
                    "habit_id": habit_id,
                    "date": _ago(today, ago),
                    "status": status,
                    "xp": 10,
                    **STAMPS,
                }


def _diary(years: int, chance: random.Random, today: date) -> Iterator[dict[str, Any]]:
    for _ in range(A_YEAR["diary"] * years):
        day = _ago(today, chance.randrange(365 * years))
        yield {"date": day, "what_done": "Сделано. " * 40, "plans": "Планы. " * 20, **STAMPS}


def _ledger(years: int, habits: int, today: date) -> Iterator[dict[str, Any]]:
    count = int(365 * years * habits * MARKED)
    for number in range(count):
        at = f"{_ago(today, 365 * years - 1 - number * 365 * years // count)}T09:00:00.000Z"
        yield {
            "user": "local",
            "at": at,
            "xp": 10,
            "action": "habit.mark_completed",
            "entity_id": 1,
        }


def _calls(years: int) -> Iterator[dict[str, Any]]:
    call = {"request_id": "x", "at": STAMP, "user": "local", "tool": "preview_actions", "ms": 5.0}
    for _ in range(A_YEAR["calls"] * years):
        yield {**call, "request": "x" * 600, "answer": "y" * 900}


def _ago(today: date, count: int) -> str:
    return (today - timedelta(days=count)).isoformat()
