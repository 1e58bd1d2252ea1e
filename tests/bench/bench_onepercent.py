"""OnePercent on databases of 1, 5 and 10 years: ratios measured in one run, and kills.

    python tests/bench/bench_onepercent.py              everything
    python tests/bench/bench_onepercent.py --kills 0    without the kills

Prints a line a figure and exits 1 where one is over its limit. Files are made in BENCH_DIR, or where temporary
files are.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT))

from tests.onepercent import children, lifetimes  # noqa: E402
from tests.onepercent.person import act, call, ref, use  # noqa: E402
from tools.onepercent import store  # noqa: E402

ROUNDS = 40
LIMITS = {
    "default snapshot / fetchall of all marks": 0.5,
    "snapshot at 10 years / at 1 year": 1.5,
    "50 actions previewed and applied / 50 inserts": 15.0,
    "kB of a busy person's default snapshot": 12.0,
}


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--kills", type=int, default=200)
    kills = words.parse_args().kills
    with tempfile.TemporaryDirectory(prefix="onepercent-", dir=os.environ.get("BENCH_DIR")) as folder:
        within = [*speeds(Path(folder)), size(Path(folder))]
        if kills:
            use(Path(folder) / "killed.sqlite3")
            confirmed = children.kill_at_random(kills, seed=7)
            print(f"{kills} kills: nothing lost, nothing half done; {confirmed} applies confirmed")
    return 0 if all(within) else 1


def speeds(folder: Path) -> list[bool]:
    for years in (1, 5, 10):
        use(folder / f"{years}.sqlite3")
        lifetimes.live(years)
        print(f"{years:>2} years: {lifetimes.count('habit_marks')} marks, {store.path().stat().st_size / 1e6:.1f} MB")
    snapshot, marks = alternating(default_snapshot, fetchall)
    one, ten = alternating(lambda: at(folder / "1.sqlite3"), lambda: at(folder / "10.sqlite3"))
    actions, inserts = alternating(fifty_actions, fifty_inserts)
    print(f"ms: snapshot {snapshot:.2f}, fetchall {marks:.2f}, 50 actions {actions:.2f}, 50 inserts {inserts:.2f}")
    return [
        verdict("default snapshot / fetchall of all marks", snapshot / marks),
        verdict("snapshot at 10 years / at 1 year", ten / one),
        verdict("50 actions previewed and applied / 50 inserts", actions / inserts),
    ]


def size(folder: Path) -> bool:
    use(folder / "busy.sqlite3")
    lifetimes.settle_busy_person()
    answer = json.dumps(call("get_user_snapshot"), ensure_ascii=False, separators=(",", ":"))
    return verdict("kB of a busy person's default snapshot", len(answer.encode()) / 1000)


def verdict(name: str, value: float) -> bool:
    print(f"{name}: {value:.2f} (at most {LIMITS[name]:g}){'' if value <= LIMITS[name] else '  TOO MUCH'}")
    return value <= LIMITS[name]


def alternating(one: Callable[[], float], other: Callable[[], float]) -> tuple[float, float]:
    """The medians of two measurements, taken in turns so that a slow moment of the machine meets both."""
    pairs = [(one(), other()) for _ in range(ROUNDS)]
    return tuple(statistics.median(times) for times in zip(*pairs[3:], strict=True))


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def default_snapshot() -> float:
    return timed(lambda: call("get_user_snapshot"))


def at(file: Path) -> float:
    use(file)
    call("get_user_snapshot")
    return default_snapshot()


def fetchall() -> float:
    def fetch() -> None:
        db.execute("SELECT * FROM habit_marks").fetchall()

    with store.connected() as db:
        factory, db.row_factory = db.row_factory, None
        taken = timed(fetch)
        db.row_factory = factory
    return taken


def fifty_actions() -> float:
    """The mix of a busy day: goals with steps, steps done, habits marked, pages written."""
    actions = []
    for number in range(5):
        habit = act("habit.create", name=f"Привычка {number}")
        steps = [act("step.create", goal_id=None, title=f"Шаг {step}", dt="2030-01-01") for step in range(4)]
        actions += [
            act("goal.create", title=f"Новая цель {number}", why_important="Так надо"),
            *steps,
            act("step.complete", step_id=ref(steps[0])),
            act("step.update", step_id=ref(steps[1]), title="Другой шаг", time_duration="one"),
            habit,
            act("habit.mark_completed", habit_id=ref(habit)),
            act("diary.create_entry", what_done="Сделано многое", plans="Ещё больше"),
        ]
    assert len(actions) == 50
    return timed(lambda: both(actions))


def both(actions: list[dict]) -> None:
    preview_id = call("preview_actions", actions=actions)["preview_id"]
    applied = call("apply_actions", preview_id=preview_id, idempotency_key=str(uuid.uuid4()), user_confirmation="да")
    assert applied["success"], applied


def fifty_inserts() -> float:
    """Fifty rows in one transaction, on a connection that is already open."""

    def insert() -> None:
        with store.writing() as db:
            for number in range(50):
                db.execute(INSERT, (f"Шаг {number}", lifetimes.STAMP, lifetimes.STAMP))

    return timed(insert)


INSERT = """INSERT INTO steps (user, goal_id, title, priority, dt, created_at, updated_at)
    VALUES ('local', 1, ?, 'attention', '2030-01-01', ?, ?)"""


if __name__ == "__main__":
    sys.exit(main())
