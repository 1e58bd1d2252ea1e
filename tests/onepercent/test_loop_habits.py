"""The import from Loop Habit Tracker, from exports that a writer of its format makes."""

import csv
import os
import random
import re
import sqlite3
import zipfile
from contextlib import closing
from datetime import date, timedelta
from functools import partial
from io import StringIO
from pathlib import Path

import pytest

from tests.onepercent.person import (
    act,
    call,
    do,
    first_habit,
    items,
    miss,
    new_goal,
    new_habit,
    past,
    rows,
    run,
    snapshot,
    state,
    undo,
    use,
)
from tests.support.client import json_lines
from tools.onepercent.database import store
from tools.onepercent.transfer import loop_export

EXPORTS = int(os.environ.get("LOOP_EXPORTS", "15"))
HEAD = (
    "Position,Name,Type,Question,Description,FrequencyNumerator,FrequencyDenominator,Color,"
    "Unit,Target Type,Target Value,Archived?"
)
NOTHING_NEW = "Нового нет, ничего не изменено"
TODAY = date(2026, 3, 18)  # the clock's


def habit(name, days=None, times=1, every=1, **more):
    """A habit of Loop, with the value and the note of each of its days: `unit`, `at_least` and `at_most` make it one of amounts."""
    kind = {"at_least": "AT_LEAST", "at_most": "AT_MOST"}
    target = next((name for name in kind if name in more), "")
    row = [name, "NUMERICAL" if target else "YES_NO", "", "", times, every, "#FF8F00"]
    row += [more.get("unit", ""), kind.get(target, ""), more.get(target, "")]
    return {"row": [*row, more.get("archived", "false")], "days": days or {}}


def days(**values):
    """`d16="YES_MANUAL"` is the 16th of March."""
    return {f"2026-03-{name[1:]}": (value, "") for name, value in values.items()}


def table(rows):
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def contents(*habits):
    """The files of an export: the tables of all habits lack the quotes that names may need."""
    rows = []
    files = {}
    for place, exported in enumerate(habits, 1):
        position = f"{place:03d}"
        rows.append([position, *exported["row"]])
        plain = re.sub("[^A-Za-z0-9 ._-]", "", exported["row"][0])
        folder = f"{position} {plain}"[:104].strip()
        past = sorted(exported["days"].items(), reverse=True)
        newest_first = [[day, *mark] for day, mark in past]
        files[f"{folder}/Scores.csv"] = "Date,Score\n2026-03-18,0.5000\n"
        files[f"{folder}/Checkmarks.csv"] = table([["Date", "Value", "Notes"], *newest_first])
    names = ",".join(row[1] for row in rows)
    files["Checkmarks.csv"] = files["Scores.csv"] = f"Date,{names},\n"
    return {"Habits.csv": table([HEAD.split(","), *rows]), **files}


@pytest.fixture
def export(tmp_path):
    """Write an export of these habits, or of files; its path."""

    def write(*habits, files=None):
        path = tmp_path / "Loop Habits CSV 2026-03-18.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in (files or contents(*habits)).items():
                archive.writestr(name, text)
        return str(path)

    return write


imported = partial(run, "import")


def added(file):
    """What the import said once it was done."""
    text, status = imported(file, "--yes")
    assert status == 0, text
    return text


def marks_of(key):
    """The marks of a habit as status and amount of each day, the newest first: `excused` is a status of its own, and none has brought XP."""
    marks = rows(
        """SELECT date, iif(excuse_reason IS NULL, status, 'excused'), amount FROM habit_marks
        WHERE habit_id = ? AND xp = 0 ORDER BY date DESC""",
        key,
    )
    return {day: (status, amount) for day, status, amount in marks}


def stored():
    """The habits in sight, each with its marks."""
    habits = rows("SELECT id, name FROM habits WHERE deleted_at IS NULL")
    return [(name, marks_of(key)) for key, name in habits]


def marks(name):
    """Of the habit of this name that is in sight."""
    return dict(stored()).get(name, {})


RUN = habit(
    "Run", {"2026-03-16": ("YES_MANUAL", "5 km, “wet”"), "2026-03-17": ("SKIP", "ill")}, 3, 7
)


def test_without_yes_it_only_says_what_would_come(export):
    text, status = imported(export(RUN, habit("Читать")))
    assert status == 0
    for words in (
        "«Run»: новая; 3 раза в неделю",
        "«Run», 16.03–17.03: 2 отметки",
        "«Читать»: новая; каждый день",
        "XP не изменятся",
        "--yes",
    ):
        assert words in text
    assert not any(state().values())


def test_a_habit_of_amounts_has_the_target_and_the_unit_that_it_has_in_loop(export):
    exported = export(
        habit("Water", at_least="2000.0", unit="ml"), habit("Beer", at_most="2.0"), RUN
    )
    text, _ = imported(exported)
    assert "«Beer»: новая; каждый день; не больше 2 ×" in text
    added(exported)
    targets = [item.get("target") for item in items("habits")]
    assert targets == [{"amount": 2000, "unit": "ml"}, {"at_most": 2, "unit": "×"}, None]
    assert snapshot("xp")["xp"]["lifetime"] == 0


# Times in a number of days, its words here, and whether they are only the nearest.
FREQUENCIES_OF_LOOP = json_lines("""
[1, 1, "каждый день", false]
[7, 7, "каждый день", false]
[1, 7, "1 раз в неделю", false]
[6, 7, "6 раз в неделю", false]
[1, 2, "раз в 2 дня", false]
[1, 31, "раз в 31 день", false]
[1, 30, "раз в 31 день", true]
[10, 30, "2 раза в неделю", true]
[3, 30, "раз в 10 дней", true]
[2, 3, "5 раз в неделю", true]
[4, 14, "2 раза в неделю", true]
""")


@pytest.mark.parametrize("times, every, words, is_nearest", FREQUENCIES_OF_LOOP)
def test_a_schedule_is_the_same_or_the_nearest_one_which_is_said(
    times, every, words, is_nearest, export
):
    text, _ = imported(export(habit("Run", None, times, every)))
    assert f"«Run»: новая; {words};" in text
    assert (f"в Loop {times}× за {every} дн." in text) == is_nearest


def test_every_n_days_is_counted_from_the_last_time_as_loop_does(export):
    done = ("03", "05", "08", "11", "12", "15", "18")
    added(export(habit("Floss", {f"2026-03-{day}": ("YES_MANUAL", "") for day in done}, 1, 3)))
    assert first_habit()["current_streak"] == 7
    floss = past(date_from="2026-03-03")
    assert floss["marks"].count("+") == 7 and "?" not in floss["marks"]


def archived():
    return [item["name"] for item in snapshot("habits")["habits"]["archived"]]


def test_an_archived_habit_stays_archived_and_owes_nothing_since(export):
    added(export(habit("Old", days(d01="YES_MANUAL", d02="YES_MANUAL"), archived="true")))
    assert archived() == ["Old"]
    old = past(date_from="2026-03-01")
    assert old["marks"].startswith("++") and "?" not in old["marks"]
    assert old["streak"] == 2, "its pause begins after its last mark"


def test_what_was_tried_is_applied_however_long_it_takes(export, clock, monkeypatch):
    def ticking():
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
    assert archived() == ["Old", "Floss"]


def test_one_undo_takes_all_of_it_back_and_a_redo_brings_it_again(export):
    do(new_habit("Read"))
    before = state()
    added(export(RUN, habit("Read", days(d17="YES_MANUAL"))))
    after = state()
    assert "«Run»" in call("undo_last", list=True)["changes"][0]["change"]
    assert undo()["diff"]["deletes"]
    assert stored() == [("Read", {})]
    assert state()["diary"] == before["diary"]
    undo(redo=True)
    assert state() == after
    undo()
    added(export(RUN))
    assert len(marks("Run")) == 2


def test_the_same_export_adds_nothing_twice_and_a_newer_one_only_its_days(export):
    added(export(RUN))
    before = state()
    assert added(export(RUN)) == NOTHING_NEW
    assert state() == before
    newer = habit("Run", {**RUN["days"], "2026-03-18": ("YES_MANUAL", "late")}, 3, 7)
    assert added(export(newer)) == "✓ «Run», 18.03: 1 отметка\n✓ Дневник за 18.03: 1 заметка"
    assert len(marks("Run")) == 3 and len(state()["diary"]) == 3
    undo()
    assert len(marks("Run")) == 2 and len(items("habits")) == 1


def test_notes_alone_are_said_and_one_that_was_deleted_here_stays_away(export):
    added(export(habit("Run", days(d16="YES_MANUAL", d17="NO"))))
    noted = habit("Run", {"2026-03-16": ("YES_MANUAL", "wet"), "2026-03-17": ("NO", "ill")})
    assert "• Дневник за 16.03–17.03: 2 заметки" in imported(export(noted))[0]
    assert added(export(noted)) == "✓ Дневник за 16.03–17.03: 2 заметки"
    [ill, _] = items("diary", date_from="2026-03-16", date_to="2026-03-17")
    do(act("diary.delete_entry", ill["id"]))
    assert added(export(noted)) == NOTHING_NEW


def test_a_mark_that_is_here_stays_as_it_is(export):
    [key] = do(new_habit("Run"))
    do(miss(key, date="2026-03-16", excuse_reason="rain"))
    added(export(RUN))
    assert marks("Run")["2026-03-16"] == ("excused", None)


def test_another_unit_than_that_of_the_habit_here_is_said(export):
    do(new_habit("Water", target="2 l"))
    text, _ = imported(export(habit("Water", days(d16="500000"), at_least="1000", unit="ml")))
    assert "! «Water»: в Loop единица «ml», здесь «l»; числа взяты как есть" in text
    text, _ = imported(export(habit("Water", days(d16="2000"), at_least="2", unit="l")))
    assert "единица" not in text


def test_nobody_waits_while_the_zip_is_read(export, file, monkeypatch):
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
    text, status = imported(
        export(files={"Habits.csv": "\n" * (loop_export.LARGEST_TABLE_BYTES + 1)})
    )
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


@pytest.mark.parametrize("form", ["{value}", "Entry(timestamp={day} value={value})"])
def test_an_export_without_folders_is_read_from_its_table_of_all_habits(form, export):
    days_of_all = {"2025-04-18": ("2", "3"), "2025-04-17": ("0", "90000")}
    lines = "Date,Walk,Wake up,\n"
    for day, values in days_of_all.items():
        cells = [form.format(day=day, value=value) for value in values]
        lines += f"{day},{','.join(cells)},\n"
    added(export(files={"Habits.csv": OLD_HABITS, "Checkmarks.csv": lines}))
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
    text, _ = imported(export(files=files))
    assert "«Read»: не переносится, потому что её дней нет в файле" in text
    assert "привычка «Read»" not in text.lower()


def test_it_is_the_import_of_the_present_user(export, file):
    added(export(RUN))
    use(file, ONEPERCENT_USER="anna")
    assert "новая" in imported(export(RUN))[0]


ROW = "001,Run,YES_NO,,,1,1,#FF8F00,,,,false"
NUMBERS = "001,Run,NUMERICAL,,,1,1,#FF8F00,km,AT_LEAST,{},false"
DAY = "Date,Value,Notes\n"
# The row of a habit in its table, and its days.
BAD = {
    "an unknown value": (ROW, "2026-03-16,MAYBE,"),
    "an amount of a habit without": (ROW, "2026-03-16,1500,"),
    "an endless amount": (NUMBERS.format(5), f"2026-03-16,{'9' * 999},"),
    "no day": (ROW, "yesterday,NO,"),
    "a day twice": (ROW, "2026-03-16,NO,\n2026-03-16,SKIP,"),
    "no frequency": (ROW.replace("1,1", "x,1"), ""),
    "never": (ROW.replace("1,1", "0,7"), ""),
    "an infinite target": (NUMBERS.format("Infinity"), ""),
    "a row cut off": ("001,Run,YES_NO", ""),
    "a field without end": (ROW, f'2026-03-16,NO,"{"x" * 200_000}'),
}
BAD_FILES = {
    "no files": {"readme": "?"},
    "no table of habits": {"001 Run/Checkmarks.csv": DAY},
    "an older version": {"Habits.csv": f"{OLD_HABITS}{ROW}\n", "001 Run/Checkmarks.csv": DAY},
    "other columns": {
        "Habits.csv": f"{HEAD}\n{ROW}\n",
        "001 Run/Checkmarks.csv": "Day,Mark\n2026-03-16,YES_MANUAL\n",
    },
}


def behind_a_good_one(row, past):
    """The files of an export with a good habit, and then this one."""
    files = contents(habit("Good", days(d17="NO")))
    files["Habits.csv"] += f"{row.replace('001', '002', 1)}\n"
    return {**files, "002 Run/Checkmarks.csv": f"{DAY}{past}\n"}


BAD_FILES |= {name: behind_a_good_one(*bad) for name, bad in BAD.items()}


@pytest.mark.parametrize("files", BAD_FILES.values(), ids=BAD_FILES)
def test_a_bad_export_is_refused_in_a_sentence_and_nothing_of_it_comes(files, export):
    added(export(habit("Before", days(d16="NO"))))
    before = state()
    for words in ([], ["--yes"]):
        text, status = imported(export(files=files), *words)
        assert status == 1 and text.count("\n") == 0 and 20 < len(text) < 700, text
        assert state() == before


def encrypted(whole):
    """With the mark of an encrypted file in each header."""
    whole = bytearray(whole)
    for header, flags in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        for match in re.finditer(header, whole):
            whole[match.start() + flags] |= 1
    return whole


def spoilt(whole):
    return whole[:60] + b"\xff" * 30 + whole[90:]


# What is done to an export that is packed in one way or the other.
SPOILT = {
    "empty": (zipfile.ZIP_DEFLATED, lambda whole: b""),
    "cut": (zipfile.ZIP_DEFLATED, lambda whole: whole[: len(whole) // 2]),
    "spoilt": (zipfile.ZIP_DEFLATED, spoilt),
    "spoilt and packed in another way": (zipfile.ZIP_LZMA, spoilt),
    "encrypted": (zipfile.ZIP_DEFLATED, encrypted),
}


@pytest.mark.parametrize("packed, spoil", SPOILT.values(), ids=SPOILT)
def test_a_file_that_is_cut_spoilt_or_encrypted_is_refused(packed, spoil, export):
    path = Path(export(RUN))
    with zipfile.ZipFile(path, "w", packed) as archive:
        archive.writestr("Habits.csv", contents(RUN)["Habits.csv"] * 50)
    path.write_bytes(spoil(path.read_bytes()))
    text, status = imported(str(path), "--yes")
    assert status == 1 and "Loop" in text and "Nothing was changed" in text
    assert ("encrypted" in text) == (spoil is encrypted)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    assert imported(str(tmp_path / "none.zip"))[1] == 1


def test_a_full_disk_is_said_as_one(export):
    do(new_goal("Before"))
    with store.writing() as db:
        pages = db.execute("PRAGMA page_count").fetchone()[0]
        db.execute(f"PRAGMA max_page_count = {pages}")
    past = {f"{date(2020, 1, 1) + timedelta(ago)}": ("NO", "x" * 900) for ago in range(999)}
    text, status = imported(export(habit("Read", past)), "--yes")
    assert status == 1 and "disk is full" in text and "not an export" not in text


def test_names_of_paths_lead_nowhere_and_names_of_habits_are_one_line(export, tmp_path):
    files = contents(habit("Run\x1b[2J\nNo", days(d16="NO")))
    files["../../evil/Checkmarks.csv"] = files["/etc/001/Checkmarks.csv"] = "x"
    added(export(files=files))
    assert [item["name"] for item in items("habits")] == ["Run [2J No"]
    assert not (tmp_path.parent / "evil").exists()


VALUES = ("YES_MANUAL", "YES_MANUAL", "YES_MANUAL", "NO", "SKIP", "YES_AUTO", "UNKNOWN")
NAMES = ("Run", "Бег", "a, \"b\"; 'c'", "x" * 200, "Run", "日本", " spaced  out ")
NOTES = ("", "", "", "", "ill", 'said "no", twice', "two\nlines", "заметка")
STATUSES = {"YES_MANUAL": "completed", "NO": "missed", "SKIP": "excused"}


def random_habit(dice):
    """A habit of Loop, and the marks that are to come of it."""
    kind = dice.choice(("", "", "at_least", "at_most"))
    target = dice.choice((0.0, 1.0, 12.5, 2000.0))
    more = {kind: f"{target}", "unit": dice.choice(("", "km"))} if kind else {}
    past = {}
    expected = {}
    for ago in sorted(dice.sample(range(400), dice.choice((0, 2, 24, 240)))):
        day = str(TODAY - timedelta(ago))
        value = dice.choice(VALUES)
        amount = None
        if kind and value not in ("SKIP", "UNKNOWN"):
            amount = dice.choice((0, 1, 2, 500, 1000, 12500, 2_000_000))
            value = {0: "NO", 1: "YES_AUTO", 2: "YES_MANUAL"}.get(amount, str(amount))
        past[day] = (value, dice.choice(NOTES))
        if amount is not None:
            is_kept = amount / 1000 <= target if kind == "at_most" else amount / 1000 >= target
            status = "partial" if kind == "at_least" and amount else "missed"
            expected[day] = ("completed" if is_kept else status, amount / 1000)
        elif value in STATUSES:
            expected[day] = (STATUSES[value], None)
    times, every, *_ = dice.choice(FREQUENCIES_OF_LOOP)
    archived = dice.choice(("false", "false", "true"))
    return habit(dice.choice(NAMES), past, times, every, archived=archived, **more), expected


@pytest.mark.parametrize("seed", range(EXPORTS))
def test_of_a_random_export_nothing_is_lost_and_nothing_comes_twice(seed, export, clock):
    dice = random.Random(seed)
    some_days_ago = str(TODAY - timedelta(dice.choice((0, 2, 30, 90))))
    exported = []
    older = []
    expected = []
    notes = set()
    for _ in range(dice.randrange(1, 6)):
        newer, marks = random_habit(dice)
        name = " ".join(newer["row"][0].split())
        past = newer["days"].items()
        exported.append(newer)
        older.append(newer | {"days": {day: value for day, value in past if day <= some_days_ago}})
        expected.append((name, marks))
        notes |= {(day, f"{name}: {note}") for day, (_, note) in past if note}

    imported(export(*older), "--yes")
    added(export(*exported))

    assert sorted(stored(), key=repr) == sorted(expected, key=repr)
    assert sorted(rows("SELECT date, reflection FROM diary")) == sorted(notes)
    assert added(export(*exported)) == NOTHING_NEW
    for _ in call("undo_last", list=True)["changes"]:
        undo()
    assert stored() == [] and not state()["diary"] and not state()["xp_ledger"]
