"""Years of somebody's life in the database, for benchmarks and tests of speed."""

import random
from collections.abc import Iterator
from datetime import date, timedelta

from tools.onepercent import days, histories, store

ACTIVE_GOALS, OPEN_STEPS, HABITS = 20, 5, 10
A_YEAR = {"goals": 300, "steps": 3000, "diary": 500, "calls": 1000}
MARKED = 0.913
"""The share of days that has a mark: 100,000 marks on 30 habits in ten years."""

STAMP = "2026-01-01T09:00:00.000Z"

TITLES = ("Читать главу", "Купить билеты", "Позвонить врачу", "Бег 5 км", "Урок 12", "Сдать отчёт", "Убрать стол")
GOALS = ("Выучить Python", "Пробежать марафон", "Ремонт кухни", "Накопить на отпуск", "Читать больше")


def live(years: int, habits: int = 30) -> None:
    """Fill the present database, which is empty, with what a busy person leaves in that time.

    However long, 20 goals are open with 5 open steps each.
    """
    chance = random.Random(years)
    today = days.today(days.now())
    with store.writing() as db:
        db.executemany(
            """INSERT INTO goals (user, title, category, status, created_at, updated_at) VALUES ('local', ?, 'work', ?, ?, ?)""",
            _goals(years, chance),
        )
        db.executemany(
            """INSERT INTO steps (user, goal_id, title, priority, dt, is_complete, time_duration, created_at, updated_at)
            VALUES ('local', ?, ?, 'attention', ?, ?, ?, ?, ?)""",
            _steps(years, chance, today),
        )
        db.executemany(
            """INSERT INTO habits (user, name, icon, xp_reward, xp_penalty, frequency_type, created_on, created_at, updated_at)
            VALUES ('local', ?, 'star', 10, 10, ?, ?, ?, ?)""",
            [
                (f"Привычка {number}", "daily" if number % 3 else "weekdays", _ago(today, 365 * years), STAMP, STAMP)
                for number in range(habits)
            ],
        )
        db.executemany(
            "INSERT INTO habit_marks VALUES (?, ?, 'local', ?, NULL, 10, ?, ?)", _marks(years, habits, chance, today)
        )
        db.executemany(
            """INSERT INTO diary (user, date, what_done, plans, created_at, updated_at) VALUES ('local', ?, ?, ?, ?, ?)""",
            [
                (_ago(today, chance.randrange(365 * years)), "Сделано. " * 40, "Планы. " * 20, STAMP, STAMP)
                for _ in range(A_YEAR["diary"] * years)
            ],
        )
        db.executemany(
            "INSERT INTO xp_ledger (user, at, xp, action, entity_id) VALUES ('local', ?, 10, 'habit.mark_completed', 1)",
            [(STAMP,)] * (count_marks(years, habits) // 2),
        )
        db.executemany(
            "INSERT INTO audit (request_id, at, user, tool, request, answer, ms) VALUES ('r', ?, 'local', 'preview_actions', ?, ?, 5)",
            [(STAMP, "x" * 600, "y" * 900)] * (A_YEAR["calls"] * years),
        )
        histories.settle_all(db, today)


def count(table: str) -> int:
    """The rows of a table."""
    with store.reading() as db:
        return db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


def count_marks(years: int, habits: int) -> int:
    """How many marks there are in so many years."""
    return int(365 * years * habits * MARKED)


def _goals(years: int, chance: random.Random) -> Iterator[tuple]:
    total = A_YEAR["goals"] * years
    for number in range(total):
        status = "work" if number >= total - ACTIVE_GOALS else "complete"
        yield chance.choice(GOALS), status, STAMP, STAMP


def _steps(years: int, chance: random.Random, today: date) -> Iterator[tuple]:
    goals, total = A_YEAR["goals"] * years, A_YEAR["steps"] * years
    for number in range(total - ACTIVE_GOALS * OPEN_STEPS):
        yield (
            1 + number % (goals - ACTIVE_GOALS),
            chance.choice(TITLES),
            _ago(today, chance.randrange(1, 365 * years)),
            1,
            None,
            STAMP,
            STAMP,
        )
    for number in range(ACTIVE_GOALS * OPEN_STEPS):
        dt = _ago(today, -chance.randrange(30)) if number % 2 else None
        yield goals - number % ACTIVE_GOALS, chance.choice(TITLES), dt, 0, 60 if number % 5 == 0 else None, STAMP, STAMP


def _marks(years: int, habits: int, chance: random.Random, today: date) -> Iterator[tuple]:
    for habit_id in range(1, habits + 1):
        for ago in range(365 * years):
            if chance.random() < MARKED:
                status = "completed" if chance.random() < 0.9 else "missed"
                yield habit_id, _ago(today, ago), status, STAMP, STAMP


def _ago(today: date, count: int) -> str:
    return (today - timedelta(days=count)).isoformat()
