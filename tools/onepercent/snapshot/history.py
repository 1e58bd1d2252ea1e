"""History: everything closed, done, written and earned between two days, and in as many days before."""

import json
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from itertools import groupby
from typing import Any, NamedTuple

from tools.toolkit import JsonObject, ToolError, filled

from .. import settings
from ..base import words
from ..base.days import WEEK, YEAR
from ..base.fields import DIARY_COLUMNS
from ..database import Database
from ..habits import due_days
from ..habits.histories import LEGEND, NOTHING_DUE, HabitSigns, signs_between
from . import View

MOST_SINGLE_DAYS = 31
MOST_WEEKS_IN_DAYS = 92
LONGEST_WITH_DIARY = 8  # days of which the diary is quoted
DIARY_EXCERPT_CHARS = 200
RECENT_DAYS = 28  # four weeks: what is shown unless other days are asked for
ONE_DAY = timedelta(days=1)

# Each is read from an index alone, however long the history.
CLOSED = "deleted_at IS NULL AND user = :user AND completed_on BETWEEN :first AND :last"
CLOSED_STEPS = f"FROM steps WHERE is_complete = 1 AND {CLOSED}"
CLOSED_GOALS = f"FROM goals WHERE status = 'complete' AND {CLOSED}"
SUMS = f"""SELECT
    (SELECT ifnull(sum(xp), 0) FROM xp_ledger WHERE user = :user AND day BETWEEN :first AND :last),
    (SELECT count(*) {CLOSED_STEPS}), (SELECT count(*) {CLOSED_GOALS}),
    (SELECT count(DISTINCT date) FROM diary
    WHERE user = :user AND date BETWEEN :first AND :last AND deleted_at IS NULL)"""
# XP gained and lost, and the balance at the end: counted back from the present one, so that the cost does not
# grow with the history.
EARNED = """SELECT ifnull(sum(max(xp, 0)) FILTER (WHERE day <= :last), 0),
    ifnull(sum(min(xp, 0)) FILTER (WHERE day <= :last), 0),
    (SELECT ifnull(sum(balance), 0) FROM xp_balance WHERE user = :user)
        - ifnull(sum(xp) FILTER (WHERE day > :last), 0) FROM xp_ledger WHERE user = :user AND day >= :first"""
# The beginning of the diary, with its length if it is longer.
DIARY_EXCERPT = f"""SELECT iif(length(text) <= {DIARY_EXCERPT_CHARS}, text,
    substr(text, 1, {DIARY_EXCERPT_CHARS}) || '… (' || length(text) || ')') FROM
    (SELECT group_concat(value, ' ') AS text FROM
    (SELECT value FROM diary, json_each(json_array({DIARY_COLUMNS})) WHERE user = :user AND value <> ''
        AND date BETWEEN :first AND :last AND deleted_at IS NULL ORDER BY diary.id, key))"""
AMOUNTS_BY_HABIT = """SELECT h.id, json_object('amount', round(total(m.amount), 3), 'unit', h.target_unit)
    FROM habits h JOIN habit_marks m ON m.habit_id = h.id
    WHERE h.user = :user AND h.target_amount IS NOT NULL AND h.deleted_at IS NULL
    AND m.date BETWEEN :first AND :last GROUP BY h.id"""
# The note at a mark, or its excuse.
NOTES = """SELECT habit_id, json_group_object(date, words) FROM
    (SELECT habit_id, date, ifnull(note, excuse_reason) AS words FROM habit_marks
    WHERE words IS NOT NULL AND date BETWEEN :first AND :last
    AND habit_id IN (SELECT id FROM habits WHERE user = :user) ORDER BY date) GROUP BY habit_id"""

# Each from an index, or from a few rows.
FIRST_ON_RECORD = """SELECT ifnull(min(day), :today) FROM (
    SELECT min(created_on, ifnull((SELECT min(date) FROM habit_marks WHERE habit_id = habits.id), created_on))
        AS day FROM habits WHERE user = :user AND deleted_at IS NULL
    UNION ALL SELECT min(day) FROM xp_ledger WHERE user = :user
    UNION ALL SELECT min(date) FROM diary WHERE user = :user AND deleted_at IS NULL
    UNION ALL SELECT min(completed_on) FROM steps
        WHERE user = :user AND is_complete = 1 AND deleted_at IS NULL
    UNION ALL SELECT substr(created_at, 1, 10) FROM goals WHERE id = (SELECT id FROM goals
        WHERE user = :user AND deleted_at IS NULL ORDER BY id LIMIT 1))"""

# The periods of a history: the key of a date in the answer, and the function that writes it.
PERIOD_KINDS: dict[str, tuple[str, Callable[[date], str]]] = {
    "days": ("date", str),
    "weeks": ("week", lambda day: f"{day - day.weekday() * ONE_DAY}"),
    "months": ("month", lambda day: f"{day:%Y-%m}"),
}


class Sums(NamedTuple):
    """Numbers of a span of days: XP, steps and goals closed, days with a diary entry, habits kept and due."""

    xp: int
    steps: int
    goals: int
    diary: int
    kept: int
    due: int

    def measures(self) -> list[float]:
        """The four numbers that a page draws: the share of habits kept, XP, steps and diary entries."""
        kept = round(self.kept / self.due, 3) if self.due else 0
        return [kept, self.xp, self.steps, self.diary]


class Past(NamedTuple):
    """The present user's past between two days. `habits` have signs from the day `since` on."""

    db: Database
    first: date
    last: date
    since: date
    habits: list[HabitSigns]
    ends_today: bool

    def between(self, first: date, last: date) -> "Past":
        """Narrow it to two days and those between them."""
        return self._replace(first=first, last=last)

    def split_by(self, period_kind: str) -> Iterator[tuple[str, "Past"]]:
        """Split it into days, weeks or months, each with its date as PERIOD_KINDS has it."""
        _, label_of = PERIOD_KINDS[period_kind]
        ordinals = range(self.first.toordinal(), self.last.toordinal() + 1)
        for label, group in groupby(map(date.fromordinal, ordinals), label_of):
            span = list(group)
            yield label, self.between(span[0], span[-1])

    def rows(self, statement: str) -> list[Any]:
        """Run a query that names the `user`, the `first` and the `last` day."""
        values = {"user": settings.user(), "first": f"{self.first}", "last": f"{self.last}"}
        return self.db.execute(statement, values).fetchall()

    def sums(self, with_open: bool = False) -> Sums:
        """Add everything up; habits that can still be kept today are due only `with_open`."""
        signs = "".join(self.signs(habit, with_open) for habit in self.habits)
        (row,) = self.rows(SUMS)
        return Sums._make([*row, signs.count("+"), count_due(signs)])

    def signs(self, habit: HabitSigns, with_open: bool = False) -> str:
        """The signs of a habit; if it can still be kept today, it is due today only `with_open`."""
        signs = habit.signs
        if self.ends_today and not with_open:
            signs = without_open_day(signs)
        return signs[(self.first - self.since).days : (self.last - self.since).days + 1]

    def titles(self, closed: str) -> list[str]:
        """Titles of CLOSED_STEPS or CLOSED_GOALS, in the order in which they were closed."""
        return [title for (title,) in self.rows(f"SELECT title {closed} ORDER BY completed_at, id")]

    def by_habit(self, statement: str) -> dict[int, JsonObject]:
        """Map each habit's id to an object, from a query of ids and JSON."""
        return {habit_id: json.loads(members) for habit_id, members in self.rows(statement)}


def past_between(db: Database, first: date, last: date, today: date) -> Past:
    """Read the past between two days; if it ends in the future, its habits have signs up to today."""
    habits = list(signs_between(db, first, min(last, today), today))
    return Past(db, first, last, first, habits, last >= today)


def span_on_record(
    db: Database, first: date | None, last: date | None, today: date
) -> tuple[date, date]:
    """The period to look back on: the one asked for, by default the last seven days. A long one begins with
    the first day on record. Raises ToolError INVALID_DATE if nothing of it is on record."""
    until = last or max(today, first or today)
    start = first or until - (WEEK - 1) * ONE_DAY
    if first or last:
        (first_day,) = due_days.select(db, FIRST_ON_RECORD).fetchone()
        earliest = date.fromisoformat(first_day)
        if start > today or until < earliest:
            raise ToolError(
                f"Nothing is kept of the days {start} to {until}",
                f"Send dates from {earliest}, the first day kept, to today: {today}.",
                "INVALID_DATE",
            )
        if (until - start).days >= YEAR:
            start = max(start, earliest)
    return start, min(until, today)


def history(view: View) -> JsonObject:
    """The history of the days in `view.history_span`."""
    first, last = view.history_span
    length = (last - first).days + 1
    previous_first = first - length * ONE_DAY
    past = past_between(view.db, previous_first, last, view.today)
    period = past.between(first, last)
    period_kind = "days"
    if length > MOST_SINGLE_DAYS:
        period_kind = "weeks" if length <= MOST_WEEKS_IN_DAYS else "months"

    # The days, weeks or months in which something was done.
    quotes_diary = length <= LONGEST_WITH_DIARY and not view.has_whole_diary
    items = []
    date_key, _ = PERIOD_KINDS[period_kind]
    for label, subperiod in period.split_by(period_kind):
        if summary := _summary(subperiod, period_kind, quotes_diary):
            items.append({date_key: label} | summary)

    # The sums of the whole period, and of as many days before it.
    gained, lost, end_xp = period.rows(EARNED)[0]
    previous = past.between(previous_first, first - ONE_DAY).sums()
    return {
        "date_from": f"{first}",
        "date_to": f"{last}",
        period_kind: items,
        "habits": list(_habits_of_period(period, period_kind)),
        "xp": {"gained": gained, "lost": lost, "from": end_xp - gained - lost, "to": end_xp},
        "total": _sums_as_json(period.sums()),
        "previous": {"date_from": f"{previous_first}"} | _sums_as_json(previous),
    } | filled(marks=past.habits and LEGEND)


def _sums_as_json(sums: Sums) -> JsonObject:
    numbers = sums._asdict()
    numbers["habits"] = f"{numbers.pop('kept')}/{numbers.pop('due')}"
    return numbers


def without_open_day(signs: str) -> str:
    """Mark today, the last of these signs, as not due if it can still be done."""
    return signs[:-1] + "." if signs.endswith(("?", "~")) else signs


def count_due(signs: str) -> int:
    """Count the due days; an excused day is not due."""
    return sum(map(signs.count, "+-~?"))


def percent_kept(signs: str) -> int | None:
    """The percentage of due days on which a habit was kept; None if nothing was due."""
    due = count_due(signs)
    return round(100 * signs.count("+") / due) if due else None


def _summary(subperiod: Past, period_kind: str, quotes_diary: bool) -> JsonObject:
    """One day, week or month without its empty entries; {} if nothing was done in it.

    - `period_kind`: `days` or longer; steps of a longer one are only counted;
    - `quotes_diary`: the diary is quoted, not only counted.
    """
    sums = subperiod.sums()
    if not any(sums._replace(due=0)):
        return {}

    summary = _sums_as_json(sums)
    summary["goals"] = subperiod.titles(CLOSED_GOALS)
    if period_kind == "days":
        summary["steps"] = subperiod.titles(CLOSED_STEPS)
        summary["diary"] = bool(sums.diary)
        if quotes_diary:
            summary["diary"] = subperiod.rows(DIARY_EXCERPT)[0][0]
    return {name: value for name, value in summary.items() if value and value != "0/0"}


def _habits_of_period(period: Past, period_kind: str) -> Iterator[JsonObject]:
    """Habits as a history shows them; an archived one only if something was due in the period."""
    amounts = period.by_habit(AMOUNTS_BY_HABIT)
    notes = period.by_habit(NOTES) if period_kind == "days" else {}
    for habit in period.habits:
        signs = period.signs(habit, with_open=True)
        if habit.is_archived and not signs.strip(NOTHING_DUE):
            continue
        item = {"id": habit.id, "name": habit.name, "streak": habit.streak}
        item |= amounts.get(habit.id, {})
        if period_kind != "months":
            item["marks"] = signs
        percent = percent_kept(period.signs(habit))
        if percent is not None:
            item["rate"] = percent
        item |= filled(archived=habit.is_archived, notes=notes.get(habit.id))
        yield item


def marks_as_text(
    db: Database, today: date, first: date | None, last: date | None
) -> Iterator[str]:
    """One text with a line of signs for each habit, for clients that show no pages; none if there is no habit.

    The days are those between two dates, by default the last four weeks; at most a year, up to today.
    """
    end = min(today, last or today)
    begin = min(end, first or end - (RECENT_DAYS - 1) * ONE_DAY)
    begin = max(begin, end - (YEAR - 1) * ONE_DAY)
    lines = [f"{begin} – {end}: {words.text_of('shell.marks')}"]
    for number, habit in enumerate(signs_between(db, begin, end, today), 1):
        lines.append(f"{number} {habit.name} {habit.signs}")
    if lines[1:]:
        yield "\n".join(lines)
