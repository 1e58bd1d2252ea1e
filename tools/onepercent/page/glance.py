"""The data of the days' page: one day, its habits' last week, and the sums of each day of some weeks."""

from datetime import date, timedelta

from tools.core.json_types import JsonObject
from tools.onepercent.database import Database
from tools.onepercent.days import WEEK
from tools.onepercent.habits.histories import histories
from tools.onepercent.snapshot import present
from tools.onepercent.snapshot.history import past

DAYS_SHOWN = 28

# Those of the day, those done on it, and today also those that are late.
STEPS = """SELECT s.id, s.title, g.title AS goal, s.dt AS date, s.priority, s.time_duration AS minutes, s.is_complete AS done
    FROM steps s JOIN goals g ON g.id = s.goal_id
    WHERE s.user = :user AND s.deleted_at IS NULL AND g.archived_at IS NULL AND (s.dt = :day OR s.completed_on = :day
    OR (:day = :today AND s.dt < :today AND s.is_complete = 0)) ORDER BY s.dt, s.id"""


def glance(db: Database, user: str, today: date, day: date, first: date, last: date) -> JsonObject:
    """The data that the page draws of a day, and of the days between two others: `sums` has a list per day, beginning as long
    before as they are many: habits kept and due, XP, steps done, days with a diary entry."""
    length = (last - first).days + 1
    since = first - timedelta(length)
    named = {"user": user, "today": today.isoformat(), "day": day.isoformat()}
    told = past(db, user, since, last, today)
    sums = [told.sums(each, each) for each in (since + timedelta(place) for place in range(2 * length))]
    end, view = (day - since).days + 1, present.View(user, today, day.isoformat(), day.isoformat())
    return {
        **named,
        "first": first.isoformat(),
        "last": last.isoformat(),
        "sums": [[of.kept, of.due, of.xp, of.steps, of.diary] for of in sums],
        "week": {habit.id: habit.signs[max(end - WEEK, 0) : end] for habit in told.habits},
        "weekly": [it.habit["id"] for it in histories(db, user, today) if it.course.at(today.toordinal()).times],
        "steps": [dict(row) for row in db.execute(STEPS, named)],
        **{name: present.SECTIONS[name](db, view) for name in ("habits", "goals", "xp", "ssp")},
    }
