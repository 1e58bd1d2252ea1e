"""Habit histories in the database: the part that no longer changes folded once, the rest read when asked for."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from tools.onepercent import days
from tools.onepercent.actions.unit_of_work import Change, Row
from tools.onepercent.database.types import Database
from tools.onepercent.habits import streaks
from tools.onepercent.habits.streaks import DONE, EXCUSED, MISSED, Mark, Streak

EVER = ""
"""Sorts before every date."""

HABITS = """SELECT h.*, s.until, s.run, s.best, s.last FROM habits h JOIN habit_streaks s ON s.habit_id = h.id"""

OUTCOME = (
    f"CASE WHEN m.status = 'completed' THEN {DONE} WHEN m.excuse_reason IS NOT NULL THEN {EXCUSED} ELSE {MISSED} END"
)

ORDINAL = "CAST(julianday(m.date) - 1721424.5 AS INTEGER)"
"""The day's ordinal as date.toordinal gives it, computed by sqlite: 1721424.5 is the Julian day before 0001-01-01."""


@dataclass(frozen=True, slots=True)
class History:
    """A habit with its recent marks; `folded` holds what came before them. `week`: outcomes of the last seven days."""

    habit: Row
    schedule: days.Schedule
    folded: Streak
    marks: list[Mark]
    week: dict[int, int]

    def streak(self, today: int) -> tuple[int, int]:
        """Current and best streak."""
        return streaks.current_and_best(self.folded, self.marks, self.schedule, today)


def histories(db: Database, user: str, today: date) -> list[History]:
    """The undeleted habits of a user; of each only recent marks are read."""
    week_ago = date.fromordinal(today.toordinal() - days.WEEK).isoformat()
    recent = db.execute(
        f"""SELECT m.habit_id, {ORDINAL}, {OUTCOME} FROM habits h JOIN habit_streaks s ON s.habit_id = h.id
        JOIN habit_marks m ON m.habit_id = h.id AND m.date > min(s.until, ?)
        WHERE h.user = ? AND h.deleted_at IS NULL ORDER BY m.habit_id, m.date""",
        (week_ago, user),
    )
    tails: dict[int, list[Mark]] = {}
    for habit_id, day, outcome in recent:
        tails.setdefault(habit_id, []).append((day, outcome))
    rows = db.execute(f"{HABITS} WHERE h.user = ? AND h.deleted_at IS NULL ORDER BY h.id", (user,)).fetchall()
    return [_history(db, row, tails.get(row["id"], []), today) for row in rows]


def _history(db: Database, row: Row, tail: list[Mark], today: date) -> History:
    schedule, until = days.schedule(row["frequency_type"], row["schedule_days"]), row["until"]
    _check(tail)
    present = today.toordinal()
    week = {day: outcome for day, outcome in tail if present - days.WEEK < day <= present}
    if until >= today.isoformat():  # The clock was ahead when it was folded.
        return History(row, schedule, Streak(), _marks(db, row["id"], EVER, "9999-12-31"), week)
    settled = days.parsed(until).toordinal() if until else 0
    return History(row, schedule, _folded(row), [mark for mark in tail if mark[0] > settled], week)


def current_streak(db: Database, habit_id: int, today: date) -> int:
    """The streak of one habit that stands today."""
    row = db.execute(f"{HABITS} WHERE h.id = ?", (habit_id,)).fetchone()
    schedule = days.schedule(row["frequency_type"], row["schedule_days"])
    marks = _marks(db, habit_id, EVER, today.isoformat())
    return streaks.current_and_best(Streak(), marks, schedule, today.toordinal())[0]


def settle(db: Database, journal: Iterable[Change], today: date) -> None:
    """Bring the folded part of every habit that `journal` changed up to date."""
    target = date.fromordinal(streaks.settled_until(today.toordinal())).isoformat()
    for habit_id, earliest in _touched(journal).items():
        row = db.execute(f"{HABITS} WHERE h.id = ?", (habit_id,)).fetchone()
        if row is not None:
            _settle(db, row, earliest, target)


def settle_all(db: Database, today: date) -> None:
    """Fold every habit's history anew."""
    target = date.fromordinal(streaks.settled_until(today.toordinal())).isoformat()
    for row in db.execute(HABITS).fetchall():
        _settle(db, row, EVER, target)


def _touched(journal: Iterable[Change]) -> dict[int, str]:
    """The first day that counts anew, by habit: all of them where the schedule changed."""
    first_days: dict[int, str] = {}
    for table, key, _, values in journal:
        habit_id = int(key[0])
        if table == "habit_marks":
            day = str(key[1])
            first_days[habit_id] = min(day, first_days.get(habit_id, day))
        elif table == "habits" and values and not values.keys().isdisjoint(("frequency_type", "schedule_days")):
            first_days[habit_id] = EVER
    return first_days


def _settle(db: Database, row: Row, earliest: str, target: str) -> None:
    until, streak = row["until"], _folded(row)
    if earliest <= until:
        until, streak = EVER, Streak()
    if target <= until:
        return
    schedule = days.schedule(row["frequency_type"], row["schedule_days"])
    streak = streaks.fold(streak, _marks(db, row["id"], until, target), schedule)
    db.execute(
        "UPDATE habit_streaks SET until = ?, run = ?, best = ?, last = ? WHERE habit_id = ?",
        (target, streak.run, streak.best, streak.last, row["id"]),
    )


def _folded(row: Row) -> Streak:
    return Streak(row["run"], row["best"], row["last"])


def _marks(db: Database, habit_id: int, after: str, until: str) -> list[Mark]:
    rows = db.execute(
        f"SELECT {ORDINAL}, {OUTCOME} FROM habit_marks m WHERE habit_id = ? AND date > ? AND date <= ? ORDER BY date",
        (habit_id, after, until),
    )
    marks = [(day, outcome) for day, outcome in rows]
    _check(marks)
    return marks


def _check(marks: list[Mark]) -> None:
    """Raises Unreadable if sqlite could not read one of the dates: it gives NULL then."""
    if any(day is None for day, _ in marks):
        raise days.Unreadable("the date of a mark")
