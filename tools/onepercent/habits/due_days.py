"""One definition each of in sight, dated, overdue and due."""

# A step is in sight unless its goal is archived; one that is to be done, only while its goal is open.
#
# Of a series of steps one is open and has the rule (`repeat`). Its `dt` is the day that was set, by a person
# or when the step before it was done; time never moves it. Until then it is due on that day; later on the
# next day of the rule. So what is due depends on the rule and on today alone, never on who looked when. A
# day that was set while the clock ran ahead is ignored; the rule decides.

import json
from collections.abc import Iterator
from datetime import date, timedelta
from functools import lru_cache
from sqlite3 import Cursor

from tools.toolkit import JsonObject

from .. import settings
from ..base import days
from ..database import Database
from .schedules import BEGINNING, LAST_DATE, Schedule, schedule_of

# The frequency of a habit that is due on the same days, by `every` of a rule; a year is twelve months.
FREQUENCY_OF = {"day": "daily", "week": "custom", "month": "monthly", "year": "monthly"}
MONTHS_OF_YEAR = 12
# A stamp differs from the person's date by at most this, whatever their zone and hour.
CLOCK_DAYS = 2

# Conditions on undeleted goals and habits, as of `today`.
GOAL_IS_IN_SIGHT = "archived_at IS NULL"
GOAL_IS_OPEN = f"status = 'work' AND {GOAL_IS_IN_SIGHT}"
HABIT_IS_IN_SIGHT = "archived_at IS NULL AND (until IS NULL OR until >= :today)"

OPEN_GOALS = f"(SELECT * FROM goals WHERE user = :user AND {GOAL_IS_OPEN} AND deleted_at IS NULL)"
STEP_ROWS = f"""SELECT s.id, s.title, s.goal_id, g.title AS goal_title, {{day}} AS date, s.priority,
    s.time_duration, s.progress, s.repeat, {{missed}} AS missed, s.is_complete, s.completed_on, NULL AS kind
    FROM steps s JOIN goals g ON g.id = s.goal_id
    WHERE s.user = :user AND s.deleted_at IS NULL AND {GOAL_IS_IN_SIGHT}
    AND (s.is_complete = 1 OR {GOAL_IS_OPEN}) AND s.repeat"""
# The day on which a step `s` is due.
DUE_DAY = "due_day(s.repeat, s.dt, s.updated_at, :today)"
MISSED = f"nullif(missed(s.repeat, s.dt, {DUE_DAY}), 0)"
# Steps in sight, and open goals with a day, whose `kind` is goal, that fit a condition, in their order.
# `missed`: days of a series that are over.
DATED = f"""SELECT * FROM ({STEP_ROWS.format(day="s.dt", missed="NULL")} IS NULL AND s.is_complete IN (0, 1)
    UNION ALL {STEP_ROWS.format(day=DUE_DAY, missed=MISSED)} IS NOT NULL
    UNION ALL SELECT NULL, title, id, NULL, due, NULL, NULL, NULL, NULL, NULL, 0, NULL, 'goal'
    FROM {OPEN_GOALS} WHERE due IS NOT NULL) WHERE {{which}} ORDER BY date, id"""

OVERDUE = "date < :today AND is_complete = 0"
IS_STEP = "kind IS NULL"


def select(db: Database, statement: str, **values: object) -> Cursor:
    """Rows of a query, such as DATED, that may call due_day and missed; of the present `user`, as of
    `today`."""
    db.create_function("due_day", 4, due_day)
    db.create_function("missed", 3, missed)
    return db.execute(statement, {"user": settings.user(), "today": f"{days.today()}"} | values)


def due_day(repeat: str | None, dt: str | None, changed_at: str, today: str) -> str | None:
    """Day on which an open step is due, as of `today`.

    - `repeat`: its rule; `dt`: the day that was set; `changed_at`: the stamp of its last change.
    """
    if not (repeat and dt):
        return dt
    current = date.fromisoformat(today)
    was_ahead = changed_at[:10] > f"{current + timedelta(CLOCK_DAYS)}"
    if (dt >= today and not was_ahead) or _follows_done(repeat):
        return dt
    return first_day(repeat, current) or last_day(repeat, dt, today)


def start_rule(repeat: str, day: date) -> str:
    """Start a rule on a day; a rule without days of its own gets that day's weekday or day of the month. A
    started rule keeps its start, unless it counts from when it is done."""
    parts = json.loads(repeat)
    if "after" in parts:
        parts.pop("on", None)
        parts.pop("start", None)
    every = parts["every"]
    if "on" not in parts and every != "day":
        parts["on"] = [day.isoweekday() if every == "week" else day.day]
    if "interval" in parts or every == "year" or "after" in parts:
        parts.setdefault("start", f"{day}")
    return json.dumps(parts, sort_keys=True)


def first_day(repeat: str, since: date) -> str | None:
    """First day of a rule from a day on; None once the rule is over."""
    return next(_days_of(repeat, f"{since}", LAST_DATE), None)


def last_day(repeat: str, dt: str, until: str) -> str:
    """Last day of a rule between `dt` and `until`; `dt` if it has none there."""
    return dt if _follows_done(repeat) else max([dt, *_days_of(repeat, dt, until)])


def missed(repeat: str, dt: str, due: str) -> int:
    """Number of days of a series that have passed undone, from the one its step was set to."""
    if dt >= due:
        return 0
    series_days = {dt, *_days_of(repeat, dt, due)}
    return len(series_days - {due})


def _days_of(repeat: str, first: str, last: str) -> Iterator[str]:
    """Days of a rule between two days, one by one: of its schedule only every n-th day, week or month counts,
    from its start on."""
    parts, schedule = _rule(repeat)
    every = parts["every"]
    # A series of every two weeks may begin in any week.
    interval = parts.get("interval", 1) if "start" in parts else 1
    if every == "year":
        interval *= MONTHS_OF_YEAR
    start = _period_number(every, days.ordinal(parts.get("start", BEGINNING)))
    last = min(last, parts.get("until", LAST_DATE))
    for day in schedule.days_due(days.ordinal(first), days.ordinal(last)):
        if (_period_number(every, day) - start) % interval == 0:
            yield f"{date.fromordinal(day)}"


def _period_number(every: str, day: int) -> int:
    """Number of the day, the ISO week, or (also for a year) the month that a day is in."""
    if every == "day":
        return day
    if every == "week":
        return days.monday(day) // days.WEEK
    parsed = date.fromordinal(day)
    return parsed.year * MONTHS_OF_YEAR + parsed.month


@lru_cache
def _rule(repeat: str) -> tuple[JsonObject, Schedule]:
    """Parse a rule: its parts and its schedule."""
    parts = json.loads(repeat)
    numbers = ",".join(map(str, parts.get("on", ())))
    return parts, schedule_of(FREQUENCY_OF[parts["every"]], numbers)


def _follows_done(repeat: str) -> bool:
    """True if a rule is counted again from each day on which its step is done."""
    return "after" in _rule(repeat)[0]
