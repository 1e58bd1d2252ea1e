"""OnePercent: fifty actions previewed and applied beside fifty bare inserts, after a year of thirty habits."""

import tempfile
import time
from pathlib import Path

from tests.lab.bench.measuring import at_most, medians
from tests.onepercent import lifetimes
from tests.onepercent.person import (
    act,
    complete,
    do,
    mark,
    new_entry,
    new_goal,
    new_habit,
    new_step,
    ref,
    use,
)
from tools.onepercent.database import store

ROUNDS = 40
INSERT = """INSERT INTO steps (user, goal_id, title, priority, dt, created_at, updated_at)
    VALUES ('local', 1, ?, 'attention', '2030-01-01', ?, ?)"""


def rows():
    with tempfile.TemporaryDirectory(prefix="onepercent-") as folder:
        use(Path(folder) / "life.sqlite3")
        lifetimes.live(1)
        medians(3, fifty_actions, fifty_inserts)
        ours, anchor = medians(ROUNDS, fifty_actions, fifty_inserts)
        what = "50 actions previewed and applied"
        yield at_most(20, what, ours, "ms", anchor, "50 inserts by SQL")


def timed(work):
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def fifty_actions():
    """The mix of a busy day: goals with steps, steps done, habits marked, pages written."""
    actions = []
    for number in range(5):
        habit = new_habit(f"Привычка {number}")
        steps = [new_step(f"Шаг {step}", dt="2030-01-01") for step in range(4)]
        actions += [
            new_goal(f"Новая цель {number}", why_important="Так надо"),
            *steps,
            complete(ref(steps[0])),
            act("step.update", ref(steps[1]), title="Другой шаг", time_duration="one"),
            habit,
            mark(ref(habit)),
            new_entry(what_done="Сделано многое", plans="Ещё больше"),
        ]

    return timed(lambda: do(*actions))


def fifty_inserts():
    """Fifty rows in one transaction, on a connection that is already open."""

    def insert():
        with store.writing() as db:
            for number in range(50):
                db.execute(INSERT, (f"Шаг {number}", lifetimes.STAMP, lifetimes.STAMP))

    return timed(insert)
