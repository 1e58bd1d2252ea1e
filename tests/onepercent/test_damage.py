"""Files that are damaged, newer or another program's: named, served as far as they can be read, never
touched."""

import random
import shutil
import sqlite3
from pathlib import Path

import pytest

from tests.onepercent.children import a_day
from tests.onepercent.person import (
    behind_the_tools,
    call,
    do,
    first_goal,
    found,
    items,
    new_goal,
    new_habit,
    propose,
    snapshot,
)
from tests.onepercent.test_backup import health, of_another_program
from tests.support.client import cases
from tools.core.errors import ToolError
from tools.onepercent.database import migrations, store
from tools.onepercent.transfer.backup import write_export


def of_a_newer_version(_):
    do(*a_day())
    behind_the_tools("PRAGMA user_version = 99")


@pytest.mark.parametrize(
    "make, words",
    [(of_a_newer_version, "newer version"), (of_another_program, "another program")],
)
def test_a_file_of_a_newer_version_or_another_program_is_refused_untouched(make, words, file):
    make(file)
    store.release()
    before = (file.read_bytes(), file.stat().st_mtime_ns)
    for answer in (call("get_user_snapshot"), propose(*a_day()), call("undo_last")):
        assert answer["code"] == "DATABASE_ERROR" and words in answer["error"]
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before
    assert health().state == "broken"


def test_a_file_put_in_place_of_the_open_one_is_opened_anew(file):
    do(*a_day())
    store.release()
    shutil.copy(file, file.with_name("copy"))
    do(new_goal("Ещё"))
    store.release()  # No log is left, which sqlite would take for the new file's.
    snapshot()
    file.with_name("copy").replace(file)
    assert len(items("goals")) == 1


def test_a_rotten_byte_in_every_title_locks_nobody_out(tmp_path):
    do(*a_day())
    behind_the_tools(
        "PRAGMA ignore_check_constraints = ON",
        "UPDATE goals SET title = CAST(x'd0a6d0b5ff' AS TEXT)",
    )
    assert first_goal()["title"] == "Це\ufffd"
    assert found("це")[0]["title"] == "Це\ufffd"
    write_export(str(tmp_path / "export.json"))


ERRORS = """
database is locked | Another session
database or disk is full | The disk is full
disk I/O error | The disk is full, or could not be read or written
attempt to write a readonly database | x is read-only
unable to open database file | x cannot be opened
database disk image is malformed | x is not a database, or damaged
file is not a database | x is not a database, or damaged
no such table: goals | The database refused the change
"""


@pytest.mark.parametrize("words, message", cases(ERRORS))
def test_an_error_of_sqlite_is_known_by_its_words_where_python_gives_no_code(words, message):
    error = store.translated(sqlite3.OperationalError(words), Path("x"))
    assert error.message.startswith(message) and ("," in error.message) == ("," in message)


@pytest.mark.parametrize("seed", range(6))
def test_random_bytes_anywhere_are_never_an_internal_error(seed, file, tmp_path):
    chance = random.Random(seed)
    do(*a_day(), new_habit("Бег"))
    store.release()
    damaged = bytearray(file.read_bytes())
    for _ in range(20 if seed % 2 else 500):
        damaged[chance.randrange(100 if seed % 3 else 0, len(damaged))] = chance.randrange(256)
    file.write_bytes(damaged)
    for answer in (call("get_user_snapshot"), propose(*a_day()), call("undo_last")):
        assert answer["success"] or answer["code"] != "INTERNAL_ERROR", answer
    health()
    try:
        write_export(str(tmp_path / "export.json"))
    except ToolError as error:
        assert error.code == "DATABASE_ERROR"
    store.release()


def test_the_check_reports_path_size_and_version(file):
    assert health().state == "unset" and not file.exists()
    do(new_habit("Бег"))
    check = health()
    assert check.state == "ok" and str(file) in check.summary
    assert f"MB, version {len(migrations.MIGRATIONS)}, sound" in check.summary
