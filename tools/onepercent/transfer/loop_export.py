"""The zip that Loop Habit Tracker exports: its habits, each with its days."""

# As HabitList and HabitsCSVExporter of Loop write it:
# - Habits.csv has a row per habit. The name of the habit's folder begins with its Position, 001. The export
#   of a single habit names all of them, and has one folder.
# - 001 Run/Checkmarks.csv has the days, the newest first. Since 2.3.1 it has a head, notes, and names for
#   five numbers. Before that its rows are a date and a number, and Habits.csv has neither types, units,
#   targets nor the archive.
# - Checkmarks.csv at the top has all habits as columns, in their order. Its head lacks the quotes that names
#   may need; some versions wrote Entry(timestamp=2023-04-03, value=300) for 300.

import csv
import fnmatch
import zlib
from functools import lru_cache
from io import StringIO
from lzma import LZMAError
from zipfile import BadZipFile, ZipFile

from .backup import UNREADABLE_ERRORS

# A row of a table of the zip.
Record = dict[str, str]
# A day, its value (a number of Loop, see VALUES) and its note.
Day = tuple[str, int, str]
# A habit with its days, the oldest first; None if they are not in the file.
Habit = tuple[Record, list[Day] | None]

# The errors of reading another, a damaged or an encrypted (RuntimeError) zip.
ERRORS = (
    *UNREADABLE_ERRORS,
    OSError,
    BadZipFile,
    LZMAError,
    zlib.error,
    csv.Error,
    EOFError,
    RuntimeError,
)

# A hundred years of thirty habits have a tenth of it.
LARGEST_TABLE_BYTES = 50_000_000

# The numbers that have a name in Loop, of amounts, too.
VALUES = {"UNKNOWN": -1, "NO": 0, "YES_AUTO": 1, "YES_MANUAL": 2, "SKIP": 3}
# The defaults of columns that Habits.csv lacked before 2.3.1.
UNSAID = {"Unit": "", "Target Type": "", "Target Value": "", "Archived?": "false"}


@lru_cache(maxsize=1)
def habits_of(file: str) -> list[Habit]:
    """The habits of a file, which is read once. Raises one of ERRORS if it is not such an export."""
    habits: list[Habit] = []
    with ZipFile(file) as archive:
        head, *rows = _table(archive, "Habits.csv")
        records = [dict(zip(head, row)) for row in rows]
        names = [record["Name"] for record in records]
        # The table of all habits, if its columns are certain to be these.
        matrix: list[list[str]] | None = None
        if "Checkmarks.csv" in archive.namelist():
            head, *rows = _table(archive, "Checkmarks.csv")
            matrix = rows if head == ["Date", *names, ""] else None
        for column, record in enumerate(records, 1):
            paths = fnmatch.filter(archive.namelist(), f"{record['Position']}*/Checkmarks.csv")
            past: list[Day] | None = None
            if paths:
                past = _days(_table(archive, paths[0]))
            elif matrix is not None:
                past = _days([[day[0], day[column]] for day in matrix])
            if "Type" not in record:  # before 2.3.1, when two columns had other names, too
                record["FrequencyNumerator"] = record["NumRepetitions"]
                record["FrequencyDenominator"] = record["Interval"]
                # A number without a name is an amount.
                values = {value for _, value, _ in past or ()}
                kind = "YES_NO" if values <= set(VALUES.values()) else "NUMERICAL"
                record |= UNSAID | {"Type": kind}
            habits.append((record, past))
    return habits


def _table(archive: ZipFile, path: str) -> list[list[str]]:
    if archive.getinfo(path).file_size > LARGEST_TABLE_BYTES:
        raise ValueError(f"{path} is too large")
    text = archive.read(path).decode("utf-8-sig")
    return [row for row in csv.reader(StringIO(text, newline="")) if row]


def _days(rows: list[list[str]]) -> list[Day]:
    """The days of a habit, the oldest first."""
    past = []
    for day, value, *notes in rows:
        if day != "Date":
            number = value.rpartition("=")[2].removesuffix(")")
            past.append((day, int(VALUES.get(number, number)), "".join(notes)))
    return sorted(past)
