"""Looking back: what was closed, kept, written and earned between two days, and in as many days before."""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

from tools.core.json_types import JsonObject
from tools.onepercent import days
from tools.onepercent.habits import marks
from tools.onepercent.habits.histories import histories
from tools.onepercent.habits.marks import HabitSigns

DAYS_BACK = 366
MOST_SINGLE_DAYS = 31
MOST_WEEKS_IN_DAYS = 92
MOST_TITLES = 5
"""Titles of goals that a week or a month names."""


@dataclass
class Period:
    """What happened in a day, a week or a month."""

    xp: int = 0
    steps: list[str] = field(default_factory=list)
    goals: list[str] = field(default_factory=list)
    kept: int = 0
    due: int = 0
    diary: int = 0

    @property
    def is_empty(self) -> bool:
        return not (self.xp or self.steps or self.goals or self.kept or self.diary)


@dataclass(frozen=True)
class Past:
    """Everything that happened in a span of days, day by day, and the XP gained and lost."""

    days: dict[date, Period]
    gained: int
    lost: int

    def sums(self) -> JsonObject:
        every = self.days.values()
        kept, due = sum(day.kept for day in every), sum(day.due for day in every)
        return {
            "xp": self.gained + self.lost,
            "steps": sum(len(day.steps) for day in every),
            "goals": sum(len(day.goals) for day in every),
            "habits": f"{kept}/{due}",
            "diary": sum(bool(day.diary) for day in every),
        }


def history(db: Any, user: str, first: date, last: date, today: date) -> JsonObject:
    """The section `history` of the snapshot."""
    length = (last - first).days + 1
    before = first - timedelta(days=length)
    signs = marks.signs(db, user, before, last, today)
    present = _past(db, user, first, last, _cut(signs, length, 2 * length), today)
    previous = _past(db, user, before, first - timedelta(days=1), _cut(signs, 0, length), today)
    name, start = _grain(length)
    return {
        "date_from": first.isoformat(),
        "date_to": last.isoformat(),
        name: _periods(present, name, start),
        "habits": _habits(db, user, _cut(signs, length, 2 * length), last, today),
        "marks": " ".join(f"{sign} {meaning}" for sign, meaning in marks.LEGEND.items()),
        "xp": _xp(db, user, first, present),
        "total": present.sums(),
        "previous": {"date_from": before.isoformat(), **previous.sums()},
    }


def _cut(signs: list[HabitSigns], first: int, last: int) -> list[HabitSigns]:
    return [habit._replace(signs=habit.signs[first:last]) for habit in signs]


def _grain(length: int) -> tuple[str, Callable[[date], date]]:
    """How finely the past is told, and the first day of the piece that a day belongs to."""
    if length <= MOST_SINGLE_DAYS:
        return "days", lambda day: day
    if length <= MOST_WEEKS_IN_DAYS:
        return "weeks", lambda day: day - timedelta(days=day.weekday())
    return "months", lambda day: day.replace(day=1)


def _past(db: Any, user: str, first: date, last: date, signs: list[HabitSigns], today: date) -> Past:
    found = {first + timedelta(days=ago): Period() for ago in range((last - first).days + 1)}
    every = [*found.values()]
    midnights = [days.midnight(first + timedelta(days=ago)) for ago in range(len(every) + 1)]
    span = (user, midnights[0], midnights[-1])

    def of(moment: str) -> Period:
        """The day of a moment; both are texts that sort as the moments do."""
        return every[bisect_right(midnights, moment) - 1]

    gained = lost = 0
    for at, xp in db.execute("SELECT at, xp FROM xp_ledger WHERE user = ? AND at >= ? AND at < ?", span):
        of(at).xp += xp
        gained, lost = gained + max(xp, 0), lost + min(xp, 0)
    for at, title in db.execute(f"SELECT completed_at, title FROM steps WHERE is_complete = 1 AND {CLOSED}", span):
        of(at).steps.append(title)
    for at, title in db.execute(f"SELECT completed_at, title FROM goals WHERE status = 'complete' AND {CLOSED}", span):
        of(at).goals.append(title)
    dates = (user, first.isoformat(), last.isoformat())
    for (day,) in db.execute(
        "SELECT date FROM diary WHERE user = ? AND date BETWEEN ? AND ? AND deleted_at IS NULL", dates
    ):
        found[days.parsed(day)].diary += 1
    _count_marks(found, signs, first, today)
    return Past(found, gained, lost)


CLOSED = "deleted_at IS NULL AND user = ? AND completed_at >= ? AND completed_at < ? ORDER BY completed_at, id"


def _count_marks(found: dict[date, Period], signs: list[HabitSigns], first: date, today: date) -> None:
    for habit in signs:
        for ago, sign in enumerate(habit.signs):
            day = first + timedelta(days=ago)
            found[day].kept += sign == "+"
            found[day].due += _is_due(sign, day == today)


def _is_due(sign: str, is_today: bool) -> bool:
    """What can still be done today is not due yet; an excused day never is."""
    return sign in "+-" or (sign == "?" and not is_today)


def _periods(past: Past, name: str, start: Callable[[date], date]) -> list[JsonObject]:
    merged: dict[date, Period] = {}
    for day, one in past.days.items():
        piece = merged.setdefault(start(day), Period())
        piece.xp += one.xp
        piece.steps += one.steps
        piece.goals += one.goals
        piece.kept += one.kept
        piece.due += one.due
        piece.diary += bool(one.diary)
    return [_told(day, one, name) for day, one in merged.items() if not one.is_empty]


def _told(day: date, one: Period, name: str) -> JsonObject:
    """What is there of a day, a week (by its Monday) or a month; longer ones count steps."""
    single = name == "days"
    label = {"days": "date", "weeks": "week", "months": "month"}[name]
    found: JsonObject = {label: f"{day:%Y-%m}" if name == "months" else day.isoformat()}
    if one.xp:
        found["xp"] = one.xp
    if one.steps:
        found["steps"] = one.steps if single else len(one.steps)
    if one.goals:
        more = len(one.goals) - MOST_TITLES
        found["goals"] = one.goals if single or more <= 0 else [*one.goals[:MOST_TITLES], f"+{more}"]
    if one.due:
        found["habits"] = f"{one.kept}/{one.due}"
    if one.diary:
        found["diary"] = True if single else one.diary
    return found


def _habits(db: Any, user: str, signs: list[HabitSigns], last: date, today: date) -> list[JsonObject]:
    streaks = {one.habit["id"]: one.streak(today.toordinal())[0] for one in histories(db, user, today)}
    found = []
    in_days = not signs or len(signs[0].signs) <= MOST_WEEKS_IN_DAYS
    for habit in signs:
        kept = habit.signs.count("+")
        settled = habit.signs.removesuffix("?") if last == today else habit.signs
        due = sum(_is_due(sign, is_today=False) for sign in settled)
        shown = {"marks": habit.signs} if in_days else {}
        rate = {"rate": round(100 * kept / due)} if due else {}
        found.append({"id": habit.id, "name": habit.name, **shown, **rate, "streak": streaks[habit.id]})
    return found


def _xp(db: Any, user: str, first: date, past: Past) -> dict[str, int]:
    """Gained and lost, and the balance before and after."""
    earlier = db.execute("SELECT total(xp) FROM xp_ledger WHERE user = ? AND at < ?", (user, days.midnight(first)))
    start = int(earlier.fetchone()[0])
    return {"gained": past.gained, "lost": past.lost, "from": start, "to": start + past.gained + past.lost}
