"""Databases and exports of older versions go on in the present one; a migration happens whole or not at
all."""

import pytest

from tests.onepercent.children import a_day
from tests.onepercent.person import balance, call, do, history, insert, items, titles, use
from tools.onepercent.base.days import PersonsClock
from tools.onepercent.database import derived, migrations, store
from tools.onepercent.transfer import backup as exporting
from tools.onepercent.transfer.backup import check_database as health
from tools.onepercent.transfer.backup import (
    import_export,
    restore_backup,
    write_backup,
    write_export,
)

STAMP = "2026-03-01T00:00:00.000Z"
STATE_UNTIL_4 = ("goals", "steps", "habits", "habit_marks", "diary", "ssp_evaluations", "xp_ledger")


@pytest.fixture
def then():
    """What takes the program back to a version; undone, it is the present one."""
    with pytest.MonkeyPatch.context() as patch:
        yield patch


def go_back(then, version):
    then.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:version])
    then.setattr(derived, "recount", lambda db: [])
    if version < 5:
        then.setattr(store, "stored_clock", lambda db: PersonsClock("", 0))
        then.setitem(exporting.TABLE_GROUPS, "state", STATE_UNTIL_4)
    if version < 3:
        then.setitem(exporting.TABLE_GROUPS, "history", ("audit", "previews", "last_applied"))


def go_on(then, way, file):
    """Take what the older program left into the present one."""
    copy = str(file.with_name(way))
    if way != "opened":
        write_export(copy) if way == "imported" else write_backup(copy)
    store.release()
    then.undo()
    if way != "opened":
        use(file.with_name("other.sqlite3"))
        import_export(copy) if way == "imported" else restore_backup(copy)


@pytest.mark.parametrize("way", ["opened", "imported", "restored"])
@pytest.mark.parametrize("version", range(1, len(migrations.MIGRATIONS)))
def test_a_life_of_every_version_goes_on(version, way, then, file):
    go_back(then, version)
    stamps = {"created_at": STAMP, "updated_at": STAMP}
    habit = {"name": "Бег", "icon": "star", "frequency_type": "daily", "created_on": "2026-03-17"}
    with store.writing() as db:
        insert(db, "goals", title="Старая", category="work", **stamps)
        insert(db, "xp_ledger", id=1, at=STAMP, xp=35, action="step.complete", entity_id=99)
        insert(db, "habits", **habit, xp_reward=10, xp_penalty=10, **stamps)
        mark = {"date": "2026-03-18", "status": "completed", "xp": 10}
        insert(db, "habit_marks", habit_id=1, **mark, **stamps)
    go_on(then, way, file)
    assert titles() == ["Старая"]
    assert balance() == 35
    [shown] = history()["habits"]
    assert (shown["name"], shown["marks"], shown["streak"]) == ("Бег", ".....?+", 1)
    do(*a_day())
    assert balance() == 70
    assert health().state == "ok"


def test_a_migration_keeps_a_copy_and_happens_whole_or_not_at_all(monkeypatch, file):
    def version(of):
        # Where the header has it (sqlite.org/fileformat2.html).
        return int.from_bytes(of.read_bytes()[60:64], "big")

    do(*a_day())
    store.release()
    known = migrations.MIGRATIONS
    colour = "ALTER TABLE goals ADD COLUMN colour TEXT DEFAULT 'red'"
    monkeypatch.setattr(migrations, "MIGRATIONS", (*known, f"{colour}\n\nNONSENSE"))
    assert call("get_user_snapshot")["code"] == "DATABASE_ERROR"
    store.release()
    assert version(file) == len(known)
    monkeypatch.setattr(migrations, "MIGRATIONS", (*known, colour))
    assert len(items("goals")) == 1
    store.release()
    assert version(file) == len(known) + 1
    assert version(file.with_name(f"life.sqlite3.before-v{len(known) + 1}")) == len(known)
