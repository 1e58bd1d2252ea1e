"""What other programs read: tables for a spreadsheet, a calendar."""

import csv
import re
from pathlib import Path

import pytest

from tests.onepercent.person import (
    act,
    do,
    mark,
    new_entry,
    new_goal,
    new_habit,
    new_step,
    ref,
    run,
)
from tools.core.errors import ToolError

HOSTILE = 'Größe, "Maß"; \\ und\nпробел'


@pytest.fixture
def life():
    """A goal with two steps, a habit with marks, an entry of the diary, all with letters that need quoting."""
    goal = new_goal("Umzug; Köln, 2026", due="2026-04-01")
    steps = [
        new_step(HOSTILE.replace("\n", " "), ref(goal), dt="2026-03-20"),
        new_step("Без дня", ref(goal), description=HOSTILE),
    ]
    habit = new_habit("Вода", target="2 л")
    marked = mark(ref(habit), amount=2.5)
    entry = new_entry(what_done=HOSTILE)
    do(goal, *steps, habit, marked, entry)


def table(folder, name):
    with (folder / f"{name}.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_tables_hold_every_mark_step_and_entry_as_they_are_and_none_of_what_was_deleted(
    life, tmp_path
):
    written = run("export", tmp_path, "--csv")["files"]
    assert [Path(file).name for file in written] == ["marks.csv", "steps.csv", "diary.csv"]
    # So a spreadsheet knows them for UTF-8.
    assert all(Path(file).read_bytes().startswith(b"\xef\xbb\xbf") for file in written)
    [mark] = table(tmp_path, "marks")
    columns = {"date": "2026-03-18", "habit": "Вода", "amount": "2.5", "unit": "л"}
    assert columns.items() <= mark.items()
    dated, undated = table(tmp_path, "steps")
    assert (dated["goal"], dated["date"]) == ("Umzug; Köln, 2026", "2026-03-20")
    assert undated["description"] == HOSTILE
    [entry] = table(tmp_path, "diary")
    assert entry["what_done"] == HOSTILE
    do(act("habit.delete", 1))
    run("export", tmp_path, "--csv")
    assert table(tmp_path, "marks") == []


def test_a_spreadsheet_computes_nothing_of_a_table(tmp_path):
    formulas = ["=1+1", "@SUM(A1)", "+cmd|' /C calc'", "-SUM(A1)", "-Sheet!A1"]
    plain = ["+7 позвонить", "- хлеб", "-1 кг", "a=b"]
    do(new_goal("x"), act("step.create", goal_id=None, steps=[*formulas, *plain]))
    run("export", tmp_path, "--csv")
    steps = [row["step"] for row in table(tmp_path, "steps")]
    assert steps == [f"'{formula}" for formula in formulas] + plain


def test_tables_make_their_folder_and_one_that_cannot_be_made_is_an_error(life, tmp_path):
    assert len(run("export", tmp_path / "tables", "--csv")["files"]) == 3
    with pytest.raises(ToolError, match="cannot be written"):
        run("export", tmp_path / "absent" / "tables", "--csv")


def test_a_calendar_has_a_day_for_each_dated_step_and_due_goal(life, tmp_path, clock):
    file = tmp_path / "days.ics"
    do(new_goal("длинный " * 30, due="2026-05-01"))
    clock.set("2026-03-19T12:00:00+00:00")
    run("export", file)
    text = file.read_bytes().decode()
    # A step without a day is in no calendar.
    assert text.count("BEGIN:VEVENT") == text.count("END:VEVENT") == 3
    assert all(len(line.encode()) <= 75 for line in text.split("\r\n"))
    # Unfolded as RFC 5545 says.
    content = re.sub("\r\n ", "", text).split("\r\n")
    assert content[0] == "BEGIN:VCALENDAR" and content[-2:] == ["END:VCALENDAR", ""]
    assert "DTSTART;VALUE=DATE:20260320" in content and "DTEND;VALUE=DATE:20260321" in content
    assert "SUMMARY:Umzug\\; Köln\\, 2026" in content
    assert 'SUMMARY:Größe\\, "Maß"\\; \\\\ und пробел' in content
    assert "UID:step-1@pi-mcp" in content and "UID:goal-1@pi-mcp" in content
    # The day of the last change: the same life gives the same calendar.
    assert "DTSTAMP:20260318T120000Z" in content
