"""The import from Loop Habit Tracker, from exports that a writer of its format makes."""

import csv
import os
import random
import re
import sqlite3
import zipfile
from contextlib import closing
from datetime import date, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from tests.onepercent.person import Clock, act, apply, call, do, items, snapshot, use
from tools.core.registry import COMMANDS, TextOutput
from tools.onepercent.database import migrations, store
from tools.onepercent.transfer import loop_export

EXPORTS = int(os.environ.get("LOOP_EXPORTS", "15"))
HABITS = ("Position,Name,Type,Question,Description,FrequencyNumerator,FrequencyDenominator,Color,Unit,Target Type,"
          "Target Value,Archived?").split(",")  # fmt: skip
TODAY = date(2026, 3, 18)  # the clock's
# The value and the note of each day.
Days = dict[str, tuple[str, str]]


def habit(
    name: str, days: Days | None = None, times: int = 1, every: int = 1, **more: str
) -> dict[str, Any]:
    """A habit of Loop: `unit`, `at_least` and `at_most` make it one of amounts."""
    kind = {"at_least": "AT_LEAST", "at_most": "AT_MOST"}
    target = next((name for name in kind if name in more), "")
    columns = [
        more.get("question", ""),
        more.get("description", ""),
        times,
        every,
        "#FF8F00",
        more.get("unit", ""),
    ]
    columns += [kind.get(target, ""), more.get(target, ""), more.get("archived", "false")]
    return {"row": [name, "NUMERICAL" if target else "YES_NO", *columns], "days": days or {}}


def days(**values: str) -> Days:
    """`d16="YES_MANUAL"` is the 16th of March."""
    return {f"2026-03-{name[1:]}": (value, "") for name, value in values.items()}


def table(rows: list[list[Any]]) -> str:
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def contents(*habits: dict[str, Any]) -> dict[str, str]:
    """The files of an export: the tables of all habits lack the quotes that names may need."""
    rows = [[f"{at:03d}", *each["row"]] for at, each in enumerate(habits, 1)]
    files = {"Habits.csv": table([HABITS, *rows])}
    for position, name, *_ in rows:
        plain = "".join(
            sign for sign in name if sign.isascii() and (sign.isalnum() or sign in " ._-")
        )
        folder, past = f"{position} {plain}"[:104].strip(), habits[int(position) - 1]["days"]
        newest_first = [[day, *past[day]] for day in sorted(past, reverse=True)]
        files[f"{folder}/Scores.csv"] = "Date,Score\n2026-03-18,0.5000\n"
        files[f"{folder}/Checkmarks.csv"] = table([["Date", "Value", "Notes"], *newest_first])
    files["Checkmarks.csv"] = files["Scores.csv"] = (
        "Date," + ",".join(row[1] for row in rows) + ",\n"
    )
    return files


@pytest.fixture
def export(tmp_path: Path):
    """Write an export of these habits, or of files; its path."""

    def write(*habits: dict[str, Any], files: dict[str, str] | None = None) -> str:
        path = tmp_path / "Loop Habits CSV 2026-03-18.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in (files or contents(*habits)).items():
                archive.writestr(name, text)
        return str(path)

    return write


def run(*words: str) -> TextOutput:
    answer = COMMANDS["onepercent", "import"](*words)
    assert isinstance(answer, TextOutput)
    return answer


def added(file: str) -> str:
    """What the import said once it was done."""
    text, status = run(file, "--yes")
    assert status == 0, text
    return text


def state() -> dict[str, list[tuple]]:
    """Every row of what a person has."""
    with store.reading() as db:
        return {
            table: list(map(tuple, db.execute(f"SELECT * FROM {table}")))
            for table in migrations.STATE_TABLES
        }


def marks(name: str) -> dict[str, tuple[str, float | None]]:
    """The marks of the habit of this name that is in sight: `excused` is a status of its own."""
    statement = """SELECT m.date, iif(m.excuse_reason IS NULL, m.status, 'excused'), m.amount, m.xp FROM habit_marks m
        JOIN habits h ON h.id = m.habit_id WHERE h.name = ? AND h.deleted_at IS NULL"""
    with store.reading() as db:
        rows = db.execute(statement, (name,)).fetchall()
    assert not any(row["xp"] for row in rows)
    return {day: (status, amount) for day, status, amount, _ in rows}


def undone(**arguments: Any) -> dict[str, Any]:
    previewed = call("undo_last", **arguments)
    assert apply(previewed)["success"]
    return previewed


def streak(name: str) -> int:
    return next(each["current_streak"] for each in items("habits") if each["name"] == name)


RUN = habit(
    "Run", {"2026-03-16": ("YES_MANUAL", "5 km, “wet”"), "2026-03-17": ("SKIP", "ill")}, 3, 7
)


def test_without_yes_it_only_says_what_would_come(export):
    text, status = run(export(RUN, habit("Читать")))
    assert (
        status == 0
        and "«Run»: новая; 3 раза в неделю" in text
        and "«Run», 16.03–17.03: 2 отметки" in text
    )
    assert "«Читать»: новая; каждый день" in text and "XP не изменятся" in text and "--yes" in text
    assert not any(state().values())


def test_each_mark_comes_on_its_day_and_moves_no_xp(export):
    values = days(d12="UNKNOWN", d13="NO", d14="YES_MANUAL", d15="YES_AUTO", d16="SKIP")
    water = days(d13="NO", d14="1500", d15="2000000", d16="2000001", d17="SKIP", d18="YES_MANUAL")
    assert "9 отметок" in added(
        export(habit("Run", values), habit("Water", water, at_least="2000.0", unit="ml"))
    )
    expected = {"13": "missed", "14": "completed", "16": "excused"}
    assert marks("Run") == {f"2026-03-{day}": (status, None) for day, status in expected.items()}
    assert marks("Water") == {
        "2026-03-13": ("missed", 0),
        "2026-03-14": ("partial", 1.5),
        "2026-03-15": ("completed", 2000),
        "2026-03-16": ("completed", 2000.001),
        "2026-03-17": ("excused", None),
        "2026-03-18": ("partial", 0.002),
    }
    assert snapshot("xp")["xp"]["lifetime"] == 0 and not state()["xp_ledger"]
    [water] = [each for each in items("habits") if each["name"] == "Water"]
    assert water["target"] == {"amount": 2000, "unit": "ml"}


def test_below_an_upper_limit_a_day_is_kept_and_above_it_missed(export):
    past = days(d15="NO", d16="2000", d17="2001", d18="SKIP")
    text, _ = run(export(habit("Beer", past, at_most="2.0")))
    assert "«Beer»: новая; каждый день; не больше 2 ×" in text
    added(export(habit("Beer", past, at_most="2.0")))
    assert [status for status, _ in marks("Beer").values()] == [
        "completed",
        "completed",
        "missed",
        "excused",
    ]
    assert items("habits")[0]["target"] == {"at_most": 2, "unit": "×"}


@pytest.mark.parametrize(
    ("times", "every", "said", "is_nearest"),
    [
        (1, 1, "каждый день", False),
        (7, 7, "каждый день", False),
        (1, 7, "1 раз в неделю", False),
        (6, 7, "6 раз в неделю", False),
        (1, 2, "раз в 2 дня", False),
        (1, 31, "раз в 31 день", False),
        (1, 30, "раз в 31 день", True),
        (10, 30, "2 раза в неделю", True),
        (3, 30, "раз в 10 дней", True),
        (2, 3, "5 раз в неделю", True),
        (4, 14, "2 раза в неделю", True),
    ],
)
def test_a_schedule_is_the_same_or_the_nearest_one_which_is_said(
    times, every, said, is_nearest, export
):
    text, _ = run(export(habit("Run", None, times, every)))
    assert f"«Run»: новая; {said};" in text
    assert (f"в Loop {times}× за {every} дн." in text) == is_nearest


def test_every_n_days_is_counted_from_the_last_time_as_loop_does(export):
    done = ("03", "05", "08", "11", "12", "15", "18")
    added(export(habit("Floss", {f"2026-03-{day}": ("YES_MANUAL", "") for day in done}, 1, 3)))
    assert streak("Floss") == 7
    [floss] = snapshot("history", date_from="2026-03-03", date_to="2026-03-18")["history"]["habits"]
    assert floss["marks"].count("+") == 7 and "?" not in floss["marks"]


def test_a_turn_of_every_n_days_without_a_time_ends_the_streak(export):
    done = ("03", "06", "12", "13", "16")
    added(export(habit("Floss", {f"2026-03-{day}": ("YES_MANUAL", "") for day in done}, 1, 3)))
    assert streak("Floss") == 3


def test_notes_become_diary_entries_of_their_days(export):
    added(export(RUN, habit("Read", {"2026-03-16": ("UNKNOWN", "no time")})))
    texts = {(day, text) for _, _, day, _, _, text, *_ in state()["diary"]}
    assert texts == {
        ("2026-03-16", "Run: 5 km, “wet”"),
        ("2026-03-16", "Read: no time"),
        ("2026-03-17", "Run: ill"),
    }


def test_an_archived_habit_stays_archived_and_owes_nothing_since(export):
    added(export(habit("Old", days(d01="YES_MANUAL", d02="YES_MANUAL"), archived="true")))
    assert [each["name"] for each in snapshot("habits")["habits"]["archived"]] == ["Old"]
    [old] = snapshot("history", date_from="2026-03-01", date_to="2026-03-18")["history"]["habits"]
    assert old["marks"].startswith("++") and "?" not in old["marks"]
    added(
        export(
            habit("Old", days(d01="YES_MANUAL", d02="YES_MANUAL")), habit("Never", archived="true")
        )
    )


def test_what_was_tried_is_applied_however_long_it_takes(export, clock: Clock, monkeypatch):
    def ticking() -> datetime:
        clock.moment += timedelta(seconds=1)
        return clock()

    monkeypatch.setattr("tools.onepercent.base.days.now", ticking)
    added(
        export(
            RUN,
            habit("Old", days(d01="NO"), archived="true"),
            habit("Floss", None, 1, 3, archived="true"),
        )
    )
    assert [each["name"] for each in snapshot("habits")["habits"]["archived"]] == ["Old", "Floss"]


def test_one_undo_takes_all_of_it_back_and_a_redo_brings_it_again(export):
    do(act("habit.create", name="Read"))
    before = state()
    added(export(RUN, habit("Read", days(d17="YES_MANUAL"))))
    after = state()
    assert "«Run»" in call("undo_last", list=True)["changes"][0]["change"]
    assert undone()["diff"]["deletes"]
    assert (
        [each["name"] for each in items("habits")] == ["Read"]
        and not marks("Run")
        and not marks("Read")
    )
    assert state()["diary"] == before["diary"]
    undone(redo=True)
    assert state() == after and len(marks("Run")) == 2


def test_the_same_export_adds_nothing_twice_and_a_newer_one_only_its_days(export):
    added(export(RUN))
    before = state()
    assert added(export(RUN)) == "Нового нет, ничего не изменено"
    assert state() == before
    newer = habit("Run", {**RUN["days"], "2026-03-18": ("YES_MANUAL", "late")}, 3, 7)
    assert added(export(newer)) == "✓ «Run», 18.03: 1 отметка\n✓ Дневник за 18.03: 1 заметка"
    assert len(marks("Run")) == 3 and len(state()["diary"]) == 3
    undone()
    assert len(marks("Run")) == 2 and len(items("habits")) == 1


def test_notes_alone_are_said_and_one_that_was_deleted_here_stays_away(export):
    added(export(habit("Run", days(d16="YES_MANUAL", d17="NO"))))
    noted = {"2026-03-16": ("YES_MANUAL", "wet"), "2026-03-17": ("NO", "ill")}
    assert "• Дневник за 16.03–17.03: 2 заметки" in run(export(habit("Run", noted)))[0]
    assert added(export(habit("Run", noted))) == "✓ Дневник за 16.03–17.03: 2 заметки"
    [ill, _] = items("diary", date_from="2026-03-16", date_to="2026-03-17")
    do(act("diary.delete_entry", diary_id=ill["id"]))
    assert added(export(habit("Run", noted))) == "Нового нет, ничего не изменено"


def test_after_an_undo_it_can_come_again(export):
    added(export(RUN))
    undone()
    added(export(RUN))
    assert len(marks("Run")) == 2 and len(items("habits")) == 1


def test_habits_of_one_name_stay_apart(export):
    twins = [habit("Vegan", days(d16="YES_MANUAL")), habit("Vegan", days(d17="NO"))]
    added(export(*twins))
    assert len(items("habits")) == 2
    assert added(export(*twins)) == "Нового нет, ничего не изменено"


def test_a_mark_that_is_here_stays_as_it_is(export):
    [key] = do(act("habit.create", name="Run"))
    do(act("habit.mark_missed", habit_id=key, date="2026-03-16", excuse_reason="rain"))
    added(export(RUN))
    assert marks("Run")["2026-03-16"] == ("excused", None)


def test_another_unit_than_that_of_the_habit_here_is_said(export):
    do(act("habit.create", name="Water", target={"amount": 2, "unit": "l"}))
    text, _ = run(export(habit("Water", days(d16="500000"), at_least="1000", unit="ml")))
    assert "! «Water»: в Loop единица «ml», здесь «l»; числа взяты как есть" in text
    text, _ = run(export(habit("Water", days(d16="2000"), at_least="2", unit="l")))
    assert "единица" not in text


def test_nobody_waits_while_the_zip_is_read(export, file: Path, monkeypatch: pytest.MonkeyPatch):
    added(export(habit("Walk")))
    reads = []

    class Watched(zipfile.ZipFile):
        def read(self, name, *words):
            with closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")  # fails if the import holds the lock
            reads.append(name)
            return super().read(name, *words)

    monkeypatch.setattr(loop_export, "ZipFile", Watched)
    added(export(RUN))
    assert "Habits.csv" in reads and marks("Run")


def test_a_table_that_unpacks_without_end_is_refused(export):
    text, status = run(export(files={"Habits.csv": "\n" * (loop_export.LARGEST_TABLE_BYTES + 1)}))
    assert status == 1 and "too large" in text


# Habits.csv as Loop wrote it before 2.3.1.
OLD_HABITS = """Position,Name,Question,Description,NumRepetitions,Interval,Color
001,Walk,"Did you, today?",,1,1,#00897B
002,Wake up,,,1,1,#7CB342
"""


def test_an_export_of_before_2_3_1_has_numbers_for_words_and_no_head(export):
    files = {
        "Habits.csv": OLD_HABITS,
        "001 Walk/Checkmarks.csv": "2023-04-04,2\n2023-04-03,3\n2023-04-02,0\n2023-04-01,-1\n",
        "002 Wake up/Checkmarks.csv": "2023-04-04,7350\n2023-04-03,0\n",
    }
    added(export(files=files))
    assert marks("Walk") == {
        "2023-04-04": ("completed", None),
        "2023-04-03": ("excused", None),
        "2023-04-02": ("missed", None),
    }
    assert marks("Wake up") == {"2023-04-04": ("completed", 7.35), "2023-04-03": ("missed", 0)}
    assert "Нового нет" in added(export(files=files))


@pytest.mark.parametrize("form", ["{value}", "Entry(timestamp={day}, value={value})"])
def test_an_export_without_folders_is_read_from_its_table_of_all_habits(form: str, export):
    days_of_all = {"2025-04-18": ("2", "3"), "2025-04-17": ("0", "90000")}
    rows = ["Date,Walk,Wake up,"]
    for day, values in days_of_all.items():
        rows.append(
            ",".join(
                [
                    day,
                    *(form.format(day=day, value=value).replace(", ", " ") for value in values),
                    "",
                ]
            )
        )
    added(export(files={"Habits.csv": OLD_HABITS, "Checkmarks.csv": "\n".join(rows) + "\n"}))
    assert marks("Walk") == {"2025-04-18": ("completed", None), "2025-04-17": ("missed", None)}
    assert marks("Wake up") == {"2025-04-18": ("excused", None), "2025-04-17": ("completed", 90.0)}


def test_a_table_whose_columns_are_not_the_habits_is_not_guessed_at(export):
    text = added(
        export(
            files={
                "Habits.csv": OLD_HABITS,
                "Checkmarks.csv": "Date,Wake up,Walk,\n2025-04-18,2,0,\n",
            }
        )
    )
    assert "Нового нет" in text
    assert "«Walk»: не переносится" in text and "«Wake up»: не переносится" in text


def test_an_export_of_one_habit_names_the_others_as_left_out(export):
    files = contents(RUN, habit("Read"))
    del files["002 Read/Checkmarks.csv"]
    files["Checkmarks.csv"] = "Date,Run,\n"
    text, _ = run(export(files=files))
    assert (
        "«Read»: не переносится, потому что её дней нет в файле" in text
        and "привычка «Read»" not in text.lower()
    )


def test_it_is_the_import_of_the_present_user(export, file):
    added(export(RUN))
    use(file, ONEPERCENT_USER="anna")
    assert "новая" in run(export(RUN))[0]


HEAD = ",".join(HABITS)
ROW = "001,Run,YES_NO,,,1,1,#FF8F00,,,,false"
NUMBERS = "001,Run,NUMERICAL,,,1,1,#FF8F00,km,AT_LEAST,{},false"
DAY = "Date,Value,Notes\n"
BAD = {
    "no files": {"readme": "?"},
    "no table of habits": {"001 Run/Checkmarks.csv": DAY},
    "an older version": {"Habits.csv": "Position,Name,Question,Description,NumRepetitions,Interval,Color\n001,Run,,,1,1,#1\n",
                         "001 Run/Checkmarks.csv": "2026-03-16,2\n"},
    "other columns": {"Habits.csv": f"{HEAD}\n{ROW}\n", "001 Run/Checkmarks.csv": "Day,Mark\n2026-03-16,YES_MANUAL\n"},
    "an unknown value": {"Habits.csv": f"{HEAD}\n{ROW}\n", "001 Run/Checkmarks.csv": f"{DAY}2026-03-16,MAYBE,\n"},
    "an amount of a habit without": {"Habits.csv": f"{HEAD}\n{ROW}\n", "001 Run/Checkmarks.csv": f"{DAY}2026-03-16,1500,\n"},
    "a value of letters": {"Habits.csv": f"{HEAD}\n{NUMBERS.format(5)}\n", "001 Run/Checkmarks.csv": f"{DAY}2026-03-16,1x,\n"},
    "an endless amount": {"Habits.csv": f"{HEAD}\n{NUMBERS.format(5)}\n", "001 Run/Checkmarks.csv": f"{DAY}2026-03-16,{'9' * 999},\n"},
    "no day": {"Habits.csv": f"{HEAD}\n{ROW}\n", "001 Run/Checkmarks.csv": f"{DAY}yesterday,NO,\n"},
    "a day of no month": {"Habits.csv": f"{HEAD}\n{ROW}\n", "001 Run/Checkmarks.csv": f"{DAY}2026-02-30,NO,\n"},
    "a day twice": {"Habits.csv": f"{HEAD}\n{ROW}\n", "001 Run/Checkmarks.csv": f"{DAY}2026-03-16,NO,\n2026-03-16,SKIP,\n"},
    "no frequency": {"Habits.csv": f"{HEAD}\n{ROW.replace('1,1', 'x,1')}\n", "001 Run/Checkmarks.csv": DAY},
    "never": {"Habits.csv": f"{HEAD}\n{ROW.replace('1,1', '0,7')}\n", "001 Run/Checkmarks.csv": DAY},
    "in no days": {"Habits.csv": f"{HEAD}\n{ROW.replace('1,1', '0,0')}\n", "001 Run/Checkmarks.csv": DAY},
    "an infinite target": {"Habits.csv": f"{HEAD}\n{NUMBERS.format('Infinity')}\n", "001 Run/Checkmarks.csv": DAY},
    "no number as target": {"Habits.csv": f"{HEAD}\n{NUMBERS.format('NaN')}\n", "001 Run/Checkmarks.csv": DAY},
    "a row cut off": {"Habits.csv": f"{HEAD}\n001,Run,YES_NO\n", "001 Run/Checkmarks.csv": DAY},
    "a field without end": {"Habits.csv": f'{HEAD}\n{ROW}\n', "001 Run/Checkmarks.csv": f'{DAY}2026-03-16,NO,"{"x" * 200_000}\n'},
}  # fmt: skip


@pytest.mark.parametrize("files", BAD.values(), ids=BAD)
def test_a_bad_export_is_refused_in_a_sentence_and_nothing_of_it_comes(files, export):
    added(export(habit("Before", days(d16="NO"))))
    before = state()
    good = contents(habit("Good", days(d17="NO")))
    # A good habit first, then the bad one.
    if "Habits.csv" in files and "Position" in files["Habits.csv"]:
        files = {**files, "000/Checkmarks.csv": good["001 Good/Checkmarks.csv"]}
        files["Habits.csv"] = files["Habits.csv"].replace(
            "\n", f"\n000{good['Habits.csv'].splitlines()[1][3:]}\n", 1
        )
    for words in ([], ["--yes"]):
        text, status = run(export(files=files), *words)
        assert status == 1 and text.count("\n") == 0 and 20 < len(text) < 700, text
        assert state() == before


@pytest.mark.parametrize("cut", [0, 10, 200, 400])
def test_a_file_that_is_cut_or_spoilt_is_refused(cut: int, export):
    path = Path(export(RUN))
    whole = path.read_bytes()
    for content in (whole[:cut], whole[:cut] + b"\xff" * 8 + whole[cut + 8 :]):
        path.write_bytes(content)
        text, status = run(str(path), "--yes")
        assert (status == 1 and "Loop" in text) or "Run" in text
    assert run(str(path.with_name("none.zip")))[1] == 1
    assert not marks("Read")


def test_an_export_packed_in_another_way_and_spoilt_is_refused(export):
    path = Path(export(RUN))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("Habits.csv", contents(RUN)["Habits.csv"] * 50)
    whole = bytearray(path.read_bytes())
    whole[60:90] = b"\xff" * 30
    path.write_bytes(whole)
    text, status = run(str(path))
    assert status == 1 and "Loop" in text


def test_an_encrypted_export_is_refused(export):
    path = Path(export(RUN))
    whole = bytearray(path.read_bytes())
    for header, flags in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        for place in [match.start() for match in re.finditer(header, whole)]:
            whole[place + flags] |= 1
    path.write_bytes(whole)
    text, status = run(str(path))
    assert status == 1 and "encrypted" in text and "Nothing was changed" in text


def test_a_full_disk_is_said_as_one(export):
    do(act("goal.create", title="Before"))
    with store.writing() as db:
        pages = db.execute("PRAGMA page_count").fetchone()[0]
        db.execute(f"PRAGMA max_page_count = {pages}")
    past = {f"{date(2020, 1, 1) + timedelta(at)}": ("NO", "x" * 900) for at in range(999)}
    text, status = run(export(habit("Read", past)), "--yes")
    assert status == 1 and "disk is full" in text and "not an export" not in text


def test_names_of_paths_lead_nowhere_and_names_of_habits_are_one_line(export, tmp_path):
    files = contents(habit("Run\x1b[2J\nNo", days(d16="NO")))
    files["../../evil/Checkmarks.csv"] = files["/etc/001/Checkmarks.csv"] = "x"
    added(export(files=files))
    assert [each["name"] for each in items("habits")] == ["Run [2J No"]
    assert not (tmp_path.parent / "evil").exists()


VALUES = ("YES_MANUAL", "YES_MANUAL", "YES_MANUAL", "NO", "SKIP", "YES_AUTO", "UNKNOWN")
NAMES = ("Run", "Бег", "a, \"b\"; 'c'", "x" * 200, "Run", "日本", " spaced  out ")
NOTES = ("", "", "", "", "ill", 'said "no", twice', "two\nlines", "заметка")
FREQUENCIES = ((1, 1), (1, 7), (3, 7), (1, 2), (1, 9), (1, 30), (8, 30), (2, 3))


def random_habit(dice: random.Random) -> tuple[dict[str, Any], dict[str, tuple[str, float | None]]]:
    """A habit of Loop, and the marks that are to come of it."""
    length, kind = dice.choice((0, 3, 40, 400)), dice.choice(("", "", "at_least", "at_most"))
    more = (
        {kind: f"{dice.choice((0.0, 1.0, 12.5, 2000.0))}", "unit": dice.choice(("", "km"))}
        if kind
        else {}
    )
    past: Days = {}
    expected: dict[str, tuple[str, float | None]] = {}
    for ago in range(length):
        if dice.random() < 0.4:
            continue
        day, value = str(TODAY - timedelta(ago)), dice.choice(VALUES)
        amount = None
        if kind and value in ("YES_MANUAL", "YES_AUTO"):
            amount = dice.choice((1, 2, 500, 1000, 12500, 2_000_000))
            value = {1: "YES_AUTO", 2: "YES_MANUAL"}.get(amount, str(amount))
        elif kind and value == "NO":
            amount = 0
        past[day] = (value, dice.choice(NOTES))
        if amount is not None:
            target = float(more[kind])
            is_kept = amount / 1000 <= target if kind == "at_most" else amount / 1000 >= target
            status = "partial" if kind == "at_least" and amount else "missed"
            expected[day] = ("completed" if is_kept else status, amount / 1000)
        elif value in ("YES_MANUAL", "NO", "SKIP"):
            names = {"YES_MANUAL": "completed", "NO": "missed", "SKIP": "excused"}
            expected[day] = (names[value], None)
    times, every = dice.choice(FREQUENCIES)
    archived = dice.choice(("false", "false", "true"))
    return habit(dice.choice(NAMES), past, times, every, archived=archived, **more), expected


def stored() -> list[tuple[str, dict[str, tuple[str, float | None]]]]:
    """The habits in sight in their order, each with its marks."""
    with store.reading() as db:
        rows = db.execute(
            """SELECT h.id, h.name, m.date, iif(m.excuse_reason IS NULL, m.status, 'excused'), m.amount FROM habits h
            LEFT JOIN habit_marks m ON m.habit_id = h.id WHERE h.deleted_at IS NULL ORDER BY h.id, m.date"""
        ).fetchall()
    found: dict[int, tuple[str, dict]] = {}
    for key, name, day, status, amount in rows:
        found.setdefault(key, (name, {}))
        if day:
            found[key][1][day] = (status, amount)
    return list(found.values())


@pytest.mark.parametrize("seed", range(EXPORTS))
def test_of_a_random_export_nothing_is_lost_and_nothing_comes_twice(
    seed: int, export, clock: Clock
):
    dice = random.Random(seed)
    habits = [random_habit(dice) for _ in range(dice.randrange(1, 6))]
    some_days_ago = str(TODAY - timedelta(dice.choice((0, 2, 30, 90))))
    older = [
        {
            **each,
            "days": {day: value for day, value in each["days"].items() if day <= some_days_ago},
        }
        for each, _ in habits
    ]
    run(export(*older), "--yes")
    added(export(*[each for each, _ in habits]))
    expected = [(" ".join(each["row"][0].split()), past) for each, past in habits]
    assert sorted(stored(), key=repr) == sorted(
        [(name, dict(sorted(past.items()))) for name, past in expected], key=repr
    )
    notes = [(day, f"{name}: {note}") for (each, _), (name, _) in zip(habits, expected, strict=True)
             for day, (_, note) in each["days"].items() if note]  # fmt: skip
    with store.reading() as db:
        diary = list(map(tuple, db.execute("SELECT date, reflection FROM diary")))
    assert sorted(diary) == sorted(set(notes))
    assert added(export(*[each for each, _ in habits])) == "Нового нет, ничего не изменено"
    count = len(call("undo_last", list=True)["changes"])
    for _ in range(count):
        undone()
    assert stored() == [] and not state()["diary"] and not state()["xp_ledger"]
