"""Steps that repeat: one step is open at a time; the next is made when it is done. habits/due_days.py says when.

Only the open step has the rule (`repeat`), and hands it over to the next. Deleting it ends the series.
"""

import json
from datetime import date, timedelta

from tools.core.json_types import JsonObject
from tools.onepercent import fields, texts
from tools.onepercent.actions.unit_of_work import UnitOfWork
from tools.onepercent.database import Row
from tools.onepercent.habits import due_days

WEEKDAYS = [name.lower() for name in texts.SHORT_WEEKDAYS["en"]]
# Columns of a step that the next of its series does not take over.
OWN = ("id", "dt", "progress", "is_complete", "completed_at", "completed_on", "updated_at")


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
PARTS = {"every": fields.choice(due_days.KINDS, "FIELD_INVALID"), "on": AS_SENT, "until": fields.day()}


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


def go_on(unit: UnitOfWork, step: Row, day: str) -> str | None:
    """Hand the rule of a step that is done on a day over to the next one, which is made; return its day, None if there
    is none. What is done late, while a later day is due already, was due on the last day of the rule before."""
    if step["repeat"] is None or not step["dt"]:
        return None

    row = unit.read("steps", step["id"]) or step
    done = due_days.last_day(step["repeat"], min(row["dt"], step["dt"]), day)
    following = date.fromisoformat(max(done, day)) + timedelta(days=1)
    coming = due_days.first_day(step["repeat"], following)
    unit.change("steps", step, {"repeat": None, "dt": done})
    if coming:
        values = {name: value for name, value in dict(step).items() if name not in OWN}
        unit.create("step", values | {"dt": coming})
    return coming


def compact(repeat: str) -> JsonObject:
    """A rule as a snapshot shows it."""
    parts: JsonObject = json.loads(repeat)
    if parts["every"] == "week":
        parts["on"] = [WEEKDAYS[number - 1] for number in parts["on"]]
    return parts
