"""A database of version 2, with what was applied last, goes on in the present version."""

import json
from pathlib import Path

import pytest

from tests.onepercent.person import act, apply, call, do, items, snapshot
from tools.onepercent import health
from tools.onepercent.database import migrations, store, transfer

CHANGES = [["goals", [1], {"title": "Старая"}, {"title": "Новая"}]]
STAMP = "2026-03-01T00:00:00.000Z"


def of_version_two(monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    """A goal that was renamed last, in a file of version 2."""
    with monkeypatch.context() as then:
        then.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:2])
        with store.writing() as db:
            db.execute(
                "INSERT INTO goals (user, title, category, created_at, updated_at) VALUES ('local', 'Новая', 'work', ?, ?)",
                (STAMP, STAMP),
            )
            db.execute(
                "INSERT INTO previews (id, user, status, created_at, expires_at) VALUES ('p', 'local', 'applied', ?, 1)",
                (STAMP,),
            )
            journal = json.dumps({"changes": CHANGES, "lines": [line]}, ensure_ascii=False, separators=(",", ":"))
            db.execute("INSERT INTO last_applied VALUES ('local', 'p', ?)", (journal,))
        store.release()


@pytest.mark.parametrize(("line", "redo"), [("Цель 'Новая' обновлена", False), ("Отменено: Цель 'X' обновлена", True)])
def test_what_was_applied_last_can_still_be_taken_back(line: str, redo: bool, monkeypatch: pytest.MonkeyPatch):
    of_version_two(monkeypatch, line)
    assert items("goals")[0]["title"] == "Новая"
    assert call("undo_last", redo=not redo)["code"] == "NOTHING_TO_UNDO"
    answer = apply(call("undo_last", redo=redo))
    assert answer["success"] and "Отменено: Отменено" not in answer["message"]
    assert items("goals")[0]["title"] == "Старая"
    assert health.database().state == "ok"


def test_a_migration_that_fails_halfway_leaves_version_two(monkeypatch: pytest.MonkeyPatch, file):
    of_version_two(monkeypatch, "Цель 'Новая' обновлена")
    with monkeypatch.context() as broken:
        broken.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS[:2], (*migrations.THIRD[:6], "NONSENSE")))
        assert call("get_user_snapshot")["code"] == "DATABASE_ERROR"
        store.release()
    assert items("goals")[0]["title"] == "Новая"
    assert file.with_name("life.sqlite3.before-v4").exists()


@pytest.mark.parametrize("way", ["opened", "imported"])
def test_marks_of_version_three_are_in_the_history(way: str, monkeypatch: pytest.MonkeyPatch, file: Path):
    export = file.with_name("life.json")
    with monkeypatch.context() as then:
        then.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:3])
        habit = do(act("habit.create", name="Бег"))[0]
        do(act("habit.mark_completed", habit_id=habit), act("diary.create_entry", plans="x"))
        transfer.export(str(export))
        store.release()
    if way == "imported":
        file.unlink()
        transfer.import_(str(export))
    past = snapshot("history")["history"]
    assert past["habits"] == [{"id": habit, "name": "Бег", "marks": "......+", "rate": 100, "streak": 1}]
    assert past["xp"] == {"gained": 20, "lost": 0, "from": 0, "to": 20}
    assert health.database().state == "ok"
