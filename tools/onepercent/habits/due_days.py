"""What is in sight, dated, overdue, due on a day: one rule each, for actions, snapshot, pages and notices."""

# A step is in sight unless its goal is archived; one that is to be done, only while its goal is open.
#
# Of a series of steps one is open and has the rule (`repeat`). Its `dt` is the day that was set, by a person or when the
# step before it was done; time never moves it. Until then it is due on that day; later on the next day of the rule. So
# what is due depends on the rule and on today alone, never on who looked when. What a clock that ran ahead has set is no
# day: the rule says it.

import json
from datetime import date, timedelta
from functools import lru_cache
from sqlite3 import Cursor

from tools.onepercent import days, settings
from tools.onepercent.database import Database, Row
from tools.onepercent.habits.schedules import FOREVER, Schedule, schedule

KINDS = {"day": "daily", "week": "custom", "month": "monthly"}
"""The frequency of a habit that is due on the same days, by `every` of a rule."""
LONGEST_MONTH = 31  # days in which each rule has a day
CLOCK_DAYS = 2
"""Zones and the hour at which a day begins make a stamp differ from the person's date by no more."""

OPEN_GOALS = """(SELECT * FROM goals WHERE user = :user AND status = 'work' AND archived_at IS NULL
    AND deleted_at IS NULL)"""
STEPS = """SELECT s.id, s.title, s.goal_id, g.title AS goal_title, {day} AS date, s.priority, s.time_duration,
    s.progress, s.repeat, {missed} AS missed, s.is_complete, s.completed_on, NULL AS kind FROM steps s JOIN goals g ON g.id = s.goal_id
    WHERE s.user = :user AND s.deleted_at IS NULL AND g.archived_at IS NULL
    AND (s.is_complete = 1 OR g.status = 'work') AND s.repeat"""
DUE_DAY = "due_day(s.repeat, s.dt, s.updated_at, :today)"
MISSED = f"nullif(missed(s.repeat, s.dt, {DUE_DAY}), 0)"
DATED = f"""SELECT * FROM ({STEPS.format(day="s.dt", missed="NULL")} IS NULL AND s.is_complete IN (0, 1)
    UNION ALL {STEPS.format(day=DUE_DAY, missed=MISSED)} IS NOT NULL
    UNION ALL SELECT NULL, title, id, NULL, due, NULL, NULL, NULL, NULL, NULL, 0, NULL, 'goal' FROM {OPEN_GOALS}
    WHERE due IS NOT NULL)"""
"""Steps in sight, and open goals with a day, whose `kind` is goal. `missed`: days of a series that are
over."""

OVERDUE = "date < :today AND is_complete = 0"
IS_STEP = "kind IS NULL"


def dated(db: Database, which: str, **values: object) -> list[Row]:
    """The dated things that a condition selects, in their order."""
    return read(db, f"{DATED} WHERE {which} ORDER BY date, id", **values).fetchall()


def read(db: Database, statement: str, **values: object) -> Cursor:
    """The rows of a query that may ask for due_day and missed; of the present `user`, as of `today`."""
    db.create_function("due_day", 4, due_day)
    db.create_function("missed", 3, missed)
    return db.execute(statement, {"user": settings.user(), "today": f"{days.today()}"} | values)


def due_day(repeat: str | None, dt: str | None, changed_at: str, today: str) -> str | None:
    """The day on which an open step is due, as of a day."""
    if not (repeat and dt):
        return dt
    present = date.fromisoformat(today)
    was_ahead = changed_at[:10] > f"{present + timedelta(CLOCK_DAYS)}"
    if dt >= today and not was_ahead:
        return dt
    return first_day(repeat, present) or last_day(repeat, dt, today)


def first_day(repeat: str, since: date) -> str | None:
    """The first day of a rule from a day on; None once it is over."""
    rule, last = _rule(repeat)
    start = since.toordinal()
    day = next(iter(rule.due(start, start + LONGEST_MONTH)))
    return f"{date.fromordinal(day)}" if day <= last else None


def last_day(repeat: str, dt: str, until: str) -> str:
    """The last day of a rule until a day, from that on which a step was set; that day itself if there is none."""
    return max([dt, *_between(repeat, dt, until)])


def missed(repeat: str, dt: str, due: str) -> int:
    """The days of a series, from that on which its step was set, that are over while it is due on another."""
    return len({dt, *_between(repeat, dt, due)} - {due}) if dt < due else 0


def _between(repeat: str, first: str, last: str) -> list[str]:
    rule, end = _rule(repeat)
    until = min(date.fromisoformat(last).toordinal(), end)
    return [f"{date.fromordinal(day)}" for day in rule.due(date.fromisoformat(first).toordinal(), until)]


@lru_cache
def _rule(repeat: str) -> tuple[Schedule, int]:
    """The schedule that a rule means, and its last day."""
    parts = json.loads(repeat)
    detail = ",".join(map(str, parts.get("on", ())))
    last = date.fromisoformat(parts["until"]).toordinal() if "until" in parts else FOREVER
    return schedule(KINDS[parts["every"]], detail), last
