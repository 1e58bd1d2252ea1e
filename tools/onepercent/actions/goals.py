"""Actions on goals."""

from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.onepercent import fields
from tools.onepercent.actions import (
    Outcome,
    action,
    action_on_one,
    delete_entity,
    reopen_entity,
    set_archived,
    steps,
    stored,
    targets,
    thing_of,
    update_entity,
    warn_of_same_title,
)
from tools.onepercent.actions.unit_of_work import UnitOfWork
from tools.onepercent.database import Row
from tools.onepercent.diff import Changed, Created, Done, Edit, Thing, target_of
from tools.onepercent.rules import GOAL_COMPLETED

CATEGORIES = ("work", "health_sport", "welfare", "family", "environment", "hobby")
# Words that fit one of them.
NEAR_CATEGORIES = {
    "work": "job career business study learning education работа учёба учеба карьера",
    "health_sport": "health sport fitness здоровье спорт",
    "welfare": "finance finances money savings деньги финансы",
    "family": "home house relationships семья дом отношения",
    "environment": "friends social community друзья окружение",
    "hobby": "leisure fun creativity hobbies хобби отдых",
}
ALSO = {word: category for category, near in NEAR_CATEGORIES.items() for word in near.split()}

TEXTS = {name: fields.text(2000) for name in ("why_important", "why_give_me", "why_about_me")}
CONTENT = {
    "title": fields.text(500, line=True),
    "category": fields.choice(CATEGORIES, "INVALID_CATEGORY", ALSO, default="work"),
    "due": fields.day(empty=True),
    "target": targets.TARGET,
    "amount": targets.ANY_AMOUNT,
    **TEXTS,
}


@action("goal.create", {**CONTENT, "steps": steps.SEVERAL}, "title")
def create(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Create a goal, with its steps if they come along; from here on `goal_id: null` refers to it."""
    own_steps = params.pop("steps", None)
    title = params["title"]
    values = {"category": "work"} | params
    if "amount" in values and not values.get("target"):
        raise without_target()

    created = Created(Thing("goal", title), values=stored(values, CONTENT))
    outcome = Outcome([created])
    warn_of_same_title(unit, outcome, "goals", title, "status = 'work' AND archived_at IS NULL")
    steps.warn_of_odd(unit, outcome, title, dt=params.get("due"))

    outcome.created_id = unit.latest_goal = unit.create("goal", targets.columns(values))
    if own_steps:
        created.steps = steps.add_several(unit, outcome.created_id, own_steps, outcome)
    return outcome


@action_on_one("goal.update", **CONTENT, append=fields.record(TEXTS), **targets.ORDER)
def update(unit: UnitOfWork, goal: Row, params: JsonObject) -> Outcome:
    """Change a goal; `append` adds to texts, `before` or `order` moves it in the list."""
    params = targets.columns(targets.moved(unit, "goal", goal, params))
    if params.get("amount") is not None and not params.get("target_amount", goal["target_amount"]):
        raise without_target()
    outcome = update_entity(unit, "goal", goal, params, TEXTS)
    after = unit.find("goal", goal["id"])
    targets.gather(unit, "goals", goal, after, outcome.entries[0])
    targets.warn_of_reached(unit, outcome, after)
    if "target_unit" in params:
        for habit in unit.find_all("habit", targets.FEEDING, goal["id"]):
            targets.warn_of_unit(unit, outcome, habit, after)
    return outcome


@action_on_one("goal.add", amount=targets.ANY_AMOUNT)
def add(unit: UnitOfWork, goal: Row, params: JsonObject) -> Outcome:
    """Add to the amount of a goal, or take off it."""
    if not params.get("amount"):
        raise fields.required("amount")
    if not goal["target_amount"]:
        raise without_target()
    before = targets.sum_of(unit, goal)
    unit.change("goals", goal, {"amount": round((goal["amount"] or 0) + params["amount"], 3)})

    after = targets.sum_of(unit, goal)
    thing = thing_of(unit, "goal", goal)
    total = Edit(before, {"amount": after, "target": target_of(goal)})
    outcome = Outcome([Changed(thing, changes={"sum": total})])
    targets.warn_of_reached(unit, outcome, goal)
    return outcome


def without_target() -> ToolError:
    """The error of an amount for a goal that wants none."""
    hint = 'Give it one with goal.update: target {"amount": 300000, "unit": "EUR"}.'
    return ToolError("Goal has no target to count towards", hint, code="FIELD_INVALID", field="amount")


@action_on_one("goal.complete")
def complete(unit: UnitOfWork, goal: Row, params: JsonObject) -> Outcome:
    """Complete a goal; its unfinished steps stay unfinished."""
    if goal["status"] == "complete":
        raise ToolError("Goal already completed", "goal.reopen undoes it.", code="ALREADY_COMPLETED")

    completion = {"status": "complete", "completed_at": unit.stamp, "completed_on": unit.day}
    unit.change("goals", goal, completion)
    earned = unit.earn_in_all(GOAL_COMPLETED, "goal.complete", goal["id"])
    outcome = Outcome([Done(thing_of(unit, "goal", goal), xp_reward=earned)])

    open_steps = [step for step in steps.of_goal(unit, goal["id"]) if not step["is_complete"]]
    if open_steps:
        outcome.warn("warn.open_steps", title=goal["title"], open_steps=len(open_steps))
    return outcome


@action_on_one("goal.reopen")
def reopen(unit: UnitOfWork, goal: Row, params: JsonObject) -> Outcome:
    """Reopen a goal and take back the XP of its completion."""
    return reopen_entity(unit, "goal", goal, "status", "work")


@action_on_one("goal.archive")
def archive(unit: UnitOfWork, goal: Row, params: JsonObject) -> Outcome:
    """Put a goal with its steps out of sight; nothing of it is lost."""
    return set_archived(unit, "goal", goal, archived=True)


@action_on_one("goal.unarchive")
def unarchive(unit: UnitOfWork, goal: Row, params: JsonObject) -> Outcome:
    """Bring an archived goal back."""
    return set_archived(unit, "goal", goal, archived=False)


@action_on_one("goal.delete")
def delete(unit: UnitOfWork, goal: Row, params: JsonObject) -> Outcome:
    """Delete a goal with its steps; the XP earned stays, and so do the habits that add to it."""
    own_steps = steps.of_goal(unit, goal["id"])
    # Stamped like the goal, one by one: an undo brings back these, and none that was deleted before.
    for step in own_steps:
        unit.change("steps", step, {"deleted_at": unit.stamp})

    titles = [step["title"] for step in own_steps]
    outcome = delete_entity(unit, "goal", goal, steps=len(titles), titles=titles)
    for habit in unit.find_all("habit", targets.FEEDING, goal["id"]):
        unit.change("habits", habit, {"goal_id": None})
        outcome.warn("warn.habit_stays", title=habit["name"])
    return outcome
