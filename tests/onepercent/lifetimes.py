"""Years of somebody's life in the database, for benchmarks and tests of speed."""

import random
from datetime import timedelta

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


def live(years, habits=30):
    """Fill the present database, which is empty, with what a busy person leaves in that time.

    However long, 20 goals are open with 5 open steps each.
    """
    chance, today, length = random.Random(years), days.today(days.now()), 365 * years

    def day(ago):
        return str(today - timedelta(ago))

    def goals():
        for left in range(A_YEAR["goals"] * years, 0, -1):
            status = "work" if left <= ACTIVE_GOALS else "complete"
            yield {"title": chance.choice(GOALS), "category": "work", "status": status, **STAMPS}

    def steps():
        closed_goals = A_YEAR["goals"] * years - ACTIVE_GOALS
        for number in range(A_YEAR["steps"] * years):
            step = {"title": chance.choice(STEPS), "priority": "attention", **STAMPS}
            if number < ACTIVE_GOALS * OPEN_STEPS:
                step |= {"goal_id": closed_goals + 1 + number % ACTIVE_GOALS, "is_complete": 0}
                step |= {"dt": day(-chance.randrange(30)), "completed_at": None}
            else:
                step |= {"goal_id": 1 + number % closed_goals, "is_complete": 1}
                step |= {"dt": day(chance.randrange(1, length))}
                step["completed_at"] = f"{step['dt']}T09:00:00.000Z"
            yield step

    def habit_rows():
        habit = {"icon": "star", "xp_reward": 10, "xp_penalty": 10, "created_on": day(length)}
        for number in range(habits):
            frequency = "daily" if number % 3 else "weekdays"
            yield {"name": f"Привычка {number}", "frequency_type": frequency, **habit, **STAMPS}

    def marks():
        for habit_id in range(1, habits + 1):
            for ago in range(length):
                if chance.random() < MARKED:
                    status = "completed" if chance.random() < 0.9 else "missed"
                    mark = {"habit_id": habit_id, "date": day(ago), "status": status, "xp": 10}
                    yield mark | STAMPS

    def diary():
        for _ in range(A_YEAR["diary"] * years):
            texts = {"what_done": "Сделано. " * 40, "plans": "Планы. " * 20}
            yield {"date": day(chance.randrange(length)), **texts, **STAMPS}

    def ledger():
        gain = {"user": "local", "xp": 10, "action": "habit.mark_completed", "entity_id": 1}
        count = int(length * habits * MARKED)
        for number in range(count):
            yield {"at": f"{day(length - 1 - number * length // count)}T09:00:00.000Z", **gain}

    def calls():
        call = {"request_id": "x", "at": STAMP, "user": "local", "tool": "preview_actions"}
        for _ in range(A_YEAR["calls"] * years):
            yield {**call, "ms": 5.0, "request": "x" * 600, "answer": "y" * 900}

    with store.writing() as db:
        _insert(db, "goals", goals())
        _insert(db, "steps", steps())
        _insert(db, "habits", habit_rows())
        _insert(db, "habit_marks", marks())
        _insert(db, "diary", diary())
        _insert(db, "xp_ledger", ledger())
        _insert(db, "audit", calls())
        histories.fold_streaks(db, today)


def _insert(db, table, rows):
    rows = list(rows)
    names = ", ".join(f":{name}" for name in rows[0])
    db.executemany(f"INSERT INTO {table} ({names.replace(':', '')}) VALUES ({names})", rows)
