"""Actions on the steps of a goal, and the steps that come with a new one."""

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from tools.toolkit import JsonObject, ToolError

from ..base import fields, rules, words
from ..base.diff import Created, Done, Shifted, Thing
from ..habits import due_days, schedules
from . import (
    GOAL_ID_OR_NULL,
    Action,
    StoredRow,
    UnitOfWork,
    action_on_one,
    checked_day,
    delete_entity,
    diff_value,
    reopen_entity,
    repeats,
    shown_values,
    thing_of,
    title_of_goal,
    update_entity,
    warn_of_same_title,
)

# Each with other words that stand for it.
PRIORITIES = {
    "critical": "urgent",
    "important": "high",
    "attention": "medium normal",
    "optional": "low",
}

# The fields of a step in the order of the sentences; steps of a list take no `order`.
DESCRIPTION = {"description": fields.text(2000)}
CONTENT = {
    "title": fields.text(500, line=True),
    "dt": fields.day(nullable=True),
    "time_duration": fields.DURATION,
    "priority": fields.choice(PRIORITIES, "INVALID_PRIORITY", default="attention"),
    "repeat": repeats.RULE,
    "order": fields.integer(0, 1_000_000, nullable=True),
    **DESCRIPTION,
}
LIST_CONTENT = {name: field for name, field in CONTENT.items() if name != "order"}
STEP = fields.object_of(LIST_CONTENT, ("title",))


def _step_or_title(name: str, value: object) -> Any:
    """Read a step of a list, which may be its title alone."""
    return STEP.convert(name, {"title": value} if isinstance(value, str) else value)


STEPS = fields.list_of(replace(STEP, convert=_step_or_title), "as step.create", nullable=True)


@Action(
    "step.create",
    {
        "goal_id": GOAL_ID_OR_NULL,
        **CONTENT,
        "steps": STEPS,
        "inbox": fields.FLAG,
    },
)
def create(unit: UnitOfWork, params: JsonObject) -> None:
    """Add a step, or a list of steps, to a goal; with `inbox` to the goal for errands, made at its first
    use."""
    steps = params.pop("steps", None)
    if steps is None and "title" not in params:
        raise fields.missing_error("title")
    if steps and "title" in params:
        raise fields.invalid_error("steps", "the only steps: send title or steps")

    if params.pop("inbox", False):
        goal = _inbox(unit)
    elif "goal_id" in params:
        goal = unit.existing("goal", params["goal_id"])
    else:
        raise ToolError(
            "goal_id is required",
            "Add goal_id; inbox true is for an errand without a goal.",
            "FIELD_REQUIRED",
            field="goal_id",
        )

    if steps:
        rows = add_steps(unit, goal["id"], steps)
        unit.add_entry(Created(Thing("steps", goal_title=goal["title"]), steps=rows))
    else:
        unit.outcome.created_id, values = _add_step(unit, goal["id"], params)
        thing = Thing("step", values["title"], goal_title=goal["title"])
        unit.add_entry(Created(thing, values=shown_values(values, CONTENT)))


def _inbox(unit: UnitOfWork) -> StoredRow:
    """Find the goal for errands, the oldest open one of that name, or create it."""
    title = words.text_of("inbox")
    query = f"SELECT id FROM {due_days.OPEN_GOALS} WHERE title = :title ORDER BY id LIMIT 1"
    if goal_id := unit.scalar(query, title=title):
        return unit.existing("goal", goal_id)
    values = {"title": title, "category": "work"}
    unit.add_entry(Created(Thing("inbox", title), values=values))
    return unit.existing("goal", unit.create("goals", values))


def add_steps(unit: UnitOfWork, goal_id: int, steps: list[JsonObject]) -> list[JsonObject]:
    """Add steps to a goal; return the diff's row of each: every field that a step can have, in order."""
    rows = []
    for step in steps:
        step_id, values = _add_step(unit, goal_id, step)
        unit.outcome.created_steps.append(step_id)
        rows.append({name: diff_value(name, values.get(name)) for name in LIST_CONTENT})
    return rows


def _add_step(unit: UnitOfWork, goal_id: int, step: JsonObject) -> tuple[int, JsonObject]:
    """Add a step; return its id and values. One that repeats begins on the first day of its rule unless it
    has a date."""
    values: JsonObject = {"priority": "attention"} | step | {"goal_id": goal_id}
    repeats.start_series(unit, values, values.get("dt"))

    title = values["title"]
    warn_of_same_title(unit, "steps", title, goal=goal_id)
    warn_of_unlikely(unit, title, values.get("dt"), values.get("time_duration"))
    return unit.create("steps", values), values


def warn_of_unlikely(
    unit: UnitOfWork, title: str, dt: str | None, minutes: int | None = None
) -> None:
    """Warn of a date in the past, and of minutes that were probably meant as hours."""
    if dt and dt < unit.day:
        unit.warn("warn.past", title=title, day=dt)
    if minutes and minutes < rules.FEWEST_LIKELY_MINUTES:
        unit.warn("warn.minutes", title=title, minutes=minutes)


@action_on_one(
    "step.update",
    goal_id=GOAL_ID_OR_NULL,
    **CONTENT,
    progress=fields.integer(0, 100, nullable=True),
    append=fields.object_of(DESCRIPTION),
)
def update(unit: UnitOfWork, step: StoredRow, **params: Any) -> None:
    """Change a step's title, description, date, priority, duration, order or goal."""
    if "goal_id" in params:
        params["goal_id"] = unit.existing("goal", params["goal_id"])["id"]
    repeats.start_series(unit, params, params.get("dt", step["dt"]))

    update_entity(unit, step, params, DESCRIPTION)
    if "repeat" in params:  # The step's day followed from the former rule.
        unit.assign(step, {"dt": params.get("dt", step["dt"])})
    warn_of_unlikely(unit, step["title"], params.get("dt"), params.get("time_duration"))


@Action(
    "step.shift",
    {
        "days": fields.integer(-rules.SHIFT_DAYS, rules.SHIFT_DAYS),
        "dt": fields.day(),
        "goal_id": GOAL_ID_OR_NULL,
        "step_ids": fields.ENTITY_IDS,
        "overdue": fields.FLAG,
        "from": fields.day(),
        "to": fields.day(),
    },
)
def shift(unit: UnitOfWork, params: JsonObject) -> None:
    """Move open steps (of a goal, of a list, or all overdue ones) by `days` or to the day `dt`; `from` and
    `to` bound their dates."""
    fields.exactly_one(params, "days", "dt")
    first = params.get("from", "0")  # after the "" of a step without a date
    last = params.get("to", schedules.LAST_DATE)

    # The open ones with a date between the bounds.
    chosen = _chosen_steps(unit, params)
    within = [
        step for step in chosen if not step["is_complete"] and first <= (step["dt"] or "") <= last
    ]
    if not within:
        raise ToolError(
            "No open step with a date there",
            "get_user_snapshot shows the schedule.",
            "STEP_NOT_FOUND",
        )

    # Move those that are not on their new day already.
    moved = []
    for step in sorted(within, key=lambda step: step["dt"]):
        day = params.get("dt") or f"{date.fromisoformat(step['dt']) + timedelta(params['days'])}"
        if day != step["dt"]:
            unit.change(step, {"dt": day})
            moved.append((step["title"], step["dt"], day))
    if not moved:
        raise ToolError(
            "Nothing to update",
            "They already are on that day; `days` is the distance, e.g. 7 or -1.",
            "NOTHING_TO_UPDATE",
        )

    # One entry; warn of steps that stay, and of steps that are still late.
    goal_title = ""
    if len({step["goal_id"] for step in within}) == 1:
        goal_title = title_of_goal(unit, within[0])
    thing = Thing("steps", goal_title=goal_title)
    unit.add_entry(Shifted(thing, count=len(moved), moves=moved, days=params.get("days")))

    if "step_ids" in params:
        for step in chosen:
            if step not in within:
                unit.warn("warn.stays", title=step["title"])
    late = [day for _, _, day in moved if day < unit.day]
    if late:
        unit.warn("warn.overdue", left=len(late))


def _chosen_steps(unit: UnitOfWork, params: JsonObject) -> list[StoredRow]:
    """Steps that a shift names. Raises ToolError FIELD_REQUIRED or FIELD_INVALID unless it names them in
    exactly one way."""
    match fields.exactly_one(params, "goal_id", "step_ids", "overdue"):
        case "goal_id":
            return of_goal(unit, unit.existing("goal", params["goal_id"])["id"])
        case "step_ids":
            return list(unit.rows_named("step", params))
        case _:
            query = due_days.DATED.format(which=f"{due_days.OVERDUE} AND {due_days.IS_STEP}")
            overdue = due_days.select(unit.db, query, user=unit.user, today=unit.day)
            return [unit.existing("step", row["id"]) for row in overdue]


def of_goal(unit: UnitOfWork, goal_id: int) -> list[StoredRow]:
    """Undeleted steps of a goal."""
    return unit.find_all(
        "step",
        "SELECT id FROM steps WHERE user = :user AND goal_id = :goal AND deleted_at IS NULL ORDER BY id",
        goal=goal_id,
    )


@Action(
    "step.complete",
    {
        "step_id": fields.ENTITY_ID,
        "step_ids": fields.ENTITY_IDS,
        "date": fields.day(default="today"),
    },
)
def complete(unit: UnitOfWork, params: JsonObject) -> None:
    """Complete steps, today or on one of the last days."""
    day = checked_day(unit, params.get("date"), rules.STEP_DAYS_BACK, "a step can be completed")
    for step in unit.rows_named("step", params):
        if step["is_complete"]:
            raise ToolError(
                f"Step already completed: {step['title']}",
                "step.reopen undoes it.",
                "ALREADY_COMPLETED",
            )

        unit.change(step, {"is_complete": 1, "completed_at": unit.stamp, "completed_on": day})
        earned = unit.earn_difference(rules.STEP_COMPLETED, "step.complete", step, day)
        entry = Done(thing_of(unit, step), xp_reward=earned, date=params.get("date", ""))
        entry.next = repeats.make_next(unit, step, day)
        unit.add_entry(entry)


action_on_one("step.reopen")(reopen_entity)


@action_on_one("step.delete")
def delete(unit: UnitOfWork, step: StoredRow) -> None:
    """Delete a step; the XP earned stays."""
    ended_rule = None if step["is_complete"] else step["repeat"]
    delete_entity(unit, step, repeat=ended_rule)
