"""Steps that repeat: one step of a series is open; the next is made when it is done, on a day that
habits/due_days.py finds.

Only the open step has the rule (`repeat`), and hands it over to the next. Deleting it ends the series.
"""

import json
from datetime import date, timedelta

from tools.toolkit import JsonObject

from ..base import fields, rules, texts
from ..habits import due_days
from .unit_of_work import StoredRow, UnitOfWork

# As a rule names them: mon, tue …
RULE_WEEKDAYS = [name.lower() for name in texts.SHORT_WEEKDAYS["en"]]
# Columns that the next step of a series does not take over.
NOT_HANDED_OVER = (
    "id",
    "dt",
    "progress",
    "is_complete",
    "completed_at",
    "completed_on",
    "updated_at",
)


# The field of a rule's days by period; every day and every year have none.
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


def _rule_as_json(name: str, value: object) -> str:
    """Write a rule as JSON text; `start_series` adds where it begins."""
    if isinstance(value, str):
        value = {"every": value}
    rule = fields.object_of(RULE_PARTS, ("every",)).convert(name, value)
    if on := rule.pop("on", None):
        days_field = DAYS_OF_PERIOD.get(rule["every"])
        if not days_field or "after" in rule:
            raise fields.invalid_error(
                f"{name}.on", "left out: only weeks and months have days, unless it follows done"
            )
        rule["on"] = sorted(set(days_field.parse(f"{name}.on", on)))
    return json.dumps(rule, sort_keys=True)


# The rule by which a step repeats.
RULE = fields.Field(
    {
        "type": "object",
        "description": "{every: day|week|month|year, interval, on: [tue]|[1], until, after: done}",
    },
    "object of every (day, week, month, year), interval, on (mon to sun, or 1 to 31), until, after (done)",
    _rule_as_json,
    nullable=True,
)


def start_series(unit: UnitOfWork, values: JsonObject, dt: str | None) -> None:
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
    next step's day, None if the series ends. A step done late counts for the rule's last day up to then."""
    if step["repeat"] is None or not step["dt"]:
        return None

    stored = unit.row("steps", step["id"])
    done_for = due_days.last_day(step["repeat"], min(stored["dt"], step["dt"]), day)
    earliest = date.fromisoformat(max(done_for, day)) + timedelta(days=1)
    rule = due_days.start_rule(step["repeat"], date.fromisoformat(day))
    next_day = due_days.first_day(rule, earliest)
    unit.change(step, {"repeat": None, "dt": done_for})
    if next_day:
        values = {name: value for name, value in step.items() if name not in NOT_HANDED_OVER}
        unit.create("steps", values | {"dt": next_day, "repeat": rule})
    return next_day


def compact(repeat: str) -> JsonObject:
    """A rule as a snapshot shows it, without the parts that a reader can infer."""
    parts: JsonObject = json.loads(repeat)
    start = parts.pop("start", None)
    if start and parts["every"] == "year":
        del parts["on"]
    if parts["every"] == "week":
        parts["on"] = [RULE_WEEKDAYS[number - 1] for number in parts["on"]]
    return parts
