"""The copies of each day: the last days and months are kept, each can be restored, and a bad day costs none
of them."""

import os
from datetime import date, timedelta
from pathlib import Path

import pytest

from tests.onepercent.children import a_day
from tests.onepercent.person import do, items, new_goal, titles, use
from tools.core.errors import ToolError
from tools.onepercent.database import store
from tools.onepercent.transfer.backup import check_database as health
from tools.onepercent.transfer.backup import (
    copies,
    folder,
    restore_backup,
    write_backup,
    write_export,
)


def names():
    return sorted(path.name for path in folder().iterdir())


@pytest.mark.slow
def test_fourteen_days_and_twelve_months_are_kept_and_each_can_be_restored(clock):
    months = [date(2026 + number // 12, number % 12 + 1, 1) for number in range(1, 15)]
    last_days = [date(2027, 3, 20) - timedelta(ago) for ago in range(18, -1, -1)]
    some = {day + timedelta(later) for day in months for later in (0, 10, 20)}
    for day in sorted({*(day for day in some if day < last_days[-1]), *last_days}):
        clock.set(f"{day}T12:00:00+00:00")
        do(new_goal(str(day)))
        write_backup()
    kept = {*last_days[-14:], *months[-12:]}
    assert names() == sorted(f"onepercent-{day}.sqlite3" for day in kept) and len(kept) == 26
    for day in kept:
        restore_backup(folder() / f"onepercent-{day}.sqlite3")
        assert max(titles()) == str(day)
        assert health().state == "ok"


def test_without_a_database_there_is_nothing_to_copy_and_none_is_made(file):
    assert write_backup()["file"] is None
    assert not file.exists() and not folder().exists()


def test_other_files_in_the_folder_are_left_alone(clock):
    folder().mkdir()
    (folder() / "onepercent-mine.sqlite3").touch()
    do(*a_day())
    for number in range(1, 19):
        clock.set(f"2026-04-{number:02}T12:00:00+00:00")
        write_backup()
    assert "onepercent-mine.sqlite3" in names() and len(names()) == 16


def test_a_damaged_database_takes_no_sound_copy_away():
    do(*a_day())
    write_backup()
    [copy] = copies()
    assert {path.stat().st_mode & 0o077 for path in (copy, copy.parent)} == {0}
    before = copy.read_bytes()
    with store.connected() as db:
        db.execute("PRAGMA foreign_keys = OFF")
        db.execute("UPDATE steps SET goal_id = 777 WHERE id = 1")
        db.execute("PRAGMA foreign_keys = ON")
    with pytest.raises(ToolError, match="refers to nothing"):
        write_backup()
    assert [path.read_bytes() for path in folder().iterdir()] == [before]


@pytest.mark.parametrize("folder", ["file", "life.sqlite3", "/proc/nowhere"])
def test_a_folder_that_takes_no_copy_is_an_error_with_a_hint(folder, file):
    do(*a_day())
    (file.parent / "file").touch()
    use(file, ONEPERCENT_BACKUP_DIR=str(file.parent / folder))
    with pytest.raises(ToolError) as refused:
        write_backup()
    assert refused.value.code == "DATABASE_ERROR" and "ONEPERCENT_BACKUP_DIR" in refused.value.hint
    assert len(items("goals")) == 1


def test_the_check_warns_of_copies_that_are_missing_old_or_on_the_same_disk(file, clock):
    do(*a_day())
    assert "There is no backup yet" in health().advice
    write_backup()
    assert "on the database's own disk" in health().advice
    clock.set("2026-03-20T12:00:00+00:00")
    assert "The newest backup is" not in health().advice
    clock.set("2026-03-21T12:00:00+00:00")
    assert health().advice.startswith("The newest backup is of 2026-03-18")
    assert health().state == "ok"
    if os.access("/dev/shm", os.W_OK) and os.stat("/dev/shm").st_dev != file.stat().st_dev:
        elsewhere = Path(f"/dev/shm/{os.getpid()}-backups")
        use(file, ONEPERCENT_BACKUP_DIR=str(elsewhere))
        write_backup()
        assert health().advice == ""
        copies()[0].unlink()
        elsewhere.rmdir()


@pytest.mark.parametrize("command", [write_export, write_backup])
def test_what_is_no_file_is_never_replaced(command, tmp_path):
    do(*a_day())
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    for name in ("pipe", "link", ".", "/dev/null"):
        with pytest.raises(ToolError, match="is not a file"):
            command(str(tmp_path / name))
    assert (tmp_path / "pipe").is_fifo() and Path("/dev/null").is_char_device()
