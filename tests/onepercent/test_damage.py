"""Damaged databases: served as far as they can be read, always named, never an internal error."""

import random
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.onepercent.children import a_day
from tests.onepercent.person import act, call, do, items
from tools.core.errors import ToolError
from tools.onepercent import health
from tools.onepercent.database import faults, store, transfer

PROJECT = Path(__file__).parents[2]


def rot(file: Path, statement: str) -> None:
    """Change rows behind the tools' back."""
    store.leave()
    db = sqlite3.connect(file)
    db.execute("PRAGMA ignore_check_constraints = ON")
    db.execute(statement)
    db.commit()
    db.close()


def test_a_rotten_byte_in_every_title_locks_nobody_out_and_the_check_finds_it(file: Path, tmp_path: Path):
    do(*a_day())
    rot(file, "UPDATE goals SET title = CAST(x'd0a6d0b5ff' AS TEXT)")
    assert items("goals")[0]["title"] == "Це\ufffd"
    transfer.export(str(tmp_path / "export.json"))
    found = health.database()
    assert found.state == "broken" and "damaged text in goals" in found.summary and found.advice == faults.RESTORE


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE habits SET schedule_days = 'x', frequency_type = 'custom'",
        "UPDATE habits SET frequency_type = 'hourly'",
        "UPDATE habits SET created_on = 'zzz'",
        "UPDATE habit_marks SET date = 'zzz'",
    ],
)
def test_values_that_the_tools_never_wrote_are_damage_with_the_way_out(statement: str, file: Path):
    habit = do(act("habit.create", name="Бег"))[0]
    do(act("habit.mark_completed", habit_id=habit))
    rot(file, statement)
    answer = call("get_user_snapshot")
    assert (answer["code"], answer["hint"]) == ("DATABASE_ERROR", faults.RESTORE)
    assert health.database().state == "broken"


@pytest.mark.parametrize("seed", range(40))
def test_random_bytes_anywhere_are_never_an_internal_error(seed: int, file: Path, tmp_path: Path):
    chance = random.Random(seed)
    do(*a_day(), act("habit.create", name="Бег"))
    store.leave()
    damaged = bytearray(file.read_bytes())
    for _ in range(20 if seed % 2 else 500):
        damaged[chance.randrange(100 if seed % 3 else 0, len(damaged))] = chance.randrange(256)
    file.write_bytes(damaged)
    for answer in (call("get_user_snapshot"), call("preview_actions", actions=a_day()), call("undo_last")):
        assert answer["success"] or answer["code"] != "INTERNAL_ERROR", answer
    health.database()
    try:
        transfer.export(str(tmp_path / "export.json"))
    except ToolError as error:
        assert error.code == "DATABASE_ERROR"
    store.release()


def test_a_damaged_schema_is_an_answer_in_the_shell_too(file: Path):
    do(*a_day())
    store.leave()
    whole = file.read_bytes()
    at = whole.index(b"CREATE TABLE steps")
    file.write_bytes(whole[:at] + b"\xff\xfe\xff" * 6 + whole[at + 18 :])
    done = subprocess.run(
        [sys.executable, "-m", "tools", "call", "preview_actions", '{"actions": []}'],
        cwd=PROJECT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert '"success":false' in done.stdout and "Traceback" not in done.stderr


def test_the_check_finds_months_that_are_not_those_of_the_marks():
    do(act("habit.create", name="Бег"), act("habit.create", name="Сон"))
    do(act("habit.mark_completed", habit_id=1), act("habit.mark_missed", habit_id=2))
    assert health.database().state == "ok"
    with store.writing() as db:
        db.execute("DELETE FROM habit_months WHERE habit_id = 1")
    assert "the months of habits differ from their marks" in health.database().summary
