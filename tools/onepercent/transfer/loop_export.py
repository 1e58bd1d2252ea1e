"""The zip that Loop Habit Tracker exports: its habits, each with its days."""

# The format, as HabitList and HabitsCSVExporter of Loop write it:
# - Habits.csv has a row per habit. The name of the habit's folder begins with its Position, 001. The export
#   of a single habit names all habits, and has one folder.
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
from typing import NamedTuple
from zipfile import BadZipFile, ZipFile

from tools.toolkit import one_line

from .backup import UNREADABLE_ERRORS

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

# A day, its value (a number of Loop, see VALUES) and its note.
LoopDay = tuple[str, int, str]
Rows = list[list[str]]


class LoopHabit(NamedTuple):
    """A habit of an export.

    - `about`: its question and its description;
    - `times`, `every`: it is due `times` in `every` days;
    - `target`: in thousandths, None if the export does not say it; `is_limit`: not to be exceeded;
    - `days`: the oldest first; `is_absent`: they are not in the file.
    """

    name: str
    about: str
    times: int
    every: int
    is_yes_no: bool
    target: int | None
    is_limit: bool
    unit: str
    is_archived: bool
    days: list[LoopDay]
    is_absent: bool


@lru_cache(maxsize=1)
def habits_of(file: str) -> list[LoopHabit]:
    """The habits of a file, which is read once. Raises one of ERRORS if it is not such an export."""
    habits = []
    with ZipFile(file) as archive:
        head, *rows = _read_table(archive, "Habits.csv")
        records = [dict(zip(head, row)) for row in rows]
        names = [record["Name"] for record in records]
        # The table of all habits, if its columns are certain to be these.
        matrix = None
        if "Checkmarks.csv" in archive.namelist():
            head, *rows = _read_table(archive, "Checkmarks.csv")
            matrix = rows if head == ["Date", *names, ""] else None
        for column, record in enumerate(records, 1):
            paths = fnmatch.filter(archive.namelist(), f"{record['Position']}*/Checkmarks.csv")
            day_rows = None
            if paths:
                day_rows = _read_table(archive, paths[0])
            elif matrix is not None:
                day_rows = [[row[0], row[column]] for row in matrix]
            habits.append(_habit(record, day_rows))
    return habits


def _habit(record: dict[str, str], day_rows: Rows | None) -> LoopHabit:
    """Read a habit from its row in Habits.csv and the rows of its days."""
    days = _read_days(day_rows or [])
    if "Type" not in record:  # Before 2.3.1: a number without a name is an amount.
        values = {value for _, value, _ in days}
        record |= {
            "Type": "YES_NO" if values <= set(VALUES.values()) else "NUMERICAL",
            "FrequencyNumerator": record["NumRepetitions"],
            "FrequencyDenominator": record["Interval"],
            "Target Type": "",
            "Target Value": "",
            "Unit": "",
            "Archived?": "false",
        }
    target = record["Target Value"]
    return LoopHabit(
        one_line(record["Name"]),
        f"{record['Question']}\n{record['Description']}",
        int(record["FrequencyNumerator"]),
        int(record["FrequencyDenominator"]),
        is_yes_no=record["Type"] == "YES_NO",
        target=round(float(target) * 1000) if target else None,
        is_limit=record["Target Type"] == "AT_MOST",
        unit=one_line(record["Unit"]) or "×",
        is_archived=record["Archived?"] == "true",
        days=days,
        is_absent=day_rows is None,
    )


def _read_table(archive: ZipFile, path: str) -> Rows:
    if archive.getinfo(path).file_size > LARGEST_TABLE_BYTES:
        raise ValueError(f"{path} is too large")
    text = archive.read(path).decode("utf-8-sig")
    return [row for row in csv.reader(StringIO(text, newline="")) if row]


def _read_days(rows: Rows) -> list[LoopDay]:
    """Read the days of a habit; the oldest come first."""
    days = []
    for day, value, *notes in rows:
        if day != "Date":
            number = value.rpartition("=")[2].removesuffix(")")
            days.append((day, int(VALUES.get(number, number)), "".join(notes)))
    return sorted(days)
