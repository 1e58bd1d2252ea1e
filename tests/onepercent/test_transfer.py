"""Export, import, backup, migrations and the check."""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import tests.onepercent.person as person
from tests.onepercent.children import a_day, check_whole
from tests.onepercent.person import act, apply, call, do, items, preview, snapshot
from tools.core.errors import ToolError
from tools.core.health import CHECKS
from tools.onepercent import health
from tools.onepercent.database import files, migrations, store, transfer

VERSION = f'"version":{len(migrations.MIGRATIONS)}'


def lived() -> None:
    """Something in every table."""
    goal, _, _, _, _, _ = do(*a_day())
    habit = do(act("habit.create", name="Бег", frequency_type="custom", schedule_days=[1, 3]))[0]
    do(
        act("habit.mark_completed", habit_id=habit, date="2026-03-16"),
        act("habit.mark_missed", habit_id=habit, excuse_reason="☔"),
    )
    do(act("goal.update", goal_id=goal, why_important='"кавычки"\nи строки\u2028'), act("goal.delete", goal_id=goal))
    person.use(store.path(), ONEPERCENT_USER="other")
    do(*a_day())
    call("preview_actions", actions=[])
    call("cancel_preview", preview_id=preview(*a_day())["preview_id"])
    person.use(store.path())
    with store.writing() as db:
        db.execute("INSERT INTO ssp_evaluations (user, created_at, work) VALUES ('local', 'x', 7)")


def test_what_is_exported_and_imported_is_the_same(file: Path, tmp_path: Path):
    lived()
    shown = snapshot("goals", "habits", "diary", "schedule", "xp", "ssp")
    transfer.export(str(tmp_path / "first.json"))
    person.use(tmp_path / "other.sqlite3")
    assert "kept" not in transfer.import_(str(tmp_path / "first.json"))
    transfer.export(str(tmp_path / "second.json"))
    assert (tmp_path / "first.json").read_bytes() == (tmp_path / "second.json").read_bytes()
    assert snapshot("goals", "habits", "diary", "schedule", "xp", "ssp") == shown
    assert health.database().state == "ok"
    for table in (*migrations.STATE, *migrations.HISTORY):
        assert json.loads((tmp_path / "first.json").read_text())[("state" if table in migrations.STATE else "history")][
            table
        ]["rows"], table


def test_every_table_is_exported_or_derived():
    snapshot()
    with store.reading() as db:
        tables = {
            row[0]
            for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
        }
    derived = {"goal_progress", "xp_balance", "habit_streaks", "habit_months"}
    assert tables == {*migrations.STATE, *migrations.HISTORY} | derived


def test_an_import_replaces_what_was_there_and_keeps_a_copy(file: Path, tmp_path: Path):
    lived()
    transfer.export(str(tmp_path / "export.json"))
    do(act("goal.create", title="Позже"))
    last = items("goals")[-1]["id"]
    kept = transfer.import_(str(tmp_path / "export.json"))["kept"]
    assert items("goals") == []
    with sqlite3.connect(kept) as db:
        assert db.execute("SELECT title FROM goals WHERE id = ?", (last,)).fetchone()[0] == "Позже"
    db.close()


def test_ids_go_on_after_an_import_and_the_last_change_can_be_undone(file: Path, tmp_path: Path):
    lived()
    apply(call("undo_last"))
    transfer.export(str(tmp_path / "export.json"))
    person.use(tmp_path / "other.sqlite3")
    transfer.import_(str(tmp_path / "export.json"))
    assert apply(call("undo_last", redo=True))["success"]
    assert items("goals") == []
    with store.reading() as db:
        highest = db.execute("SELECT max(id) FROM goals").fetchone()[0]
    assert do(act("goal.create", title="Новая"))[0] > highest


def test_a_session_that_is_open_sees_the_import_whole(file: Path, tmp_path: Path):
    lived()
    transfer.export(str(tmp_path / "export.json"))
    do(*a_day())
    with store.reading() as db:
        before = db.execute("SELECT count(*) FROM goals").fetchone()[0]
        transfer.import_(str(tmp_path / "export.json"))
        assert db.execute("SELECT count(*) FROM goals").fetchone()[0] == before
    assert len(items("goals")) == 0


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text[: len(text) // 2],
        lambda text: "[]",
        lambda text: text.replace(VERSION, '"version":99'),
        lambda text: text.replace(VERSION, '"version":"x"'),
        lambda text: text.replace('"goal_id"', '"goal_id; DROP TABLE goals"'),
        lambda text: text.replace('[1,"local",1,"Шаг', '[1,"local",777,"Шаг'),
        lambda text: text.replace('"steps":{', '"stepz":{'),
        lambda text: text.replace('"xp_ledger":{"columns":["id"', '"xp_ledger":{"columns":["ib"'),
        lambda text: text.replace("[1,", "[{},"),
    ],
)
def test_a_spoilt_export_changes_nothing(spoil, file: Path, tmp_path: Path):
    lived()
    transfer.export(str(tmp_path / "export.json"))
    before = (tmp_path / "export.json").read_text(encoding="utf-8")
    assert spoil(before) != before
    (tmp_path / "bad.json").write_text(spoil(before), encoding="utf-8")
    with pytest.raises(ToolError) as refused:
        transfer.import_(str(tmp_path / "bad.json"))
    assert refused.value.code == "DATABASE_ERROR" and refused.value.hint
    transfer.export(str(tmp_path / "export.json"))
    assert (tmp_path / "export.json").read_text(encoding="utf-8") == before
    assert not list(tmp_path.glob("*.import*")) and not list(tmp_path.glob("*.part"))


def test_a_backup_is_a_whole_database(file: Path, tmp_path: Path):
    do(*a_day())
    transfer.backup(str(tmp_path / "backup.sqlite3"))
    do(act("goal.create", title="Позже"))
    person.use(tmp_path / "backup.sqlite3")
    check_whole([1])


def test_a_restored_backup_and_an_import_write_ahead_again(file: Path, tmp_path: Path):
    do(*a_day())
    transfer.export(str(tmp_path / "export.json"))
    transfer.backup(str(tmp_path / "backup.sqlite3"))
    for restored in ("backup", "imported"):
        person.use(tmp_path / f"{restored}.sqlite3")
        if restored == "imported":
            transfer.import_(str(tmp_path / "export.json"))
        with store.reading() as db:
            assert db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
            assert db.execute("PRAGMA synchronous").fetchone()[0] == 2
            assert db.execute("PRAGMA foreign_keys").fetchone()[0] == 1


def test_a_backup_never_replaces_the_database_itself(file: Path):
    do(*a_day())
    with pytest.raises(ToolError):
        transfer.backup(str(file))
    check_whole([1])


@pytest.mark.parametrize("command", [transfer.export, transfer.backup])
def test_a_folder_that_is_not_there_is_an_error_with_a_hint(command):
    do(*a_day())
    with pytest.raises(ToolError) as refused:
        command("/nowhere/at/all")
    assert refused.value.hint


def test_the_commands_work_from_a_shell(file: Path, tmp_path: Path):
    def run(*words: str) -> subprocess.CompletedProcess:
        project, main = Path(__file__).parents[2], "import sys; sys.path[:0] = ['.']; from tools.__main__ import main"
        command = [sys.executable, "-I", "-S", "-c", f"{main}; sys.exit(main(sys.argv[1:]))", *words]
        return subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=60, check=False)

    do(*a_day())
    assert json.loads(run("onepercent", "export", str(tmp_path / "e.json")).stdout)["rows"]["goals"] == 1
    assert json.loads(run("onepercent", "import", str(tmp_path / "e.json")).stdout)["kept"]
    assert json.loads(run("onepercent", "backup", str(tmp_path / "b.sqlite3")).stdout)["size_bytes"] > 0
    missing = run("onepercent", "import", str(tmp_path / "none.json"))
    assert missing.returncode == 1 and json.loads(missing.stdout)["code"] == "DATABASE_ERROR"
    listed = run("onepercent")
    assert "onepercent export FILE" in listed.stdout + listed.stderr
    for words in (["onepercent", "export"], ["onepercent", "fly"]):
        wrong = run(*words)
        assert wrong.returncode == 2 and "onepercent export FILE" in wrong.stderr


def test_a_migration_keeps_a_copy_and_happens_whole_or_not_at_all(monkeypatch: pytest.MonkeyPatch, file: Path):
    do(*a_day())
    store.release()
    known = migrations.MIGRATIONS
    monkeypatch.setattr(migrations, "MIGRATIONS", (*known, ("ALTER TABLE goals ADD COLUMN colour TEXT", "NONSENSE")))
    assert call("get_user_snapshot")["code"] == "DATABASE_ERROR"
    assert files.version_in_header(file) == len(known)
    monkeypatch.setattr(migrations, "MIGRATIONS", (*known, ("ALTER TABLE goals ADD COLUMN colour TEXT",)))
    assert len(items("goals")) == 1
    store.release()
    assert files.version_in_header(file) == len(known) + 1
    assert files.version_in_header(file.with_name(f"life.sqlite3.before-v{len(known) + 1}")) == len(known)


def test_a_database_of_the_first_version_keeps_its_xp(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    with monkeypatch.context() as then:
        then.setattr(migrations, "MIGRATIONS", (migrations.FIRST,))
        then.setattr(migrations, "HISTORY", ("audit", "previews", "last_applied"))
        then.setitem(transfer.PARTS, "history", migrations.HISTORY)
        with store.writing() as db:
            db.execute("INSERT INTO xp_ledger VALUES (1, 'local', '2026-03-01T00:00:00.000Z', 35, 'step.complete', 99)")
        transfer.export(str(tmp_path / "then.json"))
        store.release()
    do(*a_day())
    ledger = snapshot("xp")["xp"]
    assert (ledger["balance"], ledger["lifetime"]) == (70, 70)
    assert health.database().state == "ok"
    person.use(tmp_path / "other.sqlite3")
    transfer.import_(str(tmp_path / "then.json"))
    assert snapshot("xp")["xp"]["balance"] == 35


def test_an_older_export_is_migrated_on_import(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    do(*a_day())
    transfer.export(str(tmp_path / "export.json"))
    store.release()
    monkeypatch.setattr(
        migrations,
        "MIGRATIONS",
        (*migrations.MIGRATIONS, ("ALTER TABLE goals ADD COLUMN colour TEXT DEFAULT 'red'",)),
    )
    person.use(tmp_path / "other.sqlite3")
    transfer.import_(str(tmp_path / "export.json"))
    with store.reading() as db:
        assert db.execute("SELECT colour FROM goals").fetchone()[0] == "red"


def test_the_check_reports_path_size_version_and_integrity(file: Path):
    check = CHECKS["onepercent"]
    assert check().state == "unset" and not file.exists()
    do(*a_day())
    assert check().state == "ok"
    assert str(file) in check().summary and f"MB, version {len(migrations.MIGRATIONS)}, sound" in check().summary
    with store.writing() as db:
        db.execute("UPDATE xp_balance SET balance = 7")
    assert check().state == "broken" and "XP differs" in check().summary
