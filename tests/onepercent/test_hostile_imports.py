"""Imports that cannot be served are refused, and change nothing."""

import json
from pathlib import Path

import pytest

from tests.onepercent.person import act, apply, call, do, items, preview
from tools.core.errors import ToolError
from tools.onepercent.database import transfer

BIG = 2**63 - 1


def spoilt(table: str, column: str, value: object):
    """Set a column of the last row of a table."""

    def spoil(export: dict) -> None:
        found = (export["state"] if table in export["state"] else export["history"])[table]
        found["rows"][-1][found["columns"].index(column)] = value

    return spoil


def replaced(name: str, value: object):
    return lambda export: export.update({name: value})


SPOILT = {
    "sequences a list": replaced("sequences", []),
    "a sequence at the end": replaced("sequences", {"goals": BIG}),
    "a sequence that is text": replaced("sequences", {"goals": "x"}),
    "a sequence of null": replaced("sequences", {"goals": None}),
    "version infinite": replaced("version", float("inf")),
    "version true": replaced("version", True),
    "version 0": replaced("version", 0),
    "state a list": replaced("state", []),
    "history null": replaced("history", None),
    "tables lists": replaced("state", {"goals": []}),
    "id at the end": spoilt("goals", "id", BIG),
    "id 0": spoilt("habits", "id", 0),
    "weekdays x": spoilt("habits", "schedule_days", "x"),
    "weekdays 9": spoilt("habits", "schedule_days", "9"),
    "frequency": spoilt("habits", "frequency_type", "hourly"),
    "created on zzz": spoilt("habits", "created_on", "zzz"),
    "a mark's date": spoilt("habit_marks", "date", "zzz"),
    "a diary date": spoilt("diary", "date", "2026-02-31"),
    "a step's date": spoilt("steps", "dt", "soon"),
    "a step done at no moment": spoilt("steps", "completed_at", "soon"),
    "a step's duration": spoilt("steps", "time_duration", 0),
    "a title of 600": spoilt("goals", "title", "x" * 600),
    "a blank title": spoilt("goals", "title", " "),
    "a category": spoilt("goals", "category", "money"),
    "a reward": spoilt("habits", "xp_reward", BIG),
    "xp": spoilt("xp_ledger", "xp", BIG),
    "a user of none": spoilt("goals", "user", ""),
    "a half surrogate": spoilt("goals", "title", "\ud800"),
    "an odd status": spoilt("goals", "status", "lost"),
    "a list for a title": spoilt("goals", "title", []),
}


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT)
def test_an_export_that_cannot_be_served_is_refused(spoil, tmp_path: Path):
    habit = do(act("habit.create", name="Бег", frequency_type="custom", schedule_days=[1, 3]))[0]
    do(
        act("goal.create", title="Цель"),
        act("step.create", goal_id=None, title="Шаг", dt="2026-04-01", time_duration=30),
        act("diary.create_entry", plans="план"),
        act("habit.mark_completed", habit_id=habit),
    )
    transfer.export(str(tmp_path / "export.json"))
    before = (tmp_path / "export.json").read_text(encoding="utf-8")
    export = json.loads(before)
    spoil(export)
    (tmp_path / "bad.json").write_text(json.dumps(export), encoding="utf-8")
    with pytest.raises(ToolError) as refused:
        transfer.import_(str(tmp_path / "bad.json"))
    assert refused.value.code == "DATABASE_ERROR" and refused.value.hint
    transfer.export(str(tmp_path / "export.json"))
    assert (tmp_path / "export.json").read_text(encoding="utf-8") == before
    assert len(items("goals")) == 1


HISTORY = {
    "an audit id at the end": spoilt("audit", "id", BIG),
    "an audit row of nobody": spoilt("audit", "user", ""),
    "an applied id at the end": spoilt("applied", "id", BIG),
    "a plan that is not JSON": spoilt("previews", "plan", "zzz"),
    "a plan of nothing": spoilt("previews", "plan", "{}"),
    "a plan of an unknown action": spoilt(
        "previews", "plan", '{"today": "2026-03-18", "actions": [["goal.explode", "x", {}]], "entries": [[]]}'
    ),
    "a plan of no day": spoilt("previews", "plan", '{"today": "soon", "actions": [], "entries": []}'),
}


@pytest.mark.parametrize("spoil", HISTORY.values(), ids=HISTORY)
def test_a_history_after_which_nothing_could_be_written_or_applied_is_refused(spoil, tmp_path: Path):
    do(act("goal.create", title="Цель"))
    preview(act("goal.create", title="Ждёт"))
    transfer.export(str(tmp_path / "export.json"))
    export = json.loads((tmp_path / "export.json").read_text(encoding="utf-8"))
    export["history"]["previews"]["rows"].sort(key=lambda row: row[2] == "pending")  # spoilt is the last one
    spoil(export)
    (tmp_path / "bad.json").write_text(json.dumps(export), encoding="utf-8")
    with pytest.raises(ToolError, match="does not fit"):
        transfer.import_(str(tmp_path / "bad.json"))


JOURNALS = [
    "{}", "[]", "null", "not JSON", "", BIG, None, '{"changes": [], "lines": null}', '{"changes": {}, "lines": []}',
    '{"changes": [[1]], "lines": []}', '{"changes": [["audit", [1], null, {}]], "lines": []}',
    '{"changes": [["goals", 1, null, {}]], "lines": []}', '{"changes": [["goals", [1], [], {}]], "lines": []}',
    '{"changes": [["goals", [1], null, "x"]], "lines": []}', '{"changes": [["goals", [[]], null, {}]], "lines": []}',
    '{"changes": [], "lines": [5]}',
]  # fmt: skip


@pytest.mark.parametrize("journal", JOURNALS)
def test_a_change_that_could_not_be_taken_back_is_refused(journal, tmp_path: Path):
    do(act("goal.create", title="Цель"))
    transfer.export(str(tmp_path / "export.json"))
    export = json.loads((tmp_path / "export.json").read_text(encoding="utf-8"))
    spoilt("applied", "journal", journal)(export)
    (tmp_path / "bad.json").write_text(json.dumps(export), encoding="utf-8")
    with pytest.raises(ToolError, match=r"journal|NOT NULL"):
        transfer.import_(str(tmp_path / "bad.json"))
    assert apply(call("undo_last"))["success"]
