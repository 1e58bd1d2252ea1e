"""Export, import, backup and restore: nothing is lost on the way, and what does not fit changes nothing."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from tests.onepercent.children import a_day, check_whole, child, interrupted
from tests.onepercent.examples import EXAMPLES, lived
from tests.onepercent.person import (
    act,
    behind_the_tools,
    call,
    do,
    items,
    mark,
    miss,
    new_goal,
    preview,
    propose,
    rows,
    snapshot,
    titles,
    undo,
    use,
)
from tests.support.client import PROJECT
from tools.core import files
from tools.core.errors import ToolError
from tools.core.health import run_check
from tools.onepercent.database import store
from tools.onepercent.transfer.backup import (
    check_database,
    import_export,
    restore_backup,
    write_backup,
    write_export,
)

health = partial(run_check, check_database)
SECTIONS = ("goals", "habits", "diary", "schedule", "xp", "ssp")


def two_lives():
    """Something in every table, of two people."""
    lived()
    behind_the_tools("UPDATE habits SET created_on = '2026-03-01'")
    do(
        miss(1, date="2026-03-17", excuse_reason="☔"),
        act("habit.update", 1, frequency_type="weekdays", target={"amount": 1.5, "unit": "км"}),
        mark(1, amount=0.5),
        act("goal.update", 1, why_important='"кавычки"\nи строки\u2028'),
        *[act(name, **EXAMPLES[name]) for name in ("ssp.rate", "person.update", "goal.delete")],
    )
    use(store.path(), ONEPERCENT_USER="other")
    do(*a_day())
    call("cancel_preview", preview_id=preview(*a_day())["preview_id"])
    use(store.path())


@pytest.fixture
def copy(file, tmp_path):
    """A backup of one goal; the present file has three more."""
    do(new_goal("В копии"))
    write_backup(tmp_path / "backup.sqlite3")
    do(*[new_goal(f"Позже {number}") for number in range(3)])
    return tmp_path / "backup.sqlite3"


def moved(folder):
    """What an import into a new database says of all there is."""
    write_export(str(folder / "first.json"))
    use(folder / "other.sqlite3")
    return import_export(folder / "first.json")


def test_what_is_exported_and_imported_is_the_same_to_the_byte(tmp_path):
    two_lives()
    sections = snapshot(*SECTIONS)
    assert "kept" not in moved(tmp_path)
    write_export(str(tmp_path / "second.json"))
    assert (tmp_path / "first.json").read_bytes() == (tmp_path / "second.json").read_bytes()
    assert snapshot(*SECTIONS) == sections
    assert health().state == "ok"
    content = json.loads((tmp_path / "first.json").read_text())
    exported = content["state"] | content["history"]
    assert all(table["rows"] for table in exported.values())
    tables = rows("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    derived = {"goal_progress", "xp_balance", "habit_streaks", "habit_months"}
    assert {name for (name,) in tables} == exported.keys() | derived


def test_what_was_undone_is_done_again_after_an_import(tmp_path):
    two_lives()
    undo()
    moved(tmp_path)
    undo(redo=True)
    assert items("goals") == []


def test_the_id_of_what_was_undone_is_not_given_again_after_an_import(tmp_path):
    [undone] = do(new_goal("Не то"))
    undo()
    moved(tmp_path)
    [new] = do(new_goal("Новая"))
    assert new > undone


def test_a_restored_backup_is_what_there_is_and_what_was_there_is_kept(file, copy):
    before = copy.read_bytes()
    kept = restore_backup(copy)["kept"]
    with closing(store.connect(shutil.copyfile(file, file.with_name("alone")))) as db:
        assert db.execute("SELECT count(*) FROM goals").fetchone()[0] == 1, "in the one file"
    assert titles() == ["В копии"] and health().state == "ok"
    assert copy.read_bytes() == before and not Path(f"{copy}-wal").exists()
    assert {path.stat().st_mode & 0o077 for path in file.parent.glob("life.sqlite3*")} == {0}
    restore_backup(kept)
    assert len(titles()) == 4


@pytest.mark.parametrize("way", ["restore", "import"])
def test_a_session_that_is_open_sees_the_old_state_and_then_the_new_one(way, copy, tmp_path):
    write_export(str(tmp_path / "export.json"))
    do(new_goal("Ещё позже"))
    with store.reading() as db:
        db.execute("SELECT * FROM goals").fetchall()
        restore_backup(copy) if way == "restore" else import_export(tmp_path / "export.json")
        assert len(db.execute("SELECT * FROM goals").fetchall()) == 5
    assert len(titles()) == (1 if way == "restore" else 4)
    do(new_goal("Дальше"))
    names = ("journal_mode", "synchronous", "foreign_keys")
    with store.reading() as db:
        assert [db.execute(f"PRAGMA {name}").fetchone()[0] for name in names] == ["wal", 2, 1]


DAMAGE = {
    "no database": lambda whole: b"no database at all" * 300,
    "random pages": lambda whole: whole[:8192] + os.urandom(len(whole) - 8192),
    "half": lambda whole: whole[: len(whole) // 2],
}


@pytest.mark.parametrize(
    "log_left", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["alone", "with a log"]
)
@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_file_is_named_left_alone_and_replaced_whatever_log_lies_beside_it(
    damage, log_left, file, copy
):
    def crash(tell):
        propose(*a_day())
        os._exit(1)

    if log_left:
        with child(crash):
            pass
        assert Path(f"{file}-wal").stat().st_size > 0
    store.release()
    damaged = damage(file.read_bytes())
    file.write_bytes(damaged)
    for answer in (call("get_user_snapshot"), propose(*a_day())):
        assert (answer["code"], answer["hint"]) == ("DATABASE_ERROR", store.RESTORE)
    assert health().state == "broken" and file.read_bytes() == damaged
    kept = restore_backup(copy)["kept"]
    assert Path(kept).read_bytes() == damaged
    assert titles() == ["В копии"] and health().state == "ok"
    store.release()
    assert titles() == ["В копии"]


def is_refused(command, file):
    with pytest.raises(ToolError) as refused:
        command(file)
    assert refused.value.code == "DATABASE_ERROR" and refused.value.hint


def of_another_program(source):
    with closing(sqlite3.connect(source)) as db:
        db.execute("CREATE TABLE notes (id)")


NOT_BACKUPS = {
    "missing": lambda source: None,
    "an export": lambda source: write_export(str(source)),
    "garbage": lambda source: source.write_bytes(os.urandom(9000)),
    "another program's": of_another_program,
}


@pytest.mark.parametrize("make", NOT_BACKUPS.values(), ids=NOT_BACKUPS)
def test_what_is_not_a_sound_backup_changes_nothing(make, copy, tmp_path):
    make(tmp_path / "wrong")
    is_refused(restore_backup, tmp_path / "wrong")
    assert len(titles()) == 4 and not list(tmp_path.glob(".restore*"))


def test_neither_a_backup_nor_a_restore_takes_the_database_itself(file, copy, tmp_path):
    other_name = tmp_path / "hard link"
    os.link(file, other_name)
    for command in (write_backup, restore_backup):
        for name in (file, other_name):
            with pytest.raises(ToolError, match="is the database itself"):
                command(name)
    assert len(titles()) == 4


def of_no_goal(content):
    steps = content["state"]["steps"]
    steps["rows"][0][steps["columns"].index("goal_id")] = 777


SPOILT = {
    "a newer version": lambda content: content.update(version=99),
    "no table of steps": lambda content: content["state"].pop("steps"),
    "a step of no goal": of_no_goal,
}


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT)
def test_an_export_that_cannot_be_served_changes_nothing(spoil, tmp_path):
    two_lives()
    write_export(str(tmp_path / "export.json"))
    before = (tmp_path / "export.json").read_text("utf-8")
    content = json.loads(before)
    spoil(content)
    for bad in (json.dumps(content), before[: len(before) // 2]):
        (tmp_path / "bad.json").write_text(bad, "utf-8")
        is_refused(import_export, tmp_path / "bad.json")
    write_export(str(tmp_path / "export.json"))
    assert (tmp_path / "export.json").read_text("utf-8") == before
    assert not list(tmp_path.glob(".restore*")) and not list(tmp_path.glob("*.part"))


@pytest.mark.slow
@pytest.mark.parametrize("way", ["backup", "restore", "import"])
def test_killed_at_any_moment_everything_is_as_before_or_as_after(way, file, tmp_path):
    def text(name="text.json"):
        write_export(str(tmp_path / name))
        return (tmp_path / name).read_text("utf-8")

    two_lives()
    old = text("old.json")
    write_backup(tmp_path / "old.sqlite3")
    do(mark(1, amount=1), act("habit.resume", 2), *a_day())
    new = text()
    write_backup(tmp_path / "new.sqlite3")
    copy = Path(write_backup()["file"])
    work = {
        "backup": write_backup,
        "restore": lambda: restore_backup(tmp_path / "old.sqlite3"),
        "import": lambda: import_export(tmp_path / "old.json"),
    }[way]
    [calls] = interrupted(work, 0)
    seen = set()
    for last in (*range(1, calls, calls // 25), calls - 1):
        restore_backup(tmp_path / "new.sqlite3")
        shutil.copyfile(tmp_path / "old.sqlite3", copy)
        interrupted(work, last)
        if way == "backup":
            restore_backup(copy)
        seen.add(text())
        assert health().state == "ok"
    assert seen == {old, new}


@pytest.mark.slow
def test_the_commands_work_from_a_shell_and_a_dash_is_standard_output(file, tmp_path):
    def run(*words, status=0):
        command = [sys.executable, "-I", "-S", PROJECT / "tools", "onepercent", *words]
        done = subprocess.run(command, capture_output=True, timeout=60, check=False)
        assert done.returncode == status, done.stderr
        return done.stderr if status == 2 else done.stdout

    do(*a_day())
    whole = tmp_path / "e.json"
    copy = tmp_path / "b.sqlite3"
    assert json.loads(run("export", whole))["size_bytes"] == whole.stat().st_size
    assert json.loads(run("import", whole))["kept"]
    assert run("export", "-") == whole.read_bytes()
    copy.write_bytes(run("backup", "-"))
    store.release()
    file.write_bytes(b"x" * 9000)
    command = call("get_user_snapshot")["hint"].partition("onepercent ")[2].partition("`")[0]
    assert json.loads(run(*command.replace("FILE", str(copy)).split()))["kept"]
    check_whole([1])
    missing = json.loads(run("import", tmp_path / "none.json", status=1))
    assert missing["code"] == "DATABASE_ERROR"
    for words, status in (((), 0), (("export",), 2), (("fly",), 2)):
        assert b"onepercent export FILE" in run(*words, status=status)


def test_what_was_applied_is_on_the_disk_and_in_the_one_file_unless_somebody_reads_an_older_one(
    file, tmp_path, monkeypatch
):
    synced = []
    monkeypatch.setattr(files, "sync", synced.append)
    do(new_goal("Кухня"))
    alone = shutil.copyfile(file, tmp_path / "alone")
    with closing(store.connect(alone)) as db:
        assert (db.execute("SELECT title FROM goals").fetchone()[0], synced) == ("Кухня", [])
    with closing(store.connect(file)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT title FROM goals").fetchall()
        do(new_goal("Сад"))
        assert synced == [Path(f"{file}-wal")]
