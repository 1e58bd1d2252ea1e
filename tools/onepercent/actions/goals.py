"""Actions on goals."""

from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.onepercent import fields, words, xp
from tools.onepercent.actions import Outcome, action, changed, entry, stored, twin
from tools.onepercent.actions.unit_of_work import Row, UnitOfWork

CATEGORIES = ("work", "health_sport", "welfare", "family", "environment", "hobby")

GOAL = fields.Reference(latest=True)
CONTENT: JsonObject = {
    "title": fields.Text(500, line=True),
    "category": fields.Choice(CATEGORIES, "INVALID_CATEGORY", default="work"),
    "why_important": fields.Text(2000),
    "why_give_me": fields.Text(2000),
    "why_about_me": fields.Text(2000),
}

COMPLETION = ("goal.complete", "goal.reopen")


@action("goal.create", CONTENT, required=("title",))
def create(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Create a goal; from here on `goal_id: null` refers to it."""
    values = {"category": "work"} | params
    warnings = twin(unit, "goals", "title", values["title"], "status = 'work'")
    goal_id = unit.create("goal", values)
    unit.latest_goal = goal_id
    return Outcome([("creates", {"entity": "goal", **stored(values, CONTENT)})], created_id=goal_id, warnings=warnings)


@action("goal.update", {"goal_id": GOAL, **CONTENT}, required=("goal_id",), partial=True)
def update(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Change the texts or the category of a goal."""
    goal = unit.find("goal", params.pop("goal_id"))
    values, changes = changed(goal, params)
    unit.change("goals", goal, values)
    return Outcome([("updates", {**entry(unit, "goal", goal), "changes": changes})])


@action("goal.complete", {"goal_id": GOAL}, required=("goal_id",))
def complete(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Complete a goal; its unfinished steps stay unfinished."""
    goal = unit.find("goal", params["goal_id"])
    if goal["status"] == "complete":
        raise ToolError("Goal already completed", "goal.reopen takes it back.", code="ALREADY_COMPLETED")
    unit.change("goals", goal, {"status": "complete", "completed_at": unit.stamp})
    earned = unit.earn(xp.GOAL_COMPLETED - unit.brought(COMPLETION, goal["id"]), "goal.complete", goal["id"])
    left = sum(not step["is_complete"] for step in _steps(unit, goal["id"]))
    warning = words.say("warn.open_steps", title=words.quoted(goal["title"]), steps=words.open_steps(left))
    completion = {**entry(unit, "goal", goal), "xp_reward": earned}
    return Outcome([("completions", completion)], xp=earned, warnings=[warning] if left else [])


@action("goal.reopen", {"goal_id": GOAL}, required=("goal_id",))
def reopen(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Reopen a goal and take back the XP of its completion."""
    goal = unit.find("goal", params["goal_id"])
    if goal["status"] == "work":
        raise ToolError("Goal is not completed", "Nothing is left to take back.", code="NOT_COMPLETED")
    _, changes = changed(goal, {"status": "work"})
    unit.change("goals", goal, {"status": "work", "completed_at": None})
    earned = unit.earn(-unit.brought(COMPLETION, goal["id"]), "goal.reopen", goal["id"])
    reopened = {**entry(unit, "goal", goal), "changes": changes, "xp_reward": earned}
    return Outcome([("updates", reopened)], xp=earned)


@action("goal.delete", {"goal_id": GOAL}, required=("goal_id",))
def delete(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Delete a goal with its steps; the XP earned stays."""
    goal = unit.find("goal", params["goal_id"])
    steps = [row for step in _steps(unit, goal["id"]) if (row := unit.read("steps", step["id"]))]
    for step in steps:
        unit.change("steps", step, {"deleted_at": unit.stamp})
    unit.change("goals", goal, {"deleted_at": unit.stamp})
    return Outcome([("deletes", entry(unit, "goal", goal) | ({"steps_deleted": len(steps)} if steps else {}))])


def _steps(unit: UnitOfWork, goal_id: int) -> list[Row]:
    undeleted = "SELECT id, is_complete FROM steps WHERE goal_id = ? AND deleted_at IS NULL ORDER BY id"
    return unit.db.execute(undeleted, (goal_id,)).fetchall()
