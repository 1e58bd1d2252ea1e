"""Actions on the steps of a goal."""

from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.onepercent import fields, words, xp
from tools.onepercent.actions import Outcome, action, changed, entry, stored, twin
from tools.onepercent.actions.goals import GOAL
from tools.onepercent.actions.unit_of_work import Row, UnitOfWork

PRIORITIES = ("critical", "important", "attention", "optional")
LAST_PLACE = 1_000_000

STEP = fields.Reference()
CONTENT: JsonObject = {
    "title": fields.Text(500, line=True),
    "description": fields.Text(2000),
    "priority": fields.Choice(PRIORITIES, "INVALID_PRIORITY", default="attention"),
    "dt": fields.Day(empty=True),
    "time_duration": fields.Duration(),
    "order": fields.Whole(0, LAST_PLACE, empty=True),
}

COMPLETION = ("step.complete", "step.reopen")

FEW_MINUTES = 5
"""A duration below it was probably meant in hours."""


@action("step.create", {"goal_id": GOAL, **CONTENT}, required=("goal_id", "title"))
def create(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Add a step to a goal."""
    goal = unit.find("goal", params["goal_id"])
    values = {"priority": "attention"} | params | {"goal_id": goal["id"]}
    same = twin(unit, "steps", "title", values["title"], "is_complete = 0 AND goal_id = ?", goal["id"])
    step_id = unit.create("step", values)
    creation = {"entity": "step", "title": values["title"], "goal_title": goal["title"], **_stored(values)}
    return Outcome([("creates", creation)], created_id=step_id, warnings=same + _odd(unit, values["title"], params))


@action("step.update", {"step_id": STEP, "goal_id": GOAL, **CONTENT}, required=("step_id",), partial=True)
def update(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Change a step's title, description, date, priority, duration, order or goal."""
    step = unit.find("step", params.pop("step_id"))
    shown = _entry(unit, step)
    goal = unit.find("goal", params["goal_id"]) if "goal_id" in params else None
    values, changes = changed(step, params | ({"goal_id": goal["id"]} if goal else {}))
    if goal and "goal_id" in changes:
        changes["goal_id"]["to"] = unit.shown_id("goal", goal["id"])
        changes["goal_title"] = {"from": shown["goal_title"], "to": goal["title"]}
    unit.change("steps", step, values)
    title = values["title"] if "title" in values else step["title"]
    return Outcome([("updates", {**shown, "changes": changes})], warnings=_odd(unit, title, values))


@action("step.complete", {"step_id": STEP}, required=("step_id",))
def complete(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Complete a step."""
    step = unit.find("step", params["step_id"])
    if step["is_complete"]:
        raise ToolError("Step already completed", "step.reopen takes it back.", code="ALREADY_COMPLETED")
    completion = _entry(unit, step)
    unit.change("steps", step, {"is_complete": 1, "completed_at": unit.stamp})
    earned = unit.earn(xp.STEP_COMPLETED - unit.brought(COMPLETION, step["id"]), "step.complete", step["id"])
    return Outcome([("completions", completion | {"xp_reward": earned})], xp=earned)


@action("step.reopen", {"step_id": STEP}, required=("step_id",))
def reopen(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Reopen a step and take back the XP of its completion."""
    step = unit.find("step", params["step_id"])
    if not step["is_complete"]:
        raise ToolError("Step is not completed", "Nothing is left to take back.", code="NOT_COMPLETED")
    _, changes = changed(step, {"is_complete": 0})
    shown = _entry(unit, step)
    unit.change("steps", step, {"is_complete": 0, "completed_at": None})
    earned = unit.earn(-unit.brought(COMPLETION, step["id"]), "step.reopen", step["id"])
    return Outcome([("updates", shown | {"changes": changes, "xp_reward": earned})], xp=earned)


@action("step.delete", {"step_id": STEP}, required=("step_id",))
def delete(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Delete a step; the XP earned stays."""
    step = unit.find("step", params["step_id"])
    deletion = _entry(unit, step)
    unit.change("steps", step, {"deleted_at": unit.stamp})
    return Outcome([("deletes", deletion)])


def _entry(unit: UnitOfWork, step: Row) -> JsonObject:
    goal = unit.read("goals", step["goal_id"])
    return entry(unit, "step", step) | {"goal_title": goal["title"] if goal else ""}


def _stored(values: JsonObject) -> JsonObject:
    shown = stored(values, ("dt", "priority", "time_duration", "description", "order"))
    return shown | ({"time_duration": fields.duration(values["time_duration"])} if "time_duration" in shown else {})


def _odd(unit: UnitOfWork, title: str, params: JsonObject) -> list[str]:
    """Warnings about a date in the past, and about minutes that were probably meant as hours."""
    warnings = []
    if params.get("dt") and params["dt"] < unit.today.isoformat():
        warnings.append(words.say("warn.past", title=words.quoted(title), day=words.day(params["dt"])))
    if (params.get("time_duration") or FEW_MINUTES) < FEW_MINUTES:
        minutes = words.duration(params["time_duration"])
        warnings.append(words.say("warn.minutes", title=words.quoted(title), minutes=minutes))
    return warnings
