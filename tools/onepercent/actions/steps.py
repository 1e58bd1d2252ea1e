"""Actions on the steps of a goal."""

from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.onepercent import fields, words, xp
from tools.onepercent.actions import Outcome, action, changed, entry, stored, twin
from tools.onepercent.actions.goals import GOAL
from tools.onepercent.actions.work import Row, Work

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
def create(work: Work, given: JsonObject) -> Outcome:
    """A new step of a goal."""
    goal = work.find("goal", given["goal_id"])
    values = {"priority": "attention"} | given | {"goal_id": goal["id"]}
    same = twin(work, "steps", "title", values["title"], "is_complete = 0 AND goal_id = ?", goal["id"])
    step_id = work.create("step", values)
    found = {"entity": "step", "title": values["title"], "goal_title": goal["title"], **_stored(values)}
    return Outcome([("creates", found)], created_id=step_id, warnings=same + _odd(work, values["title"], given))


@action("step.update", {"step_id": STEP, "goal_id": GOAL, **CONTENT}, required=("step_id",), partial=True)
def update(work: Work, given: JsonObject) -> Outcome:
    """Another title, date, priority, duration, place or goal for a step."""
    step = work.find("step", given.pop("step_id"))
    found = _entry(work, step)
    goal = work.find("goal", given["goal_id"]) if "goal_id" in given else None
    values, changes = changed(step, given | ({"goal_id": goal["id"]} if goal else {}))
    if goal and "goal_id" in changes:
        changes["goal_id"]["to"] = work.shown_id("goal", goal["id"])
        changes["goal_title"] = {"from": found["goal_title"], "to": goal["title"]}
    work.change("steps", step, values)
    title = values.get("title", step["title"])
    return Outcome([("updates", {**found, "changes": changes})], warnings=_odd(work, title, values))


@action("step.complete", {"step_id": STEP}, required=("step_id",))
def complete(work: Work, given: JsonObject) -> Outcome:
    """A step is done."""
    step = work.find("step", given["step_id"])
    if step["is_complete"]:
        raise ToolError("Step already completed", "step.reopen takes it back.", code="ALREADY_COMPLETED")
    found = _entry(work, step)
    work.change("steps", step, {"is_complete": 1, "completed_at": work.stamp})
    earned = work.earn(xp.STEP_COMPLETED - work.brought(COMPLETION, step["id"]), "step.complete", step["id"])
    return Outcome([("completions", found | {"xp_reward": earned})], xp=earned)


@action("step.reopen", {"step_id": STEP}, required=("step_id",))
def reopen(work: Work, given: JsonObject) -> Outcome:
    """A step is open again; the XP of its completion is taken back."""
    step = work.find("step", given["step_id"])
    if not step["is_complete"]:
        raise ToolError("Step is not completed", "Nothing is left to take back.", code="NOT_COMPLETED")
    _, changes = changed(step, {"is_complete": 0})
    found = _entry(work, step)
    work.change("steps", step, {"is_complete": 0, "completed_at": None})
    earned = work.earn(-work.brought(COMPLETION, step["id"]), "step.reopen", step["id"])
    return Outcome([("updates", found | {"changes": changes, "xp_reward": earned})], xp=earned)


@action("step.delete", {"step_id": STEP}, required=("step_id",))
def delete(work: Work, given: JsonObject) -> Outcome:
    """A step goes; its XP stays."""
    step = work.find("step", given["step_id"])
    found = _entry(work, step)
    work.change("steps", step, {"deleted_at": work.stamp})
    return Outcome([("deletes", found)])


def _entry(work: Work, step: Row) -> JsonObject:
    return entry(work, "step", step) | {"goal_title": work.read("goals", step["goal_id"])["title"]}


def _stored(values: JsonObject) -> JsonObject:
    found = stored(values, ("dt", "priority", "time_duration", "description", "order"))
    return found | ({"time_duration": fields.duration(values["time_duration"])} if "time_duration" in found else {})


def _odd(work: Work, title: str, given: JsonObject) -> list[str]:
    """Warnings about a date gone by, and minutes that were probably meant as hours."""
    warnings = []
    if given.get("dt") and given["dt"] < work.today.isoformat():
        warnings.append(words.say("warn.past", title=words.quoted(title), day=words.day(given["dt"])))
    if (given.get("time_duration") or FEW_MINUTES) < FEW_MINUTES:
        minutes = words.duration(given["time_duration"])
        warnings.append(words.say("warn.minutes", title=words.quoted(title), minutes=minutes))
    return warnings
