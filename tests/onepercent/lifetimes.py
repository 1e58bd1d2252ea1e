"""Years of somebody's life in the database, for benchmarks and tests of speed."""

import random
from datetime import timedelta
from itertools import product

from tools.onepercent.base import days
from tools.onepercent.database import store
from tools.onepercent.habits import histories

ACTIVE_GOALS, OPEN_STEPS = 20, 5
A_YEAR = {"goals": 300, "steps": 3000, "diary": 500, "audit": 1000}

# The share of days that has a mark: 100,000 marks on 30 habits in ten years.
MARKED = 0.913

STAMP = "2026-01-01T09:00:00.000Z"
STAMPS = {"user": "local", "created_at": STAMP, "updated_at": STAMP}

GOALS = ("Выучить Python", "Марафон", "Ремонт кухни", "Отпуск", "Читать больше")
STEPS = ("Глава 12", "Билеты", "К врачу", "Бег 5 км", "Урок 7")


def live(years, habits=30):
    """Fill the present database, which is empty, with what a busy person leaves in that time.

    However long, 20 goals are open with 5 open steps each.
    """
    chance, today, length = random.Random(years), days.today(days.now()), 365 * years
    closed_goals = A_YEAR["goals"] * years - ACTIVE_GOALS
    gains = int(length * habits * MARKED)

    def day(ago):
        return str(today - timedelta(ago))

    def goal(number):
        status = "complete" if number < closed_goals else "work"
        return {"title": chance.choice(GOALS), "category": "work", "status": status, **STAMPS}

    def step(number):
        step = {"title": chance.choice(STEPS), "priority": "attention", **STAMPS}
        if number < ACTIVE_GOALS * OPEN_STEPS:
            goal_id = closed_goals + 1 + number % ACTIVE_GOALS
            is_open = {"is_complete": 0, "completed_at": None}
            return step | {"goal_id": goal_id, "dt": day(-chance.randrange(30))} | is_open
        dt, goal_id = day(chance.randrange(1, length)), 1 + number % closed_goals
        is_done = {"is_complete": 1, "completed_at": f"{dt}T09:00:00.000Z"}
        return step | {"goal_id": goal_id, "dt": dt} | is_done

    def habit(number):
        frequency = "daily" if number % 3 else "weekdays"
        habit = {"icon": "star", "xp_reward": 10, "xp_penalty": 10, "created_on": day(length)}
        return {"name": f"Привычка {number}", "frequency_type": frequency, **habit, **STAMPS}

    def mark(place):
        habit_id, ago = place
        status = "completed" if chance.random() < 0.9 else "missed"
        return {"habit_id": habit_id, "date": day(ago), "status": status, "xp": 10, **STAMPS}

    def entry(_):
        texts = {"what_done": "Сделано. " * 40, "plans": "Планы. " * 20}
        return {"date": day(chance.randrange(length)), **texts, **STAMPS}

    def gain(number):
        at = f"{day(length - 1 - number * length // gains)}T09:00:00.000Z"
        return {
            "at": at,
            "user": "local",
            "xp": 10,
            "action": "habit.mark_completed",
            "entity_id": 1,
        }

    def call(_):
        call = {"request_id": "x", "at": STAMP, "user": "local", "tool": "preview_actions"}
        return call | {"ms": 5.0, "request": "x" * 600, "answer": "y" * 900}

    places = product(range(1, habits + 1), range(length))
    marked = [place for place in places if chance.random() < MARKED]
    numbers = {table: range(count * years) for table, count in A_YEAR.items()}
    with store.writing() as db:
        _insert(db, "goals", map(goal, numbers["goals"]))
        _insert(db, "steps", map(step, numbers["steps"]))
        _insert(db, "habits", map(habit, range(habits)))
        _insert(db, "habit_marks", map(mark, marked))
        _insert(db, "diary", map(entry, numbers["diary"]))
        _insert(db, "xp_ledger", map(gain, range(gains)))
        _insert(db, "audit", map(call, numbers["audit"]))
        histories.fold_streaks(db, today)


def _insert(db, table, rows):
    rows = list(rows)
    names = ", ".join(f":{name}" for name in rows[0])
    db.executemany(f"INSERT INTO {table} ({names.replace(':', '')}) VALUES ({names})", rows)
