"""Import from Loop Habit Tracker: the habits of the zip that it exports, each with its past."""

# The zip, as HabitList and HabitsCSVExporter of Loop 2.3.1 write it:
# - Habits.csv has a row per habit. The name of the habit's folder begins with its Position, 001. The export of a single
#   habit names all of them, and has one folder.
# - 001 Run/Checkmarks.csv has the days, the newest first. YES_AUTO is a day that Loop counts as kept because of others;
#   of UNKNOWN there is only a note. A value is a number in Loop, of which five have names, for amounts, too: an amount
#   is in thousandths, and 0 is NO.
# The contract of the import:
# - It is tried and applied as the actions of the chat are: in one transaction, with one undo. No mark moves XP, which is
#   for what was done here.
# - A habit that is here already is found by its name (of several with one name, in their order) and gets only the days
#   that it lacks: the same file adds nothing twice.
# - All that the journal keeps of a new habit is that it came in sight: an undo hides it again, however many marks it has.

from collections import Counter
from collections.abc import Iterator
from datetime import date
from operator import itemgetter
from time import monotonic
from typing import NamedTuple

from tools.core import errors
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.registry import TextOutput, command
from tools.onepercent import apply_actions, backup, days, dispatch, fields, previews, shell, words
from tools.onepercent.actions import Outcome, action, habits
from tools.onepercent.actions.unit_of_work import Change, UnitOfWork
from tools.onepercent.database import store
from tools.onepercent.days import WEEK
from tools.onepercent.dry_run import Planned, dry_run
from tools.onepercent.habits.schedules import BEGINNING

STATUSES = {"UNKNOWN": "", "NO": "missed", "YES_AUTO": "", "YES_MANUAL": "completed"}
THOUSANDTHS = {"NO": 0, "YES_AUTO": 1, "YES_MANUAL": 2}
MOST_BYTES = 50_000_000  # ten years of 30 habits unpack to 8 MB

SAME_NAME = (
    "SELECT * FROM habits WHERE user = ? AND name = ? AND deleted_at IS NULL ORDER BY id LIMIT 1 OFFSET ?"
)
# Also of an entry that the person has deleted: it stays away. An undo of the import leaves none.
SAME_NOTE = "SELECT 1 FROM diary WHERE user = :user AND date = :date AND reflection = :reflection"

Row = dict[str, str]  # a row of a table of the zip
Habit = tuple[JsonObject, list["Mark"], list[Row]]  # its columns here, its marks, its days in the zip


class Mark(NamedTuple):
    """The columns of a mark."""

    date: str
    status: str
    excuse_reason: str | None = None
    amount: float | None = None


@command("import")
def import_(file: str, yes: str = "") -> JsonObject | TextOutput:
    """Replace everything by what an export holds; a copy of what was there is kept beside the database. Of a
    zip of Loop Habit Tracker, show what it would add; --yes adds it."""
    return _from_loop(file, yes == "--yes") if file.endswith(".zip") else backup.import_(file)


@shell.for_people
def _from_loop(file: str, is_agreed: bool) -> TextOutput:
    dispatch.current.set(dispatch.Call("import", {"file": file}, monotonic()))
    with store.writing() as db:
        dry = dry_run(db, [Planned("loop.import", "1", {"file": file})], is_strict=True)
        preview_id = previews.keep(dry)
    if not dry.unit.journal:
        return TextOutput(words.say("loop.nothing"))
    if is_agreed:
        return TextOutput(apply_actions.apply_agreed(preview_id, preview_id)["message"])
    return TextOutput("\n".join([*dry.lines(), words.say("loop.ask")]))


@action("loop.import", {})
def _import(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Add the habits that are not here, and the days and notes that the others lack."""
    outcome = Outcome()
    same = Counter[str]()
    noted = list[str]()
    for values, marks, past in _habits(params["file"], outcome):
        name = values["name"]
        present = unit.db.execute(SAME_NAME, (unit.user, name, same[name])).fetchone()
        same[name] += 1
        added = _mark(unit, present["id"], marks) if present else _create(unit, values, marks, outcome)
        if added:
            dates = [mark.date for mark in added]
            outcome.entries.append(_sum(dates, "mark", entity="habit", name=name, status="completed"))
        # Amounts are taken as they are, also if they count something else here.
        loop_unit = values.get("target", {}).get("unit")
        own_unit = present["target_unit"] if present else None
        if added and loop_unit and own_unit and loop_unit != own_unit:
            units = {"title": name, "unit": loop_unit, "here": own_unit}
            outcome.warnings.append(("loop.unit", units))
        for day in past:
            note = {"user": unit.user, "date": day["Date"], "reflection": f"{name}: {day.get('Notes')}"}
            if day.get("Notes") and not unit.db.execute(SAME_NOTE, note).fetchone():
                unit.create("diary", note)
                noted.append(day["Date"])
    if noted:
        outcome.entries.append(_sum(sorted(noted), "note", entity="diary"))
    return outcome


def _sum(dates: list[str], kind: str, **shown: str) -> tuple[str, JsonObject]:
    """The entry of the diff for so many of a kind, on these days."""
    count = len(dates)
    counted = words.counted(count, kind)
    return "updates", {**shown, "dates": [f"{dates[0]}..{dates[-1]}"], "count": count, "fields": [counted]}


def _create(unit: UnitOfWork, values: JsonObject, marks: list[Mark], outcome: Outcome) -> list[Mark]:
    """Create a habit with its past; return its marks."""
    start = len(unit.journal)
    is_archived = values.pop("is_archived")
    created = habits.create(unit, dict(values))
    outcome.entries += created.entries
    key = created.created_id or 0
    added = _mark(unit, key, marks)
    if n := values.get("n"):
        # Loop counts the days from the last time, early or late: the schedule begins anew with each.
        schedule = {"habit_id": key, "frequency_type": "every_n_days", "detail": f"{n}"}
        for first in [BEGINNING, *(mark.date for mark in added if mark.status == "completed")]:
            unit.insert_stamped("habit_schedules", schedule | {"first_day": first})
    if is_archived:
        unit.assign("habits", {"id": key, "archived_at": None}, {"archived_at": unit.stamp})
        last = days.ordinal(added[-1].date) if added else unit.today.toordinal()
        first = date.fromordinal(last + 1).isoformat()
        unit.insert_stamped("habit_pauses", {"habit_id": key, "first_day": first})
    unit.journal[start:] = [Change("habits", (key,), {"deleted_at": unit.stamp}, {"deleted_at": None})]
    return added


def _mark(unit: UnitOfWork, key: int, marks: list[Mark]) -> list[Mark]:
    """Add those marks of a habit whose days have none yet; return them."""
    rows = unit.db.execute("SELECT date FROM habit_marks WHERE habit_id = ?", (key,))
    marked = {day for (day,) in rows}
    added = [mark for mark in marks if mark.status and mark.date not in marked]
    for mark in added:
        unit.insert_stamped("habit_marks", {"habit_id": key, "xp": 0, **mark._asdict()})
    return added


def _habits(file: str, outcome: Outcome) -> Iterator[Habit]:
    """The habits of an export; what has no counterpart is a warning. Raises ToolError."""
    import csv
    import zlib
    from fnmatch import filter
    from io import StringIO
    from lzma import LZMAError
    from zipfile import BadZipFile, ZipFile

    def rows(path: str) -> list[Row]:
        text = archive.read(path).decode("utf-8-sig").replace("\0", "")
        return list(csv.DictReader(StringIO(text, newline="")))

    damaged = (BadZipFile, LZMAError, zlib.error)
    try:
        with ZipFile(file) as archive:
            if sum(member.file_size for member in archive.infolist()) > MOST_BYTES:
                raise ValueError("It is too large")
            for row in rows("Habits.csv"):
                if paths := filter(archive.namelist(), f"{row['Position']}*/Checkmarks.csv"):
                    yield _habit(row, rows(paths[0]), outcome)
                else:
                    outcome.warnings.append(("loop.absent", {"title": row["Name"]}))
    except (*backup.NOT_OURS, *damaged, csv.Error, EOFError, OSError, RuntimeError) as error:
        message = f"{file} is not an export of Loop Habit Tracker 2.3.1 or newer"
        hint = f"{errors.one_line(error, 200)}. Nothing was changed. In Loop: Settings, Export as CSV."
        raise ToolError(message, hint, code="FIELD_INVALID") from error


def _habit(row: Row, rows: list[Row], outcome: Outcome) -> Habit:
    """A habit from its row in Habits.csv and those of its days."""
    name = errors.one_line(row["Name"])
    about = [row["Question"], row["Description"]]
    times = int(row["FrequencyNumerator"])
    every = int(row["FrequencyDenominator"])
    values: JsonObject = {"name": name} | _schedule(times, every)
    shown = {"title": name, "count": times, "days": every}
    if times < every != WEEK and values.get("n") != every:
        outcome.warnings.append(("loop.schedule", shown))
    target = round(float(row["Target Value"] or 0) * 1000)
    is_most = row["Target Type"] == "AT_MOST"
    amount = target / 1000
    amount_unit = errors.one_line(row["Unit"]) or "×"
    if target and not is_most:
        values["target"] = {"amount": amount, "unit": amount_unit}
    if is_most or (target and every > 1):
        about.append(f"{'≤' if is_most else '≥'} {words.number(amount)} {amount_unit}")
        outcome.warnings.append(("loop.target", shown | {"limit": about[-1]}))
    values["description"] = "\n".join(about).strip() or None
    past = sorted(rows, key=itemgetter("Date"))
    if past:
        values["created_on"] = past[0]["Date"]
    values["is_archived"] = row["Archived?"] == "true"
    return values, [_marked(row, day, target) for day in past], past


def _marked(habit: Row, row: Row, target: int) -> Mark:
    """The mark of a day, from its row in Checkmarks.csv; its status is "" if there is none."""
    day = fields.read_day("Date", row["Date"])
    value = row["Value"]
    if value == "SKIP":
        return Mark(day, "missed", words.say("loop.skip"))
    if habit["Type"] == "YES_NO" or value == "UNKNOWN":
        return Mark(day, STATUSES[value])
    thousandths = int(THOUSANDTHS.get(value, value))
    is_kept = thousandths <= target if habit["Target Type"] == "AT_MOST" else thousandths >= target
    status = "partial" if 0 < thousandths < target else "missed"
    return Mark(day, "completed" if is_kept else status, amount=thousandths / 1000)


def _schedule(times: int, every: int) -> JsonObject:
    """The schedule that is nearest to some times in some days."""
    per_week = times * WEEK / every
    if times >= every:
        return {"frequency_type": "daily"}
    if every == WEEK or (times > 1 and per_week >= 1):
        return {"frequency_type": "times_per_week", "times": round(per_week)}
    # Loop takes 30 days for a calendar month: with 31, what is done on each first is never late.
    length = 31 if every == 30 else every
    return {"frequency_type": "every_n_days", "n": round(length / times)}
