"""Steps that repeat: one step is open at a time; the next is made when it is done. habits/due_days.py says
when.

Only the open step has the rule (`repeat`), and hands it over to the next. Deleting it ends the series.
"""

import json
from datetime import date, timedelta

from tools.toolkit import JsonObject

from ..base import fields, rules, texts
from ..habits import due_days
from .unit_of_work import StoredRow, UnitOfWork

WEEKDAYS = [name.lower() for name in texts.SHORT_WEEKDAYS["en"]]
# Columns that the next step of a series does not take over.
NOT_HANDED_ON = (
    "id",
    "dt",
    "progress",
    "is_complete",
    "completed_at",
    "completed_on",
    "updated_at",
)


# The field of a rule's days for each period; every day and every year have none.
DAYS_OF_PERIOD = {
    "week": fields.list_of(fields.WEEKDAY),
    "month": fields.list_of(fields.integer(1, 31)),
}
AS_SENT = fields.Field({}, "", lambda name, value: value)
PERIODS = {"day": "daily", "week": "weekly", "month": "monthly", "year": "yearly annually"}
RULE_PARTS = {
    "every": fields.choice(PERIODS, "FIELD_INVALID"),
    "interval": fields.integer(1, rules.LONGEST_INTERVAL),
    "on": AS_SENT,
    "until": fields.day(),
    "after": fields.choice({"done": ""}, "FIELD_INVALID"),
}


def _convert(name: str, value: object) -> str:
    """The JSON text of a rule; where it begins is added with the step's day."""
    if isinstance(value, str):
        value = {"every": value}
    rule = fields.object_of(RULE_PARTS, ("every",)).convert(name, value)
    if on := rule.pop("on", None):
        days_of_rule = DAYS_OF_PERIOD.get(rule["every"])
        if not days_of_rule or "after" in rule:
            raise fields.invalid(
                f"{name}.on", "left out: only weeks and months have days, unless it follows done"
            )
        rule["on"] = sorted(set(days_of_rule.parse(f"{name}.on", on)))
    return json.dumps(rule, sort_keys=True)


# How a step repeats.
RULE = fields.Field(
    {
        "type": "object",
        "description": "{every: day|week|month|year, interval, on: [tue]|[1], until, after: done}",
    },
    "object of every (day, week, month, year), interval, on (mon to sun, or 1 to 31), until, after (done)",
    _convert,
    nullable=True,
)


def start(unit: UnitOfWork, values: JsonObject, dt: str | None) -> None:
    """Start the rule of a step on the step's day, by default today; a step without a day gets the rule's
    first."""
    repeat = values.get("repeat")
    if not repeat:
        return
    if not dt and (dt := due_days.first_day(repeat, unit.today)):
        values["dt"] = dt
    values["repeat"] = due_days.start_rule(repeat, date.fromisoformat(dt) if dt else unit.today)


def make_next(unit: UnitOfWork, step: StoredRow, day: str) -> str | None:
    """Make the next step of a series and hand the rule over to it, when a step is done on `day`; return the
    new day, None if the series ends. A step done late counts for the last day of the rule up to then."""
    if step["repeat"] is None or not step["dt"]:
        return None

    row = unit.row("steps", step["id"])
    done = due_days.last_day(step["repeat"], min(row["dt"], step["dt"]), day)
    following = date.fromisoformat(max(done, day)) + timedelta(days=1)
    rule = due_days.start_rule(step["repeat"], date.fromisoformat(day))
    coming = due_days.first_day(rule, following)
    unit.change(step, {"repeat": None, "dt": done})
    if coming:
        values = {name: value for name, value in step.items() if name not in NOT_HANDED_ON}
        unit.create("steps", values | {"dt": coming, "repeat": rule})
    return coming


def compact(repeat: str) -> JsonObject:
    """A rule as a snapshot shows it."""
    parts: JsonObject = json.loads(repeat)
    start = parts.pop("start", None)
    if start and parts["every"] == "year":
        del parts["on"]
    if parts["every"] == "week":
        parts["on"] = [WEEKDAYS[number - 1] for number in parts["on"]]
    return parts
