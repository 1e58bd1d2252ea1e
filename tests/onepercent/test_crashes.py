"""Killed, out of room, read-only: nothing confirmed is lost, nothing is half done, and the one file is
whole."""

import os
import random
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

import tests.onepercent.person as person
from tests.onepercent.children import a_day, check_whole, child, told
from tests.onepercent.person import act, apply, call, do, preview
from tests.support.client import finished
from tools.onepercent.database import migrations, store
from tools.onepercent.transfer.backup import database as health

KILLS = int(os.environ.get("PI_MCP_KILLS", "20"))
# A kill before one of so many statements.
EACH = int(os.environ.get("PI_MCP_KILL_EACH", "4"))


@pytest.mark.slow
def test_killed_at_random_moments_it_opens_again_with_all_that_was_confirmed():
    def apply_for_ever(tell) -> None:
        while True:
            answer = apply(preview(*a_day()))
            assert answer["success"], answer
            tell(answer["results"][0]["created_id"])

    chance, confirmed = random.Random(1), []
    for _ in range(KILLS):
        with child(apply_for_ever) as (pid, reading):
            select.select([reading], [], [], 10)
            select.select([], [], [], chance.random() * 0.02)
            os.kill(pid, signal.SIGKILL)
            confirmed += told(reading)
        check_whole(confirmed)
        store.release()
    assert len(confirmed) >= KILLS


def killed_at(statement: int, previewed: dict) -> list[dict]:
    """Apply in a process that is killed before a statement of sqlite; the answer if it came to its end by
    then."""
    store.release()

    def work(tell) -> None:
        left = [statement]

        def count(_: str) -> None:
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)

        with store.connected() as db:
            db.set_trace_callback(count)
        tell(apply(previewed, key=previewed["preview_id"]))

    with child(work) as (_, reading):
        return told(reading)


TARGET, WEEK = {"amount": 2, "unit": "л"}, {"from": "2026-03-10", "to": "2026-03-16"}
# Each is applied to a goal with a step and two habits, the second of them with a target and paused for a week
# to come.
KINDS = {
    "a day": a_day(),
    "pauses": [act("habit.pause", habit_id=1, **WEEK), act("habit.resume", habit_id=2)],
    "amounts": [act("habit.mark_completed", habit_id=2, dates=["2026-03-10..2026-03-13"], amount=1.5)],
    "schedules": [act("habit.update", habit_id=1, frequency_type="every_n_days", n=2)],
    "archives": [act("habit.archive", habit_id=1), act("goal.archive", goal_id=1)],
    "days": [act("person.update", time_zone="Asia/Tokyo", day_start_hour=3), act("goal.update", goal_id=1, due="2026-04-01")],
    "steps": [act("step.create", inbox=True, title="Билет"), act("step.shift", days=7, goal_id=1)],
    "repeats": [act("step.update", step_id=1, repeat={"every": "day"}), act("step.complete", step_id=1)],
    "to one day": [act("step.shift", goal_id=1, dt="2026-04-01"), act("step.update", step_id=1, progress=50)],
    "pauses of all": [act("habit.pause", all=True, **{"except": [2]}, **WEEK)],
    "a diary by its date": [act("diary.create_entry", plans="x"), act("diary.update_entry", date="2026-03-18", append={"plans": "y"})],
    "sums": [act("goal.update", goal_id=1, target=TARGET), act("goal.add", goal_id=1, amount=1), act("habit.update", habit_id=2, goal_id=1)],
    "limits": [act("habit.update", habit_id=1, target={"at_most": 0}, until="2026-04-01"), act("habit.mark_completed", habit_id=1, amount=2)],
    "turns": [act("habit.update", habit_id=1, frequency_type="every_n_days", n=3), act("habit.mark_completed", habit_id=1, note="да")],
    "after it is done": [act("step.update", step_id=1, repeat={"every": "month", "after": "done"}), act("step.complete", step_id=1)],
    "an order": [act("habit.update", habit_id=2, order=1), act("diary.create_entry", plans="x")],
}  # fmt: skip
CHANGED = {
    "a day": {"goals", "steps", "diary", "xp_ledger"},
    "pauses": {"habit_pauses"},
    "amounts": {"habit_marks"},
    "schedules": {"habits", "habit_schedules"},
    "archives": {"habits", "habit_pauses", "goals"},
    "days": {"persons", "goals"},
    "steps": {"goals", "steps"},
    "repeats": {"steps", "xp_ledger"},
    "to one day": {"steps"},
    "pauses of all": {"habit_pauses"},
    "a diary by its date": {"diary", "xp_ledger"},
    "sums": {"goals", "habits"},
    "limits": {"habits", "habit_marks"},
    "turns": {"habits", "habit_schedules", "habit_marks", "xp_ledger"},
    "after it is done": {"steps", "xp_ledger"},
    "an order": {"habits", "diary", "xp_ledger"},
}


def rows() -> dict[str, list[tuple]]:
    """All that the person has, by table."""
    with store.reading() as db:
        return {
            table: [tuple(row) for row in db.execute(f"SELECT * FROM {table}")]
            for table in migrations.STATE_TABLES
        }


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_killed_inside_an_apply_all_or_nothing_of_it_is_there(kind: str):
    goal, habits = (
        act("goal.create", title="Цель"),
        [act("habit.create", name=name) for name in ("Бег", "Вода")],
    )
    do(goal, act("step.create", goal_id=None, title="Шаг", dt="2026-03-20"), *habits)
    do(
        act("habit.update", habit_id=2, target=TARGET),
        act("habit.pause", habit_id=2, **{"from": "2026-03-20"}),
    )
    with store.writing() as db:
        # So that a new schedule has days before it.
        db.execute("UPDATE habits SET created_on = '2026-02-01'")
    previewed, states, statement, answers = preview(*KINDS[kind]), [rows()], 0, []
    while not answers:
        statement += 1 if kind == "a day" else EACH
        answers = killed_at(statement, previewed)
        assert health().state == "ok"
        states += [] if rows() in states else [rows()]
    before, after = states
    assert answers[0]["success"] and statement >= 20
    assert {table for table in after if after[table] != before[table]} == CHANGED[kind]


def test_after_an_apply_the_one_file_alone_is_whole(file: Path):
    for number in range(3):
        do(act("goal.create", title=f"Цель {number}"))
        copy = shutil.copyfile(file, file.with_name(f"copy-{number}"))
        with closing(sqlite3.connect(copy)) as db:
            assert db.execute("SELECT count(*) FROM goals").fetchone() == (number + 1,)


SMALL_DISK = """
mount -t tmpfs -o size=400k none "$1" && cd "$2" && env ONEPERCENT_DB="$1/life.sqlite3" "$3" -c '
import sys; sys.path.insert(0, ".")
from tests.onepercent.children import a_day, check_whole
from tests.onepercent.person import apply, call, registry
from tools.onepercent.database import store
done, answer = 0, {"success": True}
while answer["success"] and done < 1000:
    answer = call("preview_actions", actions=a_day())
    if answer["success"]:
        answer = apply(answer)
        done += answer["success"]
assert answer["code"] == "DATABASE_ERROR" and answer["error"].startswith("The disk is full"), answer
check_whole(list(range(1, done + 1)))
print("whole", done)' && { rm "$1"/*.part; eval "$5"; } 2>/dev/null; exec env ONEPERCENT_DB="$1/life.sqlite3" "$3" -c '
import os, sys; sys.path.insert(0, ".")
from pathlib import Path
from tests.onepercent.children import a_day
from tests.onepercent.person import call, items, use
from tools.onepercent.transfer.backup import backup
file, copy = Path(os.environ["ONEPERCENT_DB"]), Path(sys.argv[1], "copy.sqlite3")
use(file)
goals = len(items("goals"))
answer = call("preview_actions", actions=a_day())
assert answer["code"] == "DATABASE_ERROR" and ("full" in answer["error"] or "read-only" in answer["error"]), answer
backup(str(copy))
use(copy)
assert len(items("goals")) == goals > 0
print("read and copied", goals)' "$4"
"""


@pytest.mark.slow
@pytest.mark.parametrize("then", ['cat /dev/zero > "$1/rest"', 'mount -o remount,ro "$1"'])
def test_a_disk_that_fills_up_keeps_all_that_was_confirmed_and_a_new_session_reads_and_copies_it(
    then, tmp_path: Path
):
    """Also one that is read-only from then on, as cards are that near their end."""
    project = Path(__file__).parents[2]
    if (
        not shutil.which("unshare")
        or subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode
    ):
        pytest.skip("no namespace of one's own for a small disk")
    (tmp_path / "disk").mkdir()
    words = [
        "unshare",
        "-rm",
        "sh",
        "-c",
        SMALL_DISK,
        "sh",
        str(tmp_path / "disk"),
        str(project),
        sys.executable,
    ]
    words += [str(tmp_path), then]
    done = finished(words)
    if "mount" in done.stderr:
        pytest.skip("no small disk can be mounted here")
    assert done.stdout.startswith("whole") and "read and copied" in done.stdout, done.stderr


@pytest.mark.slow
def test_a_read_only_file_changes_nothing_and_says_so():
    with tempfile.TemporaryDirectory() as name:  # nobody may enter tmp_path
        folder = Path(name)
        person.use(folder / "life.sqlite3")
        do(*a_day())
        previewed = preview(*a_day())
        store.release()
        (folder / "life.sqlite3").chmod(0o444)
        folder.chmod(0o555)

        def work(tell) -> None:
            if os.getuid() == 0:
                os.setuid(65534)  # nobody
            tell(apply(previewed))
            tell(call("preview_actions", actions=a_day()))

        with child(work) as (_, reading):
            answers = told(reading)
        assert [answer["code"] for answer in answers] == ["DATABASE_ERROR"] * 2
        assert all(answer["hint"] for answer in answers)
        assert all("is read-only" in answer["error"] for answer in answers)
        folder.chmod(0o755)
        (folder / "life.sqlite3").chmod(0o644)
        check_whole([])
