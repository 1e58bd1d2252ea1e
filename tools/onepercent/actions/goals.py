"""Actions on goals."""

from typing import Any

from tools.errors import ToolError
from tools.onepercent import fields, xp
from tools.onepercent.actions import Outcome, action, changed, entry
from tools.onepercent.work import Row, Work

CATEGORIES = ("work", "health_sport", "welfare", "family", "environment", "hobby")

GOAL = fields.Reference(latest=True)
CONTENT = {
    "title": fields.Text(500, line=True),
    "category": fields.Choice(CATEGORIES, "INVALID_CATEGORY"),
    "why_important": fields.Text(2000),
    "why_give_me": fields.Text(2000),
    "why_about_me": fields.Text(2000),
}


@action("goal.create", CONTENT, required=("title",))
def create(work: Work, given: dict[str, Any]) -> Outcome:
    """A new goal, which `goal_id: null` means from here on."""
    values = {"category": "work"} | given
    goal_id = work.create("goal", values)
    work.latest_goal = goal_id
    found = {"entity": "goal", "title": values["title"], "category": values["category"]}
    return Outcome([("creates", found)], f"Цель '{values['title']}' создана", goal_id)


@action("goal.update", {"goal_id": GOAL, **CONTENT}, required=("goal_id",), partial=True)
def update(work: Work, given: dict[str, Any]) -> Outcome:
    """Other words for a goal, or another category."""
    goal = work.find("goal", given["goal_id"])
    values, changes = changed(goal, given)
    work.change("goals", goal, values)
    found = {**entry(work, "goal", goal), "changes": changes}
    return Outcome([("updates", found)], f"Цель '{values.get('title', goal['title'])}' обновлена")


@action("goal.complete", {"goal_id": GOAL}, required=("goal_id",))
def complete(work: Work, given: dict[str, Any]) -> Outcome:
    """A goal is reached; unfinished steps stay unfinished."""
    goal = work.find("goal", given["goal_id"])
    if goal["status"] == "complete":
        raise ToolError("Goal already completed", "Nothing is left to do for it.", code="ALREADY_COMPLETED")
    work.change("goals", goal, {"status": "complete", "completed_at": work.stamp})
    earned = work.earn(xp.GOAL_COMPLETED, "goal.complete", goal["id"])
    found = {**entry(work, "goal", goal), "xp_reward": earned}
    return Outcome([("completions", found)], f"Цель '{goal['title']}' выполнена", xp=earned)


@action("goal.delete", {"goal_id": GOAL}, required=("goal_id",))
def delete(work: Work, given: dict[str, Any]) -> Outcome:
    """A goal goes, with its steps; its XP stays."""
    goal = work.find("goal", given["goal_id"])
    steps = _steps(work, goal["id"])
    for step in steps:
        work.change("steps", step, {"deleted_at": work.stamp})
    work.change("goals", goal, {"deleted_at": work.stamp})
    found = entry(work, "goal", goal) | ({"steps_deleted": len(steps)} if steps else {})
    return Outcome([("deletes", found)], f"Цель '{goal['title']}' удалена")


def _steps(work: Work, goal_id: int) -> list[Row]:
    undeleted = "SELECT id FROM steps WHERE goal_id = ? AND deleted_at IS NULL ORDER BY id"
    return [work.read("steps", step_id) for (step_id,) in work.db.execute(undeleted, (goal_id,)).fetchall()]
