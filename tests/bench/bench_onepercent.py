"""OnePercent with one and with ten years of habits: a snapshot beside reading all marks by SQL, ten years beside one,
a year's history and a search beside a snapshot, fifty actions previewed and applied beside fifty bare inserts, and the size of a busy person's snapshot."""

import json
import os
import statistics
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path

from tests.bench.rows import Row
from tests.onepercent import lifetimes
from tests.onepercent.person import act, call, ref, use
from tools.onepercent.database import store
from tools.onepercent.snapshot import sections

ROUNDS = 40


def rows() -> Iterator[Row]:
    """The databases lie in BENCH_DIR, or where temporary files are."""
    with tempfile.TemporaryDirectory(prefix="onepercent-", dir=os.environ.get("BENCH_DIR")) as folder:
        yield from speeds(Path(folder))
        yield size(Path(folder))


def speeds(folder: Path) -> Iterator[Row]:
    for years in (1, 10):
        use(folder / f"{years}.sqlite3")
        lifetimes.live(years)
    yield row("a snapshot", default_snapshot, fetchall, "every mark by SQL", 0.5)
    one, ten = folder / "1.sqlite3", folder / "10.sqlite3"
    yield row("a snapshot after ten years", lambda: at(ten), lambda: at(one), "after one year", 1.5)
    yield row("a word found in ten years", lambda: snapshot(find="бег"), every_text, "every text by SQL", 4)
    for years in (1, 10):
        use(folder / f"{years}-8.sqlite3")
        lifetimes.live(years, habits=8)
        name = f"a year's history after {years}, 8 habits"
        yield row(name, lambda: snapshot(**YEAR), default_snapshot, "a snapshot", 3)
    yield row("50 actions previewed and applied", fifty_actions, fifty_inserts, "50 inserts by SQL", 15)


def row(what: str, ours: Callable[[], float], anchor: Callable[[], float], anchor_name: str, limit: float) -> Row:
    ours_ms, anchor_ms = alternating(ours, anchor)
    return Row(what, ours_ms, "ms", anchor_ms, anchor_name, f"at most {limit:g}", ours_ms <= limit * anchor_ms)


def size(folder: Path) -> Row:
    use(folder / "busy.sqlite3")
    lifetimes.settle_busy_person()
    ours, anchor = size_bytes(), size_bytes(include=list(sections.SECTIONS), goals_status="all")
    promise = "at most 12,000 bytes"
    return Row("a busy person's snapshot", ours, "bytes", anchor, "with all there is", promise, ours <= 12_000)


def size_bytes(**wish) -> int:
    return len(json.dumps(call("get_user_snapshot", **wish), ensure_ascii=False, separators=(",", ":")).encode())


def alternating(one: Callable[[], float], other: Callable[[], float]) -> tuple[float, float]:
    """The medians of two measurements, taken in turns so that a slow moment of the machine meets both."""
    pairs = [(one(), other()) for _ in range(ROUNDS)]
    return tuple(statistics.median(times) for times in zip(*pairs[3:], strict=True))


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def default_snapshot() -> float:
    return snapshot()


def snapshot(**wish: object) -> float:
    return timed(lambda: call("get_user_snapshot", **wish))


YEAR = {"include": ["history"], "date_from": (date.today() - timedelta(days=365)).isoformat()}


def at(file: Path) -> float:
    use(file)
    call("get_user_snapshot")
    return default_snapshot()


def fetchall() -> float:
    return fetched("SELECT * FROM habit_marks")


def every_text() -> float:
    return fetched("SELECT id, title FROM steps") + fetched("SELECT id, what_done, plans FROM diary")


def fetched(statement: str) -> float:
    def fetch() -> None:
        db.execute(statement).fetchall()

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
