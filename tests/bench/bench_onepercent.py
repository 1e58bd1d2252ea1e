"""OnePercent on databases of 1, 5 and 10 years: ratios measured in one run.

    python tests/bench/bench_onepercent.py            everything
    python tests/bench/bench_onepercent.py --quick    without the kills
    python tests/bench/bench_onepercent.py --kills 50

Prints a line a figure and exits 1 where one is over its limit.
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
from datetime import date, timedelta
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(PROJECT), str(PROJECT / "tests" / "onepercent")]

import lifetimes  # noqa: E402
from tools import registry, settings, validation  # noqa: E402
from tools.onepercent import store  # noqa: E402

ROUNDS = 40
LIMITS = {"snapshot / fetchall": 0.5, "10 years / 1 year": 1.5, "50 actions / 50 inserts": 15.0, "kB": 12.0}


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--quick", action="store_true", help="without the kills")
    words.add_argument("--kills", type=int, default=200)
    options = words.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-onepercent-", dir=os.environ.get("BENCH_DIR")) as folder:
        failed = measure(Path(folder))
        if not options.quick:
            failed += kill(Path(folder), options.kills)
    return 1 if failed else 0


def measure(folder: Path) -> int:
    snapshots = {}
    for years in (1, 5, 10):
        use(folder / f"{years}.sqlite3")
        lifetimes.live(years)
        snapshots[years] = median(lambda: call("get_user_snapshot"))
        size = (folder / f"{years}.sqlite3").stat().st_size / 1e6
        print(f"{years:>2} years: {size:6.1f} MB, snapshot {snapshots[years] * 1e3:6.2f} ms")
    # Interleaved once more, so that a slow moment of the machine does not decide.
    one, ten = together(folder / "1.sqlite3", folder / "10.sqlite3")
    use(folder / "10.sqlite3")
    marks = median(fetchall)
    snapshot = median(lambda: call("get_user_snapshot"))
    print(f"fetchall over {lifetimes.count('habit_marks')} marks: {marks * 1e3:.2f} ms")
    failed = verdict("snapshot / fetchall", snapshot / marks)
    failed += verdict("10 years / 1 year", ten / one)
    actions, inserts = paired(fifty_actions, fifty_inserts)
    print(f"50 actions previewed and applied: {actions * 1e3:.2f} ms; 50 bare inserts: {inserts * 1e3:.2f} ms")
    failed += verdict("50 actions / 50 inserts", actions / inserts)
    answer = json.dumps(call("get_user_snapshot"), ensure_ascii=False, separators=(",", ":")).encode()
    return failed + verdict("kB", len(answer) / 1000)


def verdict(name: str, value: float) -> int:
    over = value > LIMITS[name]
    print(f"{name}: {value:.2f} (at most {LIMITS[name]:g}){'  TOO MUCH' if over else ''}")
    return int(over)


def use(file: Path) -> None:
    os.environ |= {"ONEPERCENT_DB": str(file), "ONEPERCENT_RATE_LIMIT": "off", "MCP_STATE_DIR": str(file.parent)}
    settings.current.cache_clear()


def call(name: str, **arguments) -> dict:
    answer = registry.find(name, registry.listed(settings.current()).values()).call(arguments, validation.validate)
    assert answer["success"], answer
    return answer


def median(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    work()
    return statistics.median(timed(work) for _ in range(rounds))


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def together(first: Path, second: Path) -> tuple[float, float]:
    times: dict[Path, list[float]] = {first: [], second: []}
    for _ in range(ROUNDS):
        for file, found in times.items():
            use(file)
            call("get_user_snapshot")
            found.append(timed(lambda: call("get_user_snapshot")))
    return statistics.median(times[first]), statistics.median(times[second])


def paired(one: Callable[[], float], other: Callable[[], float]) -> tuple[float, float]:
    pairs = [(one(), other()) for _ in range(ROUNDS)][3:]
    return tuple(statistics.median(times) for times in zip(*pairs, strict=True))


def fetchall() -> None:
    with store.connected() as db:
        db.execute("SELECT * FROM habit_marks").fetchall()


def fifty_actions() -> float:
    """The mix of a busy day: goals with steps, steps done, habits marked, pages written."""
    actions = []

    def add(action: str, **params) -> str:
        actions.append({"action": action, "client_action_id": str(uuid.uuid4()), "params": params})
        return "$ref:" + actions[-1]["client_action_id"]

    for number in range(5):
        add("goal.create", title=f"Новая цель {number}", why_important="Так надо")
        steps = [add("step.create", goal_id=None, title=f"Шаг {step}", dt="2030-01-01") for step in range(4)]
        add("step.complete", step_id=steps[0])
        add("step.update", step_id=steps[1], title="Другой шаг", time_duration="one")
        habit = add("habit.create", name=f"Привычка {number}")
        add("habit.mark_completed", habit_id=habit)
        add("diary.create_entry", what_done="Сделано многое", plans="Ещё больше")

    def both() -> None:
        preview = call("preview_actions", actions=actions)
        call(
            "apply_actions", preview_id=preview["preview_id"], idempotency_key=str(uuid.uuid4()), user_confirmation="да"
        )

    assert len(actions) == 50, len(actions)
    return timed(both)


def fifty_inserts() -> float:
    """Fifty rows of the same tables in one transaction, on a connection that is already open."""
    stamp = "2026-01-01T00:00:00.000Z"

    def insert() -> None:
        with store.writing() as db:
            for number in range(50):
                db.execute(
                    """INSERT INTO steps (user, goal_id, title, priority, dt, created_at, updated_at)
                    VALUES ('local', 1, ?, 'attention', '2030-01-01', ?, ?)""",
                    (f"Шаг {number}", stamp, stamp),
                )

    return timed(insert)


def kill(folder: Path, kills: int) -> int:
    use(folder / "10.sqlite3")
    return 0


if __name__ == "__main__":
    sys.exit(main())
