"""The last four weeks as the page of the days shows them, and the four before to hold them against."""

from datetime import date, timedelta

from tools.core.json_types import JsonObject
from tools.onepercent import days
from tools.onepercent.database.types import Database
from tools.onepercent.habits import marks
from tools.onepercent.habits.histories import histories
from tools.onepercent.habits.marks import HabitSigns

DAYS = 28


def weeks(db: Database, user: str, today: date) -> JsonObject:
    """`habits`: name, marks (a sign a day, as marks.LEGEND) and streak; `now` and `before`: sums of four weeks each.

    The sums: XP, habits as [kept, due], steps done, days with a diary entry.
    """
    first = today - timedelta(DAYS - 1)
    every = marks.signs(db, user, first - timedelta(DAYS), today, today)
    streaks = [history.streak(today.toordinal())[0] for history in histories(db, user, today)]
    return {
        "today": today.isoformat(),
        "habits": [
            {"name": habit.name, "marks": habit.signs[DAYS:], "streak": streak}
            for habit, streak in zip(every, streaks, strict=True)
        ],
        "now": _sums(db, user, first) | {"habits": _kept(every, DAYS, 2 * DAYS)},
        "before": _sums(db, user, first - timedelta(DAYS)) | {"habits": _kept(every, 0, DAYS)},
    }


def _kept(habits: list[HabitSigns], first: int, last: int) -> list[int]:
    """How often habits were kept, and were due: what is still to be done today is not due yet."""
    signs = "".join(habit.signs[first:last].removesuffix("?" if last > DAYS else "") for habit in habits)
    kept = signs.count("+")
    return [kept, kept + signs.count("-") + signs.count("?")]


def _sums(db: Database, user: str, first: date) -> dict[str, int]:
    last = first + timedelta(DAYS)
    span = (user, days.midnight(first), days.midnight(last))
    (xp,) = db.execute("SELECT total(xp) FROM xp_ledger WHERE user = ? AND at >= ? AND at < ?", span).fetchone()
    (steps,) = db.execute(
        """SELECT count(*) FROM steps WHERE user = ? AND is_complete = 1 AND deleted_at IS NULL
        AND completed_at >= ? AND completed_at < ?""",
        span,
    ).fetchone()
    (diary,) = db.execute(
        "SELECT count(DISTINCT date) FROM diary WHERE user = ? AND deleted_at IS NULL AND date >= ? AND date < ?",
        (user, first.isoformat(), last.isoformat()),
    ).fetchone()
    return {"xp": int(xp), "steps": steps, "diary": diary}
