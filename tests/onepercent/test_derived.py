"""What is derived is counted at every door, and compared with the record: named where it differs, and healed."""

import json
import re

import pytest

from tests.onepercent.children import a_day
from tests.onepercent.person import (
    act,
    apply,
    behind_the_tools,
    call,
    do,
    insert,
    mark,
    new_goal,
    new_habit,
    preview,
    rows,
    snapshot,
    use,
)
from tests.support.client import json_lines
from tools.onepercent.database import store
from tools.onepercent.transfer.backup import (
    check_database,
    import_export,
    restore_backup,
    write_backup,
    write_export,
)

DAMAGE = """
UPDATE goal_progress SET steps_completed = 2
UPDATE goal_progress SET steps_count = -1
DELETE FROM goal_progress
UPDATE xp_balance SET balance = balance + 7
UPDATE xp_balance SET lifetime = 1
DELETE FROM xp_balance
UPDATE habit_months SET marks = replace(marks, '+', ' ')
UPDATE habit_months SET marks = replace(marks, '+', '-')
DELETE FROM habit_months
UPDATE habit_streaks SET best = 40
DELETE FROM habit_streaks
""".strip().splitlines()

# What the versions after 6 added.
TO_VERSION_6 = """
DROP INDEX habits_by_goal
DROP TRIGGER habits_unfold
CREATE TRIGGER habits_unfold AFTER UPDATE OF n ON habits BEGIN SELECT 1; END
ALTER TABLE goals DROP COLUMN target_amount
ALTER TABLE goals DROP COLUMN target_unit
ALTER TABLE goals DROP COLUMN amount
ALTER TABLE goals DROP COLUMN place
ALTER TABLE habits DROP COLUMN until
ALTER TABLE habits DROP COLUMN at_most
ALTER TABLE habits DROP COLUMN goal_id
ALTER TABLE habits DROP COLUMN place
ALTER TABLE habit_marks DROP COLUMN note
PRAGMA user_version = 6
""".strip().splitlines()


def live():
    """A goal of three steps, one done; a habit whose first marks are folded. Returns what is shown of it."""
    do(*a_day(), new_habit("Бег"))
    do(mark(1, dates=["2026-02-24", "2026-02-25", "2026-03-17"]))
    return shown()


def shown():
    return snapshot("goals", "habits", "xp", "history", date_from="2026-02-20")


@pytest.mark.parametrize("door", ["check", "daily copy", "restore"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_difference_is_named_and_counted_anew_at_every_door(damage, door, tmp_path):
    before = live()
    table = re.search(r"\w+_\w+", damage)[0]
    behind_the_tools(damage)
    if door == "check":
        assert check_database().state == "broken"
        behind_the_tools(damage)
        assert f"{table} differed" in check_database().summary
    elif door == "daily copy":
        assert table in write_backup()["counted_anew"]
    else:
        write_backup(str(tmp_path / "copy"))
        # A fold is counted anew in any case, without being compared.
        assert restore_backup(str(tmp_path / "copy")).get("counted_anew", ["habit_streaks"]) == [
            table
        ]
    assert shown() == before and check_database().state == "ok"


@pytest.mark.parametrize("table", ["goal_progress", "habit_streaks"])
def test_no_row_of_the_record_is_out_of_sight_while_a_derived_one_is_missing(table):
    live()
    behind_the_tools(f"DELETE FROM {table}")
    data = snapshot("goals", "habits")
    assert len(data["goals"]["items"]) == len(data["habits"]["items"]) == 1
    assert data["habits"]["items"][0]["best_streak"] == 2


@pytest.mark.parametrize("order", [iter, reversed])
def test_an_import_keeps_every_count_whatever_the_order_of_the_tables_in_the_file(order, tmp_path):
    before = live()
    file = tmp_path / "export.json"
    write_export(str(file))
    content = json.loads(file.read_text("utf-8"))
    for part in ("state", "history"):
        content[part] = dict(order(content[part].items()))
    file.write_text(json.dumps(content), "utf-8")
    use(tmp_path / "other.sqlite3")
    assert "counted_anew" not in import_export(str(file))
    assert shown() == before and check_database().state == "ok"


# The day of a step, its rule, when it was made and when it was left; the last one a person has moved since.
COPIES = json_lines(r"""
["2026-03-01", null, "2026-03-01T08:00:00.000Z", "2026-03-02T08:00:00.000Z"]
["2026-03-02", null, "2026-03-02T08:00:00.000Z", "2026-03-03T08:00:00.000Z"]
["2026-03-05", "{\"every\": \"day\"}", "2026-03-03T08:00:00.000Z", "2026-03-05T08:00:00.000Z"]
["2026-03-05", null, "2026-03-01T08:00:00.000Z", "2026-03-01T09:00:00.000Z"]
""")


def test_a_migration_heals_who_has_imported_and_folds_the_copies_that_looks_have_left(file):
    live()
    with store.writing() as db:
        for dt, repeat, made, left in COPIES:
            insert(
                db,
                "steps",
                goal_id=1,
                title="Зарядка",
                priority="attention",
                dt=dt,
                repeat=repeat,
                created_at=made,
                updated_at=left,
            )
    behind_the_tools("UPDATE goal_progress SET steps_count = -1", *TO_VERSION_6)
    store.release()
    assert rows("SELECT steps_count, steps_completed FROM goal_progress") == [(5, 1)]
    left = rows("SELECT dt, repeat FROM steps WHERE title = 'Зарядка' AND deleted_at IS NULL")
    assert left == [("2026-03-01", '{"every": "day"}'), ("2026-03-05", None)]
    assert check_database().state == "ok"


@pytest.mark.parametrize(
    "plan",
    [
        "'{'",
        "json_remove(plan, '$.today')",
        "json_set(plan, '$.entries', json('[]'))",
        "json_set(plan, '$.actions[0]', json('{}'))",
        "json_set(plan, '$.actions[0][0]', 'goal.fly')",
        "json_set(plan, '$.actions[0][2].title', 'Дом')",
    ],
)
def test_a_preview_whose_plan_is_damaged_applies_nothing(plan):
    do(new_goal("Кухня"))
    previewed = preview(act("goal.update", 1, title="Сад"))
    behind_the_tools(f"UPDATE previews SET plan = {plan}")
    before = snapshot("goals")
    assert apply(previewed)["code"] == "PREVIEW_STALE"
    assert snapshot("goals") == before


@pytest.mark.parametrize(
    "damage, code",
    [
        ("UPDATE applied SET journal = '{' WHERE id = 2", "DATABASE_ERROR"),
        # The one before: its row has changed since.
        ("DELETE FROM applied WHERE id = 2", "PREVIEW_STALE"),
        ("DELETE FROM goals", "PREVIEW_STALE"),
    ],
)
def test_a_journal_that_is_damaged_or_older_than_its_rows_undoes_nothing(damage, code):
    do(new_goal("Кухня"))
    do(act("goal.update", 1, title="Сад"))
    behind_the_tools(damage)
    before = snapshot("goals")
    assert call("undo_last")["code"] == code
    assert snapshot("goals") == before
