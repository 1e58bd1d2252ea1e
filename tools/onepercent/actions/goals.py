"""Actions on goals."""

from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.onepercent import fields, words, xp
from tools.onepercent.actions import Outcome, action, changed, entry, stored, twin
from tools.onepercent.actions.work import Row, Work

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
def create(work: Work, given: JsonObject) -> Outcome:
    """A new goal, which `goal_id: null` means from here on."""
    values = {"category": "work"} | given
    warnings = twin(work, "goals", "title", values["title"], "status = 'work'")
    goal_id = work.create("goal", values)
    work.latest_goal = goal_id
    return Outcome([("creates", {"entity": "goal", **stored(values, CONTENT)})], created_id=goal_id, warnings=warnings)


@action("goal.update", {"goal_id": GOAL, **CONTENT}, required=("goal_id",), partial=True)
def update(work: Work, given: JsonObject) -> Outcome:
    """Other words for a goal, or another category."""
    goal = work.find("goal", given.pop("goal_id"))
    values, changes = changed(goal, given)
    work.change("goals", goal, values)
    return Outcome([("updates", {**entry(work, "goal", goal), "changes": changes})])


@action("goal.complete", {"goal_id": GOAL}, required=("goal_id",))
def complete(work: Work, given: JsonObject) -> Outcome:
    """A goal is reached; unfinished steps stay unfinished."""
    goal = work.find("goal", given["goal_id"])
    if goal["status"] == "complete":
        raise ToolError("Goal already completed", "goal.reopen takes it back.", code="ALREADY_COMPLETED")
    work.change("goals", goal, {"status": "complete", "completed_at": work.stamp})
    earned = work.earn(xp.GOAL_COMPLETED - work.brought(COMPLETION, goal["id"]), "goal.complete", goal["id"])
    left = sum(not step["is_complete"] for step in _steps(work, goal["id"]))
    warning = words.say("warn.open_steps", title=words.quoted(goal["title"]), steps=words.open_steps(left))
    found = {**entry(work, "goal", goal), "xp_reward": earned}
    return Outcome([("completions", found)], xp=earned, warnings=[warning] if left else [])


@action("goal.reopen", {"goal_id": GOAL}, required=("goal_id",))
def reopen(work: Work, given: JsonObject) -> Outcome:
    """A goal is worked on again; the XP of its completion is taken back."""
    goal = work.find("goal", given["goal_id"])
    if goal["status"] == "work":
        raise ToolError("Goal is not completed", "Nothing is left to take back.", code="NOT_COMPLETED")
    _, changes = changed(goal, {"status": "work"})
    work.change("goals", goal, {"status": "work", "completed_at": None})
    earned = work.earn(-work.brought(COMPLETION, goal["id"]), "goal.reopen", goal["id"])
    found = {**entry(work, "goal", goal), "changes": changes, "xp_reward": earned}
    return Outcome([("updates", found)], xp=earned)


@action("goal.delete", {"goal_id": GOAL}, required=("goal_id",))
def delete(work: Work, given: JsonObject) -> Outcome:
    """A goal goes, with its steps; its XP stays."""
    goal = work.find("goal", given["goal_id"])
    steps = [work.read("steps", step["id"]) for step in _steps(work, goal["id"])]
    for step in steps:
        work.change("steps", step, {"deleted_at": work.stamp})
    work.change("goals", goal, {"deleted_at": work.stamp})
    return Outcome([("deletes", entry(work, "goal", goal) | ({"steps_deleted": len(steps)} if steps else {}))])


def _steps(work: Work, goal_id: int) -> list[Row]:
    undeleted = "SELECT id, is_complete FROM steps WHERE goal_id = ? AND deleted_at IS NULL ORDER BY id"
    return work.db.execute(undeleted, (goal_id,)).fetchall()
