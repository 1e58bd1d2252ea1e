"""OnePercent with one and with ten years of habits: a snapshot and a year's history after ten years beside
one, and fifty actions previewed and applied beside fifty bare inserts."""

import tempfile
import time
from datetime import date, timedelta
from functools import partial
from pathlib import Path

from tests.lab.bench.measuring import at_most, medians
from tests.onepercent import lifetimes
from tests.onepercent.person import act, call, do, ref, use
from tools.onepercent.database import store

ROUNDS = 40
YEAR = {"include": ["history"], "date_from": (date.today() - timedelta(days=365)).isoformat()}
INSERT = """INSERT INTO steps (user, goal_id, title, priority, dt, created_at, updated_at)
    VALUES ('local', 1, ?, 'attention', '2030-01-01', ?, ?)"""


def rows():
    with tempfile.TemporaryDirectory(prefix="onepercent-") as folder:
        one, ten = (Path(folder) / f"{years}.sqlite3" for years in (1, 10))
        for file, years in ((one, 1), (ten, 10)):
            use(file)
            lifetimes.live(years)
        for what, wish in (("a snapshot", {}), ("a year's history", YEAR)):
            pair = (partial(snapshot, file, **wish) for file in (ten, one))
            yield row(f"{what}, after ten years", *pair, "after one year", 1.5)
        what = "50 actions previewed and applied"
        yield row(what, fifty_actions, fifty_inserts, "50 inserts by SQL", 20)


def row(what, ours, anchor, anchor_name, limit):
    medians(3, ours, anchor)
    ours_ms, anchor_ms = medians(ROUNDS, ours, anchor)
    return at_most(limit, what, ours_ms, "ms", anchor_ms, anchor_name)


def timed(work):
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def snapshot(file, **wish):
    use(file)
    call("get_user_snapshot")
    return timed(lambda: call("get_user_snapshot", **wish))


def fifty_actions():
    """The mix of a busy day: goals with steps, steps done, habits marked, pages written."""
    actions = []
    for number in range(5):
        habit = act("habit.create", name=f"Привычка {number}")
        steps = [
            act("step.create", goal_id=None, title=f"Шаг {step}", dt="2030-01-01")
            for step in range(4)
        ]
        actions += [
            act("goal.create", title=f"Новая цель {number}", why_important="Так надо"),
            *steps,
            act("step.complete", step_id=ref(steps[0])),
            act("step.update", step_id=ref(steps[1]), title="Другой шаг", time_duration="one"),
            habit,
            act("habit.mark_completed", habit_id=ref(habit)),
            act("diary.create_entry", what_done="Сделано многое", plans="Ещё больше"),
        ]

    return timed(lambda: do(*actions))


def fifty_inserts():
    """Fifty rows in one transaction, on a connection that is already open."""

    def insert():
        with store.writing() as db:
            for number in range(50):
                db.execute(INSERT, (f"Шаг {number}", lifetimes.STAMP, lifetimes.STAMP))

    return timed(insert)
