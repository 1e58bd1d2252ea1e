"""Actions on habits, except their marks."""

from dataclasses import replace
from typing import Any

from tools.toolkit import JsonObject, ToolError

from ..base import fields, rules
from ..base.diff import Created, Thing
from ..database import Row
from ..habits import histories, schedules
from ..habits.histories import History
from . import (
    GOAL_ID_OR_NULL,
    Action,
    StoredRow,
    UnitOfWork,
    action_on_one,
    delete_entity,
    shown_values,
    steps,
    targets,
    title_of_goal,
    update_entity,
    warn_of_same_title,
)


def numbers_field(each: fields.Field, what: str, description: str = "") -> fields.Field:
    """Different whole numbers; the canonical value is text like `1,3,5`."""
    values = fields.list_of(each, description, nullable=True)

    def convert(name: str, value: object) -> str:
        numbers = values.convert(name, value)
        if len(set(numbers)) < len(numbers):
            raise fields.invalid(name, f"a list of different {what}")

        return ",".join(map(str, sorted(numbers)))

    return replace(values, convert=convert, expected=f"different {what}, at least one")


DESCRIPTION = {"description": fields.text(1000)}
TARGET_OR_LIMIT = {
    "amount": targets.AMOUNT,
    "unit": targets.UNIT,
    "at_most": fields.amount(0),
}
DAY_OF_MONTH = fields.integer(1, 31, "one of the days of the month, 1 to 31 (the last)")


def _limit_or_target(name: str, value: object) -> JsonObject:
    """A target: at least `amount`; or a limit: at most so many, or at most `amount`."""
    if isinstance(value, dict):
        limit = value.get("at_most")
        if isinstance(limit, bool):
            value = value | {"at_most": value.get("amount", 0) if limit else None}
        target = fields.object_of(TARGET_OR_LIMIT).convert(name, value)
        if "at_most" in target:
            return {"at_most": target["at_most"], "unit": target.get("unit", targets.TIMES)}
        value = target
    return targets.TARGET.convert(name, value)


# The fields of a habit. The details of a frequency are stored in columns of the same names
# (schedules.DETAILS), a target in two.
CONTENT: fields.Fields = {
    "name": fields.text(200, line=True),
    **DESCRIPTION,
    "icon": fields.text(50, line=True, default="star"),
    "xp_reward": fields.integer(1, 100, default=rules.HABIT_REWARD),
    "xp_penalty": fields.integer(0, 100, default="xp_reward"),
    "frequency_type": fields.choice(
        dict.fromkeys(schedules.FREQUENCIES, ""), "INVALID_FREQUENCY", default="daily"
    ),
    "schedule_days": numbers_field(
        fields.WEEKDAY, "ISO weekdays, 1 (Monday) to 7", "1 (Monday) to 7"
    ),
    "times": fields.integer(1, 7, nullable=True),
    "n": fields.integer(2, rules.LARGEST_N_DAYS, nullable=True),
    "month_days": numbers_field(DAY_OF_MONTH, "days of the month, 1 to 31 (the last)"),
    "target": fields.Field(
        {"type": "object", "description": "{amount, unit} or {at_most, unit}; at_most 0: to avoid"},
        "object of amount, unit, or of at_most, unit",
        _limit_or_target,
        nullable=True,
    ),
    "until": fields.day(nullable=True),
    "goal_id": GOAL_ID_OR_NULL,
}
# Frequencies that are called weekly, too.
WEEKLY_DETAILS = ("custom", "times_per_week")
# The defaults of a new habit; its default penalty is its reward.
DEFAULTS: JsonObject = {"icon": "star", "xp_reward": rules.HABIT_REWARD, "frequency_type": "daily"}


@Action("habit.create", CONTENT, ("name",))
def create(unit: UnitOfWork, params: JsonObject) -> None:
    """Create a habit; by default the penalty equals the reward."""
    _imply_frequency(params)
    _resolve_goal(unit, params)
    values = DEFAULTS | params
    values.setdefault("xp_penalty", values["xp_reward"])
    columns = _columns(values)
    _check_schedule(columns)

    shown = shown_values(values, [name for name in values if name != "goal_id"])
    shown["frequency"] = shown.pop("frequency_type")
    thing = Thing("habit", values["name"], goal_title=title_of_goal(unit, values))
    unit.add_entry(Created(thing, values=shown))

    warn_of_same_title(unit, "habits", values["name"])
    key = unit.outcome.created_id = unit.create("habits", {"created_on": unit.day} | columns)
    _warn_of_end_and_unit(unit, unit.existing("habit", key), params)


@action_on_one("habit.update", **CONTENT, append=fields.object_of(DESCRIPTION), **targets.ORDER)
def update(unit: UnitOfWork, habit: StoredRow, **params: Any) -> None:
    """Change the texts, reward, target, end, goal or schedule of a habit, or move it in the list; a new
    schedule holds from today on."""
    params = targets.with_place(unit, habit, params)
    _imply_frequency(params)
    if frequency := params.get("frequency_type"):
        # The details that only another frequency needs are cleared.
        for kind, column in schedules.DETAILS.items():
            if kind != frequency:
                params.setdefault(column, None)

    before = history_of(unit, habit)
    _resolve_goal(unit, params)
    after = update_entity(unit, habit, _columns(params), DESCRIPTION)
    _check_schedule(after)
    _reschedule(unit, habit, after)
    _warn_of_end_and_unit(unit, after, params)
    warn_of_streak(unit, before)


@action_on_one("habit.delete")
def delete(unit: UnitOfWork, habit: StoredRow) -> None:
    """Delete a habit; its history and XP stay."""
    marks = unit.scalar(
        "SELECT count(*) FROM habit_marks WHERE habit_id = :habit", habit=habit["id"]
    )
    if not marks:
        delete_entity(unit, habit)
        return
    history = history_of(unit, habit)
    best = history.streak().best
    period = f"{history.unit_of_streak()}s"
    delete_entity(unit, habit, marks=marks, best_streak=best, streak_in=period)


def _warn_of_end_and_unit(unit: UnitOfWork, habit: StoredRow, params: JsonObject) -> None:
    """Warn of an end in the past, and of amounts in another unit than the goal's."""
    steps.warn_of_unlikely(unit, habit["name"], params.get("until"))
    if habit["goal_id"] and params.keys() & {"goal_id", "target"}:
        targets.warn_of_unit(unit, habit, unit.row("goals", habit["goal_id"]))


def _resolve_goal(unit: UnitOfWork, params: JsonObject) -> None:
    """Set the `goal_id` that a habit adds to; in an update null means none."""
    key = params.get("goal_id")
    if key is not None or ("goal_id" in params and "" in unit.created):
        params["goal_id"] = unit.existing("goal", key)["id"]


def _columns(params: JsonObject) -> JsonObject:
    """The values by the columns that store them: a target has three."""
    if "target" in params:
        limits = "at_most" in (params["target"] or {})
        params = params | {"at_most": 1 if limits else None}
    return targets.as_columns(params)


def _imply_frequency(params: JsonObject) -> None:
    """Set the frequency that its details imply: schedule_days alone, or with weekly, is custom."""
    details = [kind for kind, name in schedules.DETAILS.items() if params.get(name)]
    frequency = params.get("frequency_type")
    if len(details) == 1 and (
        not frequency or (frequency == "weekly" and details[0] in WEEKLY_DETAILS)
    ):
        params["frequency_type"] = details[0]


def _check_schedule(habit: JsonObject) -> None:
    """Raises ToolError if a frequency and its details contradict each other."""
    frequency = habit["frequency_type"]
    detail = schedules.DETAILS.get(frequency)
    if detail and not habit.get(detail):
        raise ToolError(
            f"{detail} is required for frequency_type {frequency}",
            f"Send {detail}: {CONTENT[detail].expected}.",
            "SCHEDULE_REQUIRED",
            field=detail,
        )

    for kind, name in schedules.DETAILS.items():
        if kind != frequency and habit.get(name):
            raise ToolError(
                f"{name} does not go with frequency_type {frequency}",
                f"Send frequency_type {kind} with it, or leave {name} out.",
                "FIELD_INVALID",
                field=name,
            )

    if habit.get("at_most") and frequency in ("weekly", "times_per_week", "every_n_days"):
        raise ToolError(
            f"at_most does not go with frequency_type {frequency}",
            "A limit holds for each day that is due: daily, weekdays, custom …",
            "FIELD_INVALID",
            field="target",
        )


def _reschedule(unit: UnitOfWork, habit: StoredRow, after: JsonObject) -> None:
    """Store a new schedule from today on; earlier days keep theirs. A habit created today just gets the new
    one."""
    old = {"frequency_type": habit["frequency_type"], "detail": schedules.detail_of(habit)}
    new = {"frequency_type": after["frequency_type"], "detail": schedules.detail_of(after)}
    if new == old:
        return

    key = habit["id"]
    if row := unit.row("habit_schedules", key, unit.day):
        unit.change(row, new)
    elif habit["created_on"] < unit.day:
        for first, schedule in ((schedules.BEGINNING, old), (unit.day, new)):
            if not unit.row("habit_schedules", key, first):
                unit.create("habit_schedules", {"habit_id": key, "first_day": first, **schedule})


def history_of(unit: UnitOfWork, habit: Row) -> History:
    """The history of a habit as it is now."""
    return histories.load_where(unit.db, "h.id = :id", unit.today, id=habit["id"])[0]


def warn_of_streak(unit: UnitOfWork, before: History) -> None:
    """Warn if the streak that stood before an action is shorter now."""
    after = history_of(unit, before.habit)
    old = before.streak().run
    new = after.streak().run

    if new < old:
        period = after.unit_of_streak()
        title = before.habit["name"]
        unit.warn("warn.streak", title=title, before=(old, period), after=(new, period))
