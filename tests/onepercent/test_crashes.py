"""Killed, out of room, read-only, newer, damaged: nothing confirmed is lost, nothing is half done."""

import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import tests.onepercent.person as person
from tests.onepercent.children import a_day, check_whole, child, kill_at_random, told
from tests.onepercent.person import act, apply, call, do, items, preview, snapshot
from tools.onepercent import health
from tools.onepercent.database import migrations, store

KILLS = 20
NOBODY = 65534


def test_killed_at_random_moments_it_opens_again_with_all_that_was_confirmed():
    assert kill_at_random(KILLS, seed=1) >= KILLS


def test_killed_at_every_statement_of_an_apply_it_is_done_or_not_begun():
    applied = 0
    for statement in range(1, 200):
        previewed = preview(*a_day())
        store.release()

        def work(tell, statement=statement, previewed=previewed) -> None:
            left = [statement]

            def count(_: str) -> None:
                left[0] -= 1
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

            with store.connected() as db:
                db.set_trace_callback(count)
            tell(apply(previewed))

        with child(work) as (_, reading):
            answers = told(reading)
        applied += len(answers)
        check_whole([])
        if answers:
            break
    assert applied == 1 and statement > 30


def test_a_full_disk_changes_nothing_and_says_so(file: Path):
    do(*a_day())
    previewed = preview(*a_day())
    store.release()
    before = file.read_bytes()

    def work(tell) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
        tell(apply(previewed))
        tell(call("preview_actions", actions=a_day()))

    with child(work) as (_, reading):
        answers = told(reading)
    assert [answer["code"] for answer in answers] == ["DATABASE_ERROR"] * 2
    assert "disk" in answers[0]["error"].lower() and answers[0]["hint"]
    assert file.read_bytes() == before
    check_whole([])
    assert apply(previewed)["success"]


SMALL_DISK = """
mount -t tmpfs -o size=400k none "$1" && cd "$2" && exec env ONEPERCENT_DB="$1/life.sqlite3" "$3" -c '
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
assert answer["code"] == "DATABASE_ERROR" and answer["error"] == "The disk is full", answer
check_whole(list(range(1, done + 1)))
print("whole", done)'
"""


def test_a_disk_that_fills_up_keeps_all_that_was_confirmed(tmp_path: Path):
    project = Path(__file__).parents[2]
    if not shutil.which("unshare") or subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode:
        pytest.skip("no namespace of one's own for a small disk")
    words = ["unshare", "-rm", "sh", "-c", SMALL_DISK, "sh", str(tmp_path), str(project), sys.executable]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    if "mount" in done.stderr:
        pytest.skip("no small disk can be mounted here")
    assert done.stdout.startswith("whole"), done.stderr


def test_a_read_only_file_changes_nothing_and_says_so():
    folder = Path(tempfile.mkdtemp(prefix="onepercent-"))
    try:
        person.use(folder / "life.sqlite3")
        do(*a_day())
        previewed = preview(*a_day())
        store.release()
        (folder / "life.sqlite3").chmod(0o444)
        folder.chmod(0o555)

        def work(tell) -> None:
            if os.getuid() == 0:
                os.setuid(NOBODY)
            tell(apply(previewed))
            tell(call("preview_actions", actions=a_day()))

        with child(work) as (_, reading):
            answers = told(reading)
        assert [answer["code"] for answer in answers] == ["DATABASE_ERROR"] * 2
        assert all(answer["hint"] for answer in answers)
        folder.chmod(0o755)
        (folder / "life.sqlite3").chmod(0o644)
        check_whole([])
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


def test_a_file_from_a_newer_version_is_refused_and_not_touched(file: Path):
    do(*a_day())
    store.release()
    with sqlite3.connect(file) as db:
        db.execute("PRAGMA journal_mode = DELETE")
        db.execute(f"PRAGMA user_version = {len(migrations.MIGRATIONS) + 1}")
    db.close()
    before = (file.read_bytes(), file.stat().st_mtime_ns)
    for answer in (call("get_user_snapshot"), call("preview_actions", actions=a_day()), call("undo_last")):
        assert answer["code"] == "DATABASE_ERROR" and "newer version" in answer["error"]
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before
    assert health.database().state == "broken"


def test_a_damaged_file_is_named_and_left_alone(file: Path):
    do(*a_day())
    store.release()
    whole = file.read_bytes()
    for damaged in (
        b"no database at all" * 300,
        whole[:8192] + os.urandom(len(whole) - 8192),
        whole[: len(whole) // 2],
    ):
        file.write_bytes(damaged)
        answer = call("preview_actions", actions=a_day())
        assert answer["code"] == "DATABASE_ERROR" and ("damaged" in answer["error"] or "refused" in answer["error"])
        assert health.database().state == "broken"
        store.release()


def test_the_database_of_another_program_is_not_migrated(file: Path):
    with sqlite3.connect(file) as db:
        db.execute("CREATE TABLE notes (id)")
    db.close()
    before = file.read_bytes()
    assert "another program" in call("get_user_snapshot")["error"]
    assert file.read_bytes() == before


def test_a_file_put_in_place_of_the_open_one_is_opened_anew(file: Path):
    do(*a_day())
    store.release()
    shutil.copy(file, file.with_name("copy"))
    do(act("goal.create", title="Ещё"))
    store.release()
    snapshot()
    file.with_name("copy").replace(file)
    assert len(items("goals")) == 1


def test_only_the_owner_can_read_the_file(file: Path):
    do(*a_day())
    assert {path.stat().st_mode & 0o077 for path in file.parent.glob("life.sqlite3*")} == {0}
