"""Steps that repeat: one step is ahead at a time; the next is made when it is done or its day is over.

Only the step ahead has the rule (`repeat`), and hands it over to the next. Deleting it ends the series.
"""

import json
from contextlib import suppress
from datetime import date, timedelta
from typing import Any

from tools.core import settings as core_settings
from tools.core import toolsets
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.onepercent import days, fields, settings, texts
from tools.onepercent.actions.unit_of_work import UnitOfWork
from tools.onepercent.database import Row, store
from tools.onepercent.habits import schedules

WEEKDAYS = [name.lower() for name in texts.SHORT_WEEKDAYS["en"]]
KINDS = {"day": "daily", "week": "custom", "month": "monthly"}
"""The frequency of a habit that is due on the same days."""
LONGEST_MONTH = 31  # days in which each rule has a day

COPIED = ("goal_id", "title", "description", "priority", "time_duration", "order", "repeat")

# What repeats of an open goal and was due before a day.
ENDED = """SELECT s.id FROM steps s JOIN goals g ON g.id = s.goal_id
    WHERE s.user = ? AND s.dt < ? AND s.repeat IS NOT NULL AND s.deleted_at IS NULL
    AND g.status = 'work' AND g.archived_at IS NULL ORDER BY s.id"""


def _weekday(name: str, value: object) -> int:
    short = str(value).strip().lower()[:3]
    if short in WEEKDAYS:
        return WEEKDAYS.index(short) + 1
    return int(fields.whole(1, 7).convert(name, value))


ON = {
    "week": fields.several(fields.Field({}, "weekdays", _weekday)),
    "month": fields.several(fields.whole(1, 31)),
}
"""The days of a rule; one of every day has none."""
AS_SENT = fields.Field({}, "", lambda name, value: value)
PARTS = {"every": fields.choice(KINDS, "FIELD_INVALID"), "on": AS_SENT, "until": fields.day()}


def _convert(name: str, value: object) -> str:
    """The JSON text of a rule."""
    rule = fields.record(PARTS, ("every",)).convert(name, value)
    days_of_rule = ON.get(rule["every"])
    on = rule.pop("on", None)
    if bool(days_of_rule) != bool(on):
        raise fields.invalid(f"{name}.on", "weekdays (mon to sun) of a week or days (1 to 31) of a month")

    if days_of_rule:
        rule["on"] = sorted(set(days_of_rule.read(f"{name}.on", on)))
    return json.dumps(rule, sort_keys=True)


RULE = fields.Field(
    {"type": "object", "description": "{every: day|week|month, on: [tue]|[1], until}"},
    "object of every (day, week, month), on (mon to sun, or 1 to 31), until",
    _convert,
    empty=True,
)
"""How a step repeats."""


def first_day(repeat: str, since: date) -> str | None:
    """The first day of a rule from a day on; None once it is over."""
    parts = json.loads(repeat)
    detail = ",".join(map(str, parts.get("on", ())))
    schedule = schedules.schedule(KINDS[parts["every"]], detail)
    start = since.toordinal()
    due = next(iter(schedule.due(start, start + LONGEST_MONTH)))
    day = f"{date.fromordinal(due)}"
    return None if day > parts.get("until", schedules.LAST) else day


def go_on(unit: UnitOfWork, step: Row, since: date) -> str | None:
    """Make the step that comes next, on or after a day, and hand the rule over to it; return its day, None if
    there is none."""
    if step["repeat"] is None or not step["dt"]:
        return None

    since = max(since, date.fromisoformat(step["dt"]) + timedelta(days=1))
    coming = first_day(step["repeat"], since)
    unit.change("steps", step, {"repeat": None})
    if coming:
        values: dict[str, Any] = {name: step[name] for name in COPIED}
        unit.create("step", values | {"dt": coming})
    return coming


def catch_up() -> None:
    """Make the next step of each series whose day is over; nothing if the database is only read."""
    if toolsets.only_reads(core_settings.current(), "onepercent"):
        return
    user = settings.user()
    with suppress(ToolError):
        with store.reading() as db:
            today = days.today()
            if db.execute(ENDED, (user, today.isoformat())).fetchone() is None:
                return
        with store.writing() as db:
            advance(UnitOfWork(db, user, days.now(), today))


def advance(unit: UnitOfWork) -> None:
    """Make the next step of each series whose day is over, if its goal is open."""
    for step in unit.find_all("step", ENDED, unit.day):
        go_on(unit, step, unit.today)


def compact(repeat: str) -> JsonObject:
    """A rule as a snapshot shows it."""
    parts: JsonObject = json.loads(repeat)
    if parts["every"] == "week":
        parts["on"] = [WEEKDAYS[number - 1] for number in parts["on"]]
    return parts
