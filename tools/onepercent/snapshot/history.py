"""Looking back: what was closed, kept, written and earned between two days, and in as many days before."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import NamedTuple

from tools.core.json_types import JsonObject
from tools.onepercent import days
from tools.onepercent.actions.unit_of_work import balance
from tools.onepercent.database.types import Database
from tools.onepercent.habits import marks
from tools.onepercent.habits.histories import histories
from tools.onepercent.habits.marks import HabitSigns

DAYS_BACK = 366
MOST_SINGLE_DAYS = 31
MOST_WEEKS_IN_DAYS = 92
MOST_TITLES = 5
"""Titles of goals that a week or a month names."""

EARNED = "FROM xp_ledger WHERE user = ? AND at >= ?"
DAYS_WRITTEN = "SELECT count(DISTINCT date) FROM diary WHERE user = ? AND date BETWEEN ? AND ? AND deleted_at IS NULL"
CLOSED = "deleted_at IS NULL AND user = ? AND completed_at >= ? AND completed_at < ?"
CLOSED_STEPS = f"FROM steps WHERE is_complete = 1 AND {CLOSED}"
CLOSED_GOALS = f"FROM goals WHERE status = 'complete' AND {CLOSED}"


class Grain(NamedTuple):
    """How finely the past is told: the name of the list, and what a piece of it calls its first day."""

    pieces: str
    label: str


DAYS, WEEKS, MONTHS = Grain("days", "date"), Grain("weeks", "week"), Grain("months", "month")


class Sums(NamedTuple):
    """What happened in a span of days, in numbers."""

    xp: int
    steps: int
    goals: int
    kept: int
    due: int
    diary: int

    @property
    def is_empty(self) -> bool:
        """Whether nothing happened, whatever was due."""
        return not (self.xp or self.steps or self.goals or self.kept or self.diary)

    def shown(self) -> JsonObject:
        return {
            "xp": self.xp,
            "steps": self.steps,
            "goals": self.goals,
            "habits": f"{self.kept}/{self.due}",
            "diary": self.diary,
        }


@dataclass(frozen=True)
class Past:
    """A person's past, read a span of days at a time. `signs` begin on the day `since`."""

    db: Database
    user: str
    since: date
    signs: list[HabitSigns]

    def sums(self, first: date, last: date) -> Sums:
        moments = self._moments(first, last)
        (xp,) = self.db.execute(f"SELECT total(xp) {EARNED} AND at < ?", moments).fetchone()
        (steps,) = self.db.execute(f"SELECT count(*) {CLOSED_STEPS}", moments).fetchone()
        (goals,) = self.db.execute(f"SELECT count(*) {CLOSED_GOALS}", moments).fetchone()
        dates = (self.user, first.isoformat(), last.isoformat())
        (diary,) = self.db.execute(DAYS_WRITTEN, dates).fetchone()
        signs = self._signs(first, last)
        return Sums(int(xp), steps, goals, signs.count("+"), _due(signs), diary)

    def gained(self, first: date, last: date) -> int:
        """The XP gained between two days, not counting what was lost."""
        gained = f"SELECT total(xp) {EARNED} AND at < ? AND xp > 0"
        return int(self.db.execute(gained, self._moments(first, last)).fetchone()[0])

    def titles(self, closed: str, first: date, last: date, most: int = -1) -> list[str]:
        """The titles of the steps or goals closed between two days, at most some of them."""
        titles = f"SELECT title {closed} ORDER BY completed_at, id LIMIT ?"
        return [title for (title,) in self.db.execute(titles, (*self._moments(first, last), most))]

    def xp_before(self, first: date) -> int:
        """The balance at the start of a day, counted back from the present one, so that its cost does not grow with the life."""
        (since,) = self.db.execute(f"SELECT total(xp) {EARNED}", (self.user, days.midnight(first))).fetchone()
        return balance(self.db, self.user)[0] - int(since)

    def _signs(self, first: date, last: date) -> str:
        span = slice((first - self.since).days, (last - self.since).days + 1)
        return "".join([habit.signs[span] for habit in self.signs])

    def _moments(self, first: date, last: date) -> tuple[str, str, str]:
        return self.user, days.midnight(first), days.midnight(last + timedelta(days=1))


def history(db: Database, user: str, first: date, last: date, today: date) -> JsonObject:
    """The section `history` of the snapshot."""
    length = (last - first).days + 1
    before = first - timedelta(days=length)
    signs = marks.signs(db, user, before, last, today)
    past = Past(db, user, before, [habit._replace(signs=_settled(habit.signs, last == today)) for habit in signs])
    grain = DAYS if length <= MOST_SINGLE_DAYS else WEEKS if length <= MOST_WEEKS_IN_DAYS else MONTHS
    spans = [(span, past.sums(*span)) for span in _spans(first, last, grain)]
    total = Sums(*map(sum, zip(*(sums for _, sums in spans), strict=True)))
    end, gained = past.xp_before(last + timedelta(days=1)), past.gained(first, last)
    return {
        "date_from": first.isoformat(),
        "date_to": last.isoformat(),
        grain.pieces: [_piece(past, *span, sums, grain) for span, sums in spans if not sums.is_empty],
        "habits": _habits(db, user, [habit._replace(signs=habit.signs[length:]) for habit in signs], last, today),
        **({"marks": " ".join(f"{sign} {meaning}" for sign, meaning in marks.LEGEND.items())} if signs else {}),
        "xp": {"gained": gained, "lost": total.xp - gained, "from": end - total.xp, "to": end},
        "total": total.shown(),
        "previous": {"date_from": before.isoformat(), **past.sums(before, first - timedelta(days=1)).shown()},
    }


def _settled(signs: str, until_today: bool) -> str:
    """The signs, in which nothing is due that can still be done today."""
    return signs[:-1] + "." if until_today and signs.endswith("?") else signs


def _due(signs: str) -> int:
    """An excused day is not due."""
    return signs.count("+") + signs.count("-") + signs.count("?")


def _spans(first: date, last: date, grain: Grain) -> Iterator[tuple[date, date]]:
    """The days, ISO weeks or months between two days; the outer ones may be cut."""
    while first <= last:
        if grain is DAYS:
            end = first
        elif grain is WEEKS:
            end = first + timedelta(days=6 - first.weekday())
        else:
            end = (first.replace(day=1) + timedelta(days=31)).replace(day=1) - timedelta(days=1)
        yield first, min(end, last)
        first = end + timedelta(days=1)


def _piece(past: Past, first: date, last: date, sums: Sums, grain: Grain) -> JsonObject:
    """What there is of a day, a week (by its Monday) or a month; longer ones count steps."""
    piece: JsonObject = {grain.label: _named(first, grain)}
    if sums.xp:
        piece["xp"] = sums.xp
    if sums.steps:
        piece["steps"] = past.titles(CLOSED_STEPS, first, last) if grain is DAYS else sums.steps
    if sums.goals:
        most = sums.goals if grain is DAYS else MOST_TITLES
        more = [f"+{sums.goals - most}"] if sums.goals > most else []
        piece["goals"] = past.titles(CLOSED_GOALS, first, last, most) + more
    if sums.due:
        piece["habits"] = f"{sums.kept}/{sums.due}"
    if sums.diary:
        piece["diary"] = True if grain is DAYS else sums.diary
    return piece


def _named(first: date, grain: Grain) -> str:
    if grain is WEEKS:
        first -= timedelta(days=first.weekday())
    return f"{first:%Y-%m}" if grain is MONTHS else first.isoformat()


def _habits(db: Database, user: str, signs: list[HabitSigns], last: date, today: date) -> list[JsonObject]:
    streaks = {history.habit["id"]: history.streak(today.toordinal())[0] for history in histories(db, user, today)}
    habits = []
    for habit in signs:
        shown = {"marks": habit.signs} if len(habit.signs) <= MOST_WEEKS_IN_DAYS else {}
        due = _due(_settled(habit.signs, last == today))
        rate = {"rate": round(100 * habit.signs.count("+") / due)} if due else {}
        habits.append({"id": habit.id, "name": habit.name, **shown, **rate, "streak": streaks[habit.id]})
    return habits
