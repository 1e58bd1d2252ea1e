"""Actions on goals."""

from functools import partial
from typing import Any

from tools.toolkit import JsonObject, ToolError

from ..base import fields, rules
from ..base.diff import Created, Done, Thing
from . import (
    Action,
    StoredRow,
    UnitOfWork,
    action_on_one,
    delete_entity,
    reopen_entity,
    set_archived,
    shown_values,
    steps,
    targets,
    thing_of,
    update_entity,
    warn_of_same_title,
)

# Each with other words that stand for it.
CATEGORIES = {
    "work": "job career business study learning education работа учёба учеба карьера",
    "health_sport": "health sport fitness здоровье спорт",
    "welfare": "finance finances money savings деньги финансы",
    "family": "home house relationships семья дом отношения",
    "environment": "friends social community друзья окружение",
    "hobby": "leisure fun creativity hobbies хобби отдых",
}

TEXTS = {name: fields.text(2000) for name in ("why_important", "why_give_me", "why_about_me")}
CONTENT = {
    "title": fields.text(500, line=True),
    "category": fields.choice(CATEGORIES, "INVALID_CATEGORY", default="work"),
    "due": fields.day(nullable=True),
    "target": targets.TARGET,
    "amount": targets.ANY_AMOUNT,
    **TEXTS,
}


@Action("goal.create", {**CONTENT, "steps": steps.STEPS}, ("title",))
def create(unit: UnitOfWork, params: JsonObject) -> None:
    """Create a goal, with its steps if it has any; from here on `goal_id: null` refers to it."""
    own_steps = params.pop("steps", None)
    title = params["title"]
    values = {"category": "work"} | params
    if "amount" in values and not values.get("target"):
        raise targets.no_target_error("goal")

    created = Created(Thing("goal", title), values=shown_values(values, CONTENT))
    unit.add_entry(created)
    warn_of_same_title(unit, "goals", title)
    steps.warn_of_unlikely(unit, title, dt=params.get("due"))

    goal_id = unit.create("goals", targets.as_columns(values))
    unit.created[""] = ("goal", goal_id)
    unit.outcome.created_id = goal_id
    if own_steps:
        created.steps = steps.add_steps(unit, goal_id, own_steps)


@action_on_one("goal.update", **CONTENT, append=fields.object_of(TEXTS), **targets.ORDER)
def update(unit: UnitOfWork, goal: StoredRow, **params: Any) -> None:
    """Change a goal; `append` adds to texts, `before` or `order` moves it in the list."""
    params = targets.as_columns(targets.with_place(unit, goal, params))
    if params.get("amount") is not None and not params.get("target_amount", goal["target_amount"]):
        raise targets.no_target_error("goal")
    after = update_entity(unit, goal, params, TEXTS)
    targets.warn_of_reached(unit, after)
    if "target_unit" in params:
        for habit in unit.find_all("habit", targets.HABITS_OF_GOAL, goal=goal["id"]):
            targets.warn_of_unit(unit, habit, after)


@action_on_one("goal.add", "amount", amount=targets.ANY_AMOUNT)
def add(unit: UnitOfWork, goal: StoredRow, amount: float) -> None:
    """Add to the amount of a goal, or subtract from it."""
    update(unit, goal, amount=round((goal["amount"] or 0) + amount, 3))


@action_on_one("goal.complete")
def complete(unit: UnitOfWork, goal: StoredRow) -> None:
    """Complete a goal; its unfinished steps stay unfinished."""
    if goal["status"] == "complete":
        raise ToolError("Goal already completed", "goal.reopen undoes it.", "ALREADY_COMPLETED")

    unit.change(goal, {"status": "complete", "completed_at": unit.stamp, "completed_on": unit.day})
    earned = unit.earn_difference(rules.GOAL_COMPLETED, "goal.complete", goal)
    unit.add_entry(Done(thing_of(unit, goal), xp_reward=earned))

    open_steps = [step for step in steps.of_goal(unit, goal["id"]) if not step["is_complete"]]
    if open_steps:
        unit.warn("warn.open_steps", title=goal["title"], open_steps=len(open_steps))


action_on_one("goal.reopen")(reopen_entity)
# An archived goal is out of sight, with its steps; nothing is lost.
action_on_one("goal.archive")(partial(set_archived, archived=True))
action_on_one("goal.unarchive")(partial(set_archived, archived=False))


@action_on_one("goal.delete")
def delete(unit: UnitOfWork, goal: StoredRow) -> None:
    """Delete a goal with its steps; the XP earned stays, and so do the habits that add to it."""
    own_steps = steps.of_goal(unit, goal["id"])
    # Deleted one by one with the goal's time: an undo brings back these, but no step that was deleted
    # earlier.
    for step in own_steps:
        unit.change(step, {"deleted_at": unit.stamp})

    delete_entity(unit, goal, step_titles=[step["title"] for step in own_steps])
    for habit in unit.find_all("habit", targets.HABITS_OF_GOAL, goal=goal["id"]):
        unit.change(habit, {"goal_id": None})
        unit.warn("warn.habit_stays", title=habit["name"])
