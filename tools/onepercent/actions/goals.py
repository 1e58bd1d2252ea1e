"""Actions on goals, and the steps that come with a new one."""

from dataclasses import replace
from typing import Any

from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.onepercent import fields
from tools.onepercent.actions import (
    Outcome,
    action,
    appended,
    changed,
    diff_value,
    entry,
    repeats,
    same_title,
    set_archived,
    stored,
)
from tools.onepercent.actions.unit_of_work import UnitOfWork
from tools.onepercent.database import Row
from tools.onepercent.rules import FEWEST_LIKELY_MINUTES, GOAL_COMPLETED
from tools.onepercent.words import Warning

CATEGORIES = ("work", "health_sport", "welfare", "family", "environment", "hobby")
PRIORITIES = ("critical", "important", "attention", "optional")
LAST_PLACE = 1_000_000

GOAL = replace(fields.KEY, words=f"{fields.KEY.words}, or null", takes_null=True)
ONLY_GOAL = {"goal_id": GOAL}
TEXTS = {name: fields.text(2000) for name in ("why_important", "why_give_me", "why_about_me")}
CONTENT = {
    "title": fields.text(500, line=True),
    "category": fields.choice(CATEGORIES, "INVALID_CATEGORY", default="work"),
    **TEXTS,
    "due": fields.day(empty=True),
}
STEP_CONTENT: dict[str, fields.Field] = {
    "title": fields.text(500, line=True),
    "description": fields.text(2000),
    "priority": fields.choice(PRIORITIES, "INVALID_PRIORITY", default="attention"),
    "dt": fields.day(empty=True),
    "time_duration": fields.DURATION,
    "order": fields.whole(0, LAST_PLACE, empty=True),
    "repeat": repeats.RULE,
}
IN_A_LIST = {name: field for name, field in STEP_CONTENT.items() if name != "order"}
STEPS = fields.several(fields.record(IN_A_LIST, ("title",)), "as step.create", empty=True)

COMPLETION = ("goal.complete", "goal.reopen")


@action("goal.create", {**CONTENT, "steps": STEPS}, "title")
def create(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Create a goal, with its steps if they come along; from here on `goal_id: null` refers to it."""
    steps = params.pop("steps", None)
    values = {"category": "work"} | params
    outcome = Outcome([("creates", {"entity": "goal", **stored(values, CONTENT)})])
    outcome.warnings += same_title(unit, "goals", values["title"], "status = 'work' AND archived_at IS NULL")
    outcome.warnings += odd(unit, values["title"], {"dt": params.get("due")})
    outcome.created_id = unit.latest_goal = unit.create("goal", values)
    if steps:
        add_steps(unit, outcome.created_id, steps, outcome)
    return outcome


@action("goal.update", {**ONLY_GOAL, **CONTENT, "append": fields.record(TEXTS)}, "goal_id")
def update(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Change a goal; `append` adds to texts."""
    goal = unit.find("goal", params.pop("goal_id"))
    values, changes = changed(goal, appended(goal, params, TEXTS))
    unit.change("goals", goal, values)
    return Outcome([("updates", entry(unit, "goal", goal, changes=changes))])


@action("goal.complete", ONLY_GOAL, "goal_id")
def complete(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Complete a goal; its unfinished steps stay unfinished."""
    goal = unit.find("goal", params["goal_id"])
    if goal["status"] == "complete":
        raise ToolError("Goal already completed", "goal.reopen undoes it.", code="ALREADY_COMPLETED")
    completion = {"status": "complete", "completed_at": unit.stamp, "completed_on": unit.day}
    unit.change("goals", goal, completion)
    earned = unit.earn(GOAL_COMPLETED - unit.xp_from(COMPLETION, goal["id"]), "goal.complete", goal["id"])
    left = sum(not step["is_complete"] for step in steps_of(unit, goal["id"]))
    warnings = [("warn.open_steps", {"title": goal["title"], "open_steps": left})] if left else []
    reached = entry(unit, "goal", goal, xp_reward=earned)
    return Outcome([("completions", reached)], xp=earned, warnings=warnings)


@action("goal.reopen", ONLY_GOAL, "goal_id")
def reopen(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Reopen a goal and take back the XP of its completion."""
    goal = unit.find("goal", params["goal_id"])
    if goal["status"] == "work":
        raise ToolError("Goal is not completed", "There is nothing to undo.", code="NOT_COMPLETED")
    _, changes = changed(goal, {"status": "work"})
    unit.change("goals", goal, {"status": "work", "completed_at": None, "completed_on": None})
    earned = unit.earn(-unit.xp_from(COMPLETION, goal["id"]), "goal.reopen", goal["id"])
    reopened = entry(unit, "goal", goal, changes=changes, xp_reward=earned)
    return Outcome([("updates", reopened)], xp=earned)


@action("goal.archive", ONLY_GOAL, "goal_id")
def archive(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Put a goal with its steps out of sight; nothing of it is lost."""
    return set_archived(unit, "goal", unit.find("goal", params["goal_id"]), archived=True)


@action("goal.unarchive", ONLY_GOAL, "goal_id")
def unarchive(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Bring an archived goal back."""
    return set_archived(unit, "goal", unit.find("goal", params["goal_id"]), archived=False)


@action("goal.delete", ONLY_GOAL, "goal_id")
def delete(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Delete a goal with its steps; the XP earned stays."""
    goal = unit.find("goal", params["goal_id"])
    steps = steps_of(unit, goal["id"])
    for step in steps:
        unit.change("steps", step, {"deleted_at": unit.stamp})
    unit.change("goals", goal, {"deleted_at": unit.stamp})
    deletion = entry(unit, "goal", goal)
    if steps:
        deletion["steps_deleted"] = len(steps)
    return Outcome([("deletes", deletion)])


def steps_of(unit: UnitOfWork, goal_id: int) -> list[Row]:
    """The undeleted steps of a goal, read so that another session's change of them is noticed."""
    statement = "SELECT id FROM steps WHERE goal_id = ? AND deleted_at IS NULL ORDER BY id"
    ids = unit.db.execute(statement, (goal_id,)).fetchall()
    return [unit.find("step", step_id) for (step_id,) in ids]


def add_steps(unit: UnitOfWork, goal_id: int, steps: list[JsonObject], outcome: Outcome) -> None:
    """Add steps to a goal; the last entry of the outcome gets a row for each."""
    for step in steps:
        outcome.warnings += odd_step(unit, goal_id, step)
        values = with_first_day(unit, {"priority": "attention"} | step | {"goal_id": goal_id})
        outcome.created_steps.append(unit.create("step", values))
    outcome.entries[-1][1]["rows"] = [_row(step) for step in steps]


def _row(step: JsonObject) -> list[Any]:
    """A new step in a diff: title, date, minutes; priority and description if there are any."""
    description = step.get("description")
    priority = step.get("priority", "attention")
    row = [step["title"], step.get("dt"), step.get("time_duration"), priority]
    if description:
        return [*row, diff_value("description", description)]
    return row[:3] if priority == "attention" else row


def with_first_day(unit: UnitOfWork, values: JsonObject) -> JsonObject:
    """The values of a new step; one that repeats begins on the first day of its rule unless it has a date."""
    if values.get("repeat") and not values.get("dt"):
        return values | {"dt": repeats.first_day(values["repeat"], unit.today)}
    return values


def odd_step(unit: UnitOfWork, goal_id: int, step: JsonObject) -> list[Warning]:
    """Warnings about a new step."""
    same = same_title(unit, "steps", step["title"], "is_complete = 0 AND goal_id = ?", goal_id)
    return same + odd(unit, step["title"], step)


def odd(unit: UnitOfWork, title: str, params: JsonObject) -> list[Warning]:
    """Warnings about a date in the past, and about minutes that were probably meant as hours."""
    warnings: list[Warning] = []
    if params.get("dt") and params["dt"] < unit.day:
        warnings.append(("warn.past", {"title": title, "day": params["dt"]}))
    if (params.get("time_duration") or FEWEST_LIKELY_MINUTES) < FEWEST_LIKELY_MINUTES:
        warnings.append(("warn.minutes", {"title": title, "minutes": params["time_duration"]}))
    return warnings
