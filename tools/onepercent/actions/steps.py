"""Actions on the steps of a goal."""

from datetime import date, timedelta

from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.onepercent import fields, words
from tools.onepercent.actions import (
    Outcome,
    action,
    appended,
    changed,
    check_day,
    entry,
    goals,
    repeats,
    stored,
)
from tools.onepercent.actions.goals import GOAL, STEP_CONTENT, STEPS, add_steps, odd, odd_step, with_first_day
from tools.onepercent.actions.unit_of_work import UnitOfWork
from tools.onepercent.database import Row
from tools.onepercent.habits.schedules import LAST
from tools.onepercent.rules import SHIFT_DAYS, STEP_COMPLETED, STEP_DAYS_BACK

MOST_ROWS = 6  # moved steps that a diff names one by one

STEP = fields.KEY
PROGRESS = fields.whole(0, 100, empty=True)
DESCRIPTION = {"description": STEP_CONTENT["description"]}
COMPLETION = ("step.complete", "step.reopen")


@action("step.create", {"goal_id": GOAL, **STEP_CONTENT, "steps": STEPS, "inbox": fields.FLAG})
def create(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Add a step, or several, to a goal; with `inbox` to the goal for errands, made at its first use."""
    several = params.pop("steps", None)
    outcome = Outcome()
    if several is None and "title" not in params:
        raise fields.required("title")
    if several and "title" in params:
        raise fields.invalid("steps", "the only steps: send title or steps")
    if params.pop("inbox", False):
        goal = _inbox(unit, outcome)
    elif "goal_id" in params:
        goal = unit.find("goal", params["goal_id"])
    else:
        raise fields.required("goal_id")
    creation: JsonObject = {"entity": "step", "goal_title": goal["title"]}
    outcome.entries.append(("creates", creation))
    if several:
        add_steps(unit, goal["id"], several, outcome)
        return outcome
    values = with_first_day(unit, {"priority": "attention"} | params | {"goal_id": goal["id"]})
    outcome.warnings += odd_step(unit, goal["id"], values)
    outcome.created_id = unit.create("step", values)
    creation |= stored(values, STEP_CONTENT)
    if "time_duration" in creation:
        creation["time_duration"] = fields.minutes_and_word(int(values["time_duration"]))
    return outcome


@action(
    "step.update",
    {
        "step_id": STEP,
        "goal_id": GOAL,
        **STEP_CONTENT,
        "progress": PROGRESS,
        "append": fields.record(DESCRIPTION),
    },
    "step_id",
)
def update(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Change a step's title, description, date, priority, duration, order or goal."""
    step = unit.find("step", params.pop("step_id"))
    shown = _entry(unit, step)
    if params.get("repeat") and not (step["dt"] or params.get("dt")):
        params = with_first_day(unit, params)
    goal = unit.find("goal", params["goal_id"]) if "goal_id" in params else None
    values, changes = changed(
        step, appended(step, params, DESCRIPTION) | ({"goal_id": goal["id"]} if goal else {})
    )
    if goal and "goal_id" in changes:
        changes["goal_id"]["to"] = unit.shown_id("goal", goal["id"])
        changes["goal_title"] = {"from": shown["goal_title"], "to": goal["title"]}
    unit.change("steps", step, values)
    warnings = odd(unit, str(values.get("title", step["title"])), values)
    return Outcome([("updates", {**shown, "changes": changes})], warnings=warnings)


@action(
    "step.shift",
    {
        "days": fields.whole(-SHIFT_DAYS, SHIFT_DAYS),
        "dt": fields.day(),
        "goal_id": GOAL,
        "step_ids": fields.KEYS,
        "overdue": fields.FLAG,
        "from": fields.day(),
        "to": fields.day(),
    },
)
def shift(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Move open steps of a goal, of a list, or all overdue ones: by `days`, or to the day `dt`; `from` and `to`
    bound their dates."""
    fields.check_one(params, "days", "dt")
    first = params.get("from", "0")  # a step without a date is before it
    last = params.get("to", LAST)
    chosen = [step for step in _chosen(unit, params) if not step["is_complete"]]
    within = [step for step in chosen if first <= (step["dt"] or "") <= last]
    if not within:
        hint = "get_user_snapshot shows the schedule."
        raise ToolError("No open step with a date there", hint, code="STEP_NOT_FOUND")
    rows = []
    for step in sorted(within, key=lambda step: step["dt"]):
        moved = _moved(step["dt"], params)
        if moved != step["dt"]:
            unit.change("steps", step, {"dt": moved})
            rows.append([step["title"], step["dt"], moved])
    if not rows:
        hint = "They are on that day already; days is how far to move, e.g. 7 or -1."
        raise ToolError("Nothing to update", hint, code="NOTHING_TO_UPDATE")
    shown = {"entity": "step", **moved_rows(rows), "shifted_days": params.get("days")}
    goal_ids = {step["goal_id"] for step in within}
    if len(goal_ids) == 1:
        shown["goal_title"] = _goal_title(unit, within[0])
    late = sum(row[2] < unit.day for row in rows)
    warnings = [("warn.overdue", {"left": late})] if late else []
    return Outcome([("updates", {name: shown[name] for name in shown if shown[name]})], warnings=warnings)


def moved_rows(rows: list[list[str]]) -> JsonObject:
    """Steps that change their date, as a diff shows them, from rows of title, date before, date after."""
    return {
        "count": len(rows),
        "first": rows[0][1:],
        "last": rows[-1][1:],
        "rows": [row[:2] for row in rows[:MOST_ROWS]],
    }


def _moved(dt: str, params: JsonObject) -> str:
    if "dt" in params:
        return str(params["dt"])
    try:
        moved = date.fromisoformat(dt) + timedelta(params["days"])
        return moved.isoformat()
    except OverflowError:
        raise ToolError(f"{dt} cannot be moved so far", "Send fewer days.", code="INVALID_DATE") from None


@action("step.complete", {"step_id": STEP, "step_ids": fields.KEYS, "date": fields.day(default="today")})
def complete(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Complete steps, today or on one of the last days."""
    outcome = Outcome()
    day = check_day(unit, params.get("date"), STEP_DAYS_BACK, "a step can be completed")
    for step_id in fields.one_or_several(params, "step_id"):
        step = unit.find("step", step_id)
        if step["is_complete"]:
            which = f": {step['title']}" if "step_ids" in params else ""
            hint = "step.reopen undoes it."
            raise ToolError(f"Step already completed{which}", hint, code="ALREADY_COMPLETED")
        completion = _entry(unit, step) | ({"date": day} if "date" in params else {})
        unit.change("steps", step, {"is_complete": 1, "completed_at": unit.stamp, "completed_on": day})
        worth = STEP_COMPLETED - unit.xp_from(COMPLETION, step["id"])
        earned = unit.earn(worth, "step.complete", step["id"], day)
        if coming := repeats.go_on(unit, step, unit.today + timedelta(days=1)):
            completion["next"] = coming
        outcome.entries.append(("completions", completion | {"xp_reward": earned}))
        outcome.xp += earned
    return outcome


@action("step.reopen", {"step_id": STEP}, "step_id")
def reopen(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Reopen a step and take back the XP of its completion."""
    step = unit.find("step", params["step_id"])
    if not step["is_complete"]:
        raise ToolError("Step is not completed", "There is nothing to undo.", code="NOT_COMPLETED")
    _, changes = changed(step, {"is_complete": 0})
    shown = _entry(unit, step)
    unit.change("steps", step, {"is_complete": 0, "completed_at": None, "completed_on": None})
    earned = unit.earn(
        -unit.xp_from(COMPLETION, step["id"]), "step.reopen", step["id"], step["completed_on"] or ""
    )
    return Outcome([("updates", shown | {"changes": changes, "xp_reward": earned})], xp=earned)


@action("step.delete", {"step_id": STEP}, "step_id")
def delete(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Delete a step; the XP earned stays."""
    step = unit.find("step", params["step_id"])
    deletion = _entry(unit, step)
    if step["repeat"] and not step["is_complete"]:
        deletion["repeat"] = step["repeat"]
    unit.change("steps", step, {"deleted_at": unit.stamp})
    return Outcome([("deletes", deletion)])


def _inbox(unit: UnitOfWork, outcome: Outcome) -> Row:
    """The goal for errands: the oldest open one of that name; made if there is none."""
    title = words.say("inbox")
    statement = """SELECT id FROM goals WHERE user = ? AND title = ? AND status = 'work' AND deleted_at IS NULL
        AND archived_at IS NULL ORDER BY id LIMIT 1"""
    if row := unit.db.execute(statement, (unit.user, title)).fetchone():
        return unit.find("goal", row["id"])
    values = {"title": title, "category": "work"}
    outcome.entries.append(("creates", {"entity": "goal", **values, "inbox": True}))
    return unit.find("goal", unit.create("goal", values))


def _chosen(unit: UnitOfWork, params: JsonObject) -> list[Row]:
    """The steps that a shift names. Raises ToolError FIELD_REQUIRED unless it names them in one way."""
    named = fields.check_one(params, "goal_id", "step_ids", "overdue")
    if named == "step_ids":
        return [unit.find("step", step_id) for step_id in params["step_ids"]]
    if named == "goal_id":
        return goals.steps_of(unit, unit.find("goal", params["goal_id"])["id"])
    statement = """SELECT s.id FROM steps s JOIN goals g ON g.id = s.goal_id WHERE s.user = ? AND s.dt < ?
        AND s.is_complete = 0 AND s.deleted_at IS NULL AND g.status = 'work' AND g.archived_at IS NULL ORDER BY s.dt, s.id"""
    rows = unit.db.execute(statement, (unit.user, unit.day)).fetchall()
    return [unit.find("step", row["id"]) for row in rows]


def _entry(unit: UnitOfWork, step: Row) -> JsonObject:
    return entry(unit, "step", step, goal_title=_goal_title(unit, step))


def _goal_title(unit: UnitOfWork, step: Row) -> str:
    goal = unit.read("goals", step["goal_id"])
    return goal["title"] if goal else ""
