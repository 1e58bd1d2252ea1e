"""Actions on the steps of a goal."""

from typing import Any

from tools.errors import ToolError
from tools.onepercent import fields, xp
from tools.onepercent.actions import Outcome, action, changed, entry
from tools.onepercent.actions.goals import GOAL
from tools.onepercent.work import Row, Work

PRIORITIES = ("critical", "important", "attention", "optional")
LAST_PLACE = 1_000_000

STEP = fields.Reference()
CONTENT = {
    "title": fields.Text(500, line=True),
    "description": fields.Text(2000),
    "priority": fields.Choice(PRIORITIES, "INVALID_PRIORITY"),
    "dt": fields.Day(empty=True),
    "time_duration": fields.Duration(),
    "order": fields.Whole(0, LAST_PLACE, empty=True),
}


@action("step.create", {"goal_id": GOAL, **CONTENT}, required=("goal_id", "title"))
def create(work: Work, given: dict[str, Any]) -> Outcome:
    """A new step of a goal."""
    goal = work.find("goal", given["goal_id"])
    values = {"priority": "attention"} | given | {"goal_id": goal["id"]}
    step_id = work.create("step", values)
    found = {"entity": "step", "title": values["title"], "goal_title": goal["title"]}
    found |= {name: given[name] for name in ("dt", "priority") if given.get(name)}
    return Outcome([("creates", found)], f"Шаг '{values['title']}' создан", step_id)


@action("step.update", {"step_id": STEP, **CONTENT}, required=("step_id",), partial=True)
def update(work: Work, given: dict[str, Any]) -> Outcome:
    """Another title, date, priority, duration or place for a step."""
    step = work.find("step", given["step_id"])
    values, changes = changed(step, given)
    found = {**_entry(work, step), "changes": changes}
    work.change("steps", step, values)
    return Outcome([("updates", found)], f"Шаг '{values.get('title', step['title'])}' обновлён")


@action("step.complete", {"step_id": STEP}, required=("step_id",))
def complete(work: Work, given: dict[str, Any]) -> Outcome:
    """A step is done."""
    step = work.find("step", given["step_id"])
    if step["is_complete"]:
        raise ToolError("Step already completed", "Nothing is left to do for it.", code="ALREADY_COMPLETED")
    found = _entry(work, step)
    work.change("steps", step, {"is_complete": 1, "completed_at": work.stamp})
    earned = work.earn(xp.STEP_COMPLETED, "step.complete", step["id"])
    return Outcome(
        [("completions", found | {"xp_reward": earned})], f"Шаг отмечен выполненным: '{step['title']}'", xp=earned
    )


@action("step.delete", {"step_id": STEP}, required=("step_id",))
def delete(work: Work, given: dict[str, Any]) -> Outcome:
    """A step goes; its XP stays."""
    step = work.find("step", given["step_id"])
    found = _entry(work, step)
    work.change("steps", step, {"deleted_at": work.stamp})
    return Outcome([("deletes", found)], f"Шаг '{step['title']}' удалён")


def _entry(work: Work, step: Row) -> dict[str, Any]:
    return entry(work, "step", step) | {"goal_title": work.read("goals", step["goal_id"])["title"]}
