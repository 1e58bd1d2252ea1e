"""Random weeks of repeating steps against a plain model, on a database in memory."""

import random
from contextlib import closing
from datetime import date, datetime, timedelta, timezone

from tests.onepercent.model import is_due
from tools.onepercent.actions import ACTIONS, ordered
from tools.onepercent.actions.unit_of_work import UnitOfWork, balance
from tools.onepercent.database import migrations, store
from tools.onepercent.habits.due_days import DATED, select

FIRST = date(2026, 2, 2)
DAY = timedelta(1)
RULES = [
    {"every": "day"}, {"every": "week", "on": [2]}, {"every": "week", "on": [1, 4, 7]}, {"every": "month", "on": [1, 31]},
    {"every": "day", "until": "2026-02-12"}, {"every": "week", "on": [3], "until": "2026-02-20"},
]  # fmt: skip


FREQUENCIES = {"day": "daily", "week": "custom", "month": "monthly"}


def is_day_of(rule, day):
    return is_due(day, FREQUENCIES[rule["every"]], rule.get("on"))


def next_day(rule, since):
    while not is_day_of(rule, since):
        since += DAY
    return since if str(since) <= rule.get("until", "9999") else None


class Plain:
    """Steps as [day that was set, rule, is done]; XP."""

    def __init__(self, rule):
        self.steps = [[next_day(rule, FIRST), rule, False]]
        self.xp = 0

    def done(self, step, today):
        """It was due on the last day of its rule; the next is due on the first one to come."""
        day, rule, _ = step
        self.xp += 25
        step[:] = last_day(rule, day, today), None, True
        if day := next_day(rule, max(today, step[0]) + DAY):
            self.steps.append([day, rule, False])


def due(step, today):
    day, rule, is_done = step
    if is_done or day >= today:
        return day
    return next_day(rule, today) or last_day(rule, day, today)


def last_day(rule, first, last):
    span = [first + number * DAY for number in range((last - first).days + 1)]
    due_days = [day for day in span if is_day_of(rule, day)]
    until = rule.get("until", "9999")
    return max([first, *(day for day in due_days if str(day) <= until)])


class Stored:
    """The same in a database of its own."""

    def __init__(self):
        self.db = store.connect(":memory:")
        migrations.migrate(self.db)
        self.today = FIRST

    def do(self, name, /, **params):
        moment = datetime.combine(self.today, datetime.min.time(), timezone.utc)
        action = ACTIONS[name]
        action.run(UnitOfWork(self.db, "local", moment, self.today), action.parse(params))

    def steps(self):
        steps = DATED.format(which="kind IS NULL")
        rows = select(self.db, steps, user="local", today=str(self.today))
        return [(row["date"], bool(row["is_complete"])) for row in rows]


def live_half_a_day(chance, plain, stored):
    """The open step, which is the last of its series, is done, moved to a day, gets a new rule, or stays."""
    today = stored.today
    step = plain.steps[-1]
    key = len(plain.steps)
    if step[2]:
        return
    change = chance.choice(["done", "moved", "moved", "repeated", *["stays"] * 6])
    day = today + chance.randrange(6) * DAY
    rule = chance.choice(RULES)
    if change == "done":
        stored.do("step.complete", step_id=key)
        plain.done(step, today)
    elif change == "moved" and due(step, today) != day:
        stored.do("step.shift", step_ids=[key], dt=str(day))
        step[0] = day
    elif change == "repeated" and rule != step[1]:
        stored.do("step.update", step_id=key, repeat=rule)
        step[:2] = due(step, today), rule


def test_random_weeks_are_what_the_plain_model_says():
    ordered()
    for seed in range(60):
        chance = random.Random(seed)
        stored = Stored()
        with closing(stored.db):
            plain = Plain(chance.choice(RULES))
            stored.do("goal.create", title="Дом")
            stored.do("step.create", goal_id=1, title="Созвон", repeat=plain.steps[0][1])
            for number in range(70):
                stored.today = FIRST + number // 2 * DAY
                live_half_a_day(chance, plain, stored)
                expected = [(str(due(step, stored.today)), step[2]) for step in plain.steps]
                assert sorted(stored.steps()) == sorted(expected), (seed, stored.today)
                assert balance(stored.db, "local")[0] == plain.xp, (seed, stored.today)
