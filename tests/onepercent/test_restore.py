"""A backup put back: by the command that the hint names, whatever the present file looks like."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import tests.onepercent.person as person
from tests.onepercent.children import a_day, child
from tests.onepercent.person import act, call, do, items
from tools.core.errors import ToolError
from tools.onepercent import health
from tools.onepercent.database import faults, migrations, restore, store, transfer

PROJECT = Path(__file__).parents[2]


def titles() -> list[str]:
    return [goal["title"] for goal in items("goals")]


@pytest.fixture
def backup(file: Path, tmp_path: Path) -> Path:
    """A backup of one goal; the present file has three more."""
    do(act("goal.create", title="В копии"))
    transfer.backup(str(tmp_path / "backup.sqlite3"))
    for number in range(3):
        do(act("goal.create", title=f"Позже {number}"))
    return tmp_path / "backup.sqlite3"


def test_a_restored_backup_is_what_there_is_and_what_was_there_is_kept(backup: Path):
    before = backup.read_bytes()
    answer = restore.restore(str(backup))
    assert titles() == ["В копии"]
    assert health.database().state == "ok"
    assert backup.read_bytes() == before and not Path(f"{backup}-wal").exists()
    restore.restore(answer["kept"])
    assert len(titles()) == 4


def test_a_session_that_is_open_goes_on_with_the_restored_file(backup: Path):
    with store.reading() as db:
        db.execute("SELECT * FROM goals").fetchall()
        restore.restore(str(backup))
        assert len(db.execute("SELECT * FROM goals").fetchall()) == 4
    assert titles() == ["В копии"]
    do(act("goal.create", title="Дальше"))
    assert titles() == ["В копии", "Дальше"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: b"no database at all" * 300,
        lambda whole: whole[:8192] + os.urandom(len(whole) - 8192),
        lambda whole: whole[: len(whole) // 2],
        lambda whole: whole[:100] + os.urandom(4000) + whole[4100:],
        lambda whole: b"\0" * len(whole),
    ],
)
@pytest.mark.parametrize("log_left", [False, True])
def test_a_damaged_file_is_replaced_whatever_log_lies_beside_it(damage, log_left: bool, file: Path, backup: Path):
    def crash(tell) -> None:
        call("preview_actions", actions=a_day())
        os._exit(1)

    if log_left:
        with child(crash):
            pass
        assert Path(f"{file}-wal").stat().st_size > 0
    store.release()
    file.write_bytes(damage(file.read_bytes()))
    restore.restore(str(backup))
    assert titles() == ["В копии"]
    assert health.database().state == "ok"
    store.leave()
    assert titles() == ["В копии"]


def test_the_hint_of_a_damaged_file_names_the_command_and_the_command_works(file: Path, backup: Path):
    store.release()
    file.write_bytes(b"x" * 9000)
    hint = call("get_user_snapshot")["hint"]
    assert hint == faults.RESTORE
    command = hint.partition("`")[2].partition("`")[0].replace("FILE", str(backup)).split()
    done = subprocess.run(
        [sys.executable, *command[1:]], cwd=PROJECT, capture_output=True, text=True, timeout=60, check=False
    )
    answer = json.loads(done.stdout)
    assert answer["success"] and Path(answer["kept"]).read_bytes() == b"x" * 9000
    assert titles() == ["В копии"]


def test_an_import_replaces_a_damaged_file_too(file: Path, backup: Path, tmp_path: Path):
    transfer.export(str(tmp_path / "export.json"))
    store.release()
    file.write_bytes(b"x" * 9000)
    transfer.import_(str(tmp_path / "export.json"))
    assert len(titles()) == 4


def test_a_copy_of_the_file_and_its_log_is_a_backup_as_well(file: Path, tmp_path: Path):
    def crash(tell) -> None:
        with store.writing() as db:
            db.execute("UPDATE goals SET title = 'В журнале'")
        os._exit(1)

    do(act("goal.create", title="Цель"))
    store.release()
    with child(crash):
        pass
    for name in ("", "-wal"):
        shutil.copyfile(f"{file}{name}", tmp_path / f"copy{name}")
    do(act("goal.create", title="Позже"))
    restore.restore(str(tmp_path / "copy"))
    assert titles() == ["В журнале"]


def test_a_backup_of_an_older_version_is_migrated(monkeypatch: pytest.MonkeyPatch, file: Path, tmp_path: Path):
    with monkeypatch.context() as then:
        then.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:1])
        with store.writing() as db:
            db.execute(
                """INSERT INTO goals (user, title, category, created_at, updated_at)
                VALUES ('local', 'Старая', 'work', '2026-01-01', '2026-01-01')"""
            )
        transfer.backup(str(tmp_path / "old.sqlite3"))
        store.release()
    do(act("goal.create", title="Новая"))
    restore.restore(str(tmp_path / "old.sqlite3"))
    assert titles() == ["Старая"] and health.database().state == "ok"


@pytest.mark.parametrize("wrong", ["missing", "json", "garbage", "empty", "other", "itself", "newer", "rotten"])
def test_what_is_not_a_sound_backup_changes_nothing(wrong: str, file: Path, backup: Path, tmp_path: Path):
    source = file if wrong == "itself" else tmp_path / wrong
    if wrong == "json":
        transfer.export(str(source))
    elif wrong == "garbage":
        source.write_bytes(os.urandom(9000))
    elif wrong == "empty":
        source.write_bytes(b"")
    elif wrong == "other":
        with closing(sqlite3.connect(source)) as db:
            db.execute("CREATE TABLE notes (id)")
    elif wrong in ("newer", "rotten"):
        shutil.copyfile(backup, source)
        db = sqlite3.connect(source)
        db.execute("PRAGMA user_version = 99" if wrong == "newer" else "UPDATE xp_balance SET balance = 7")
        db.execute("UPDATE goals SET category = 'money'")
        db.commit()
        db.close()
    before = titles()
    with pytest.raises(ToolError) as refused:
        restore.restore(str(source))
    assert refused.value.code == "DATABASE_ERROR" and refused.value.hint
    assert titles() == before
    assert not list(tmp_path.glob("*.restore*"))


def test_killed_at_any_moment_of_a_restore_there_is_the_old_state_or_the_new(file: Path, backup: Path):
    import signal

    for statement in range(1, 60, 3):
        store.release()

        def work(tell, statement=statement) -> None:
            left = [statement]

            def count(*_: object) -> None:
                left[0] -= 1
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

            import sys as own

            own.setprofile(lambda frame, event, _: count() if event == "c_call" else None)
            restore.restore(str(backup))

        with child(work):
            pass
        assert titles() in (["В копии"], ["В копии", "Позже 0", "Позже 1", "Позже 2"])
        assert health.database().state == "ok"


def test_a_user_other_than_the_owner_reads_neither_copy(backup: Path, file: Path):
    restore.restore(str(backup))
    assert {path.stat().st_mode & 0o077 for path in file.parent.glob("life.sqlite3*")} == {0}
    person.use(file)
