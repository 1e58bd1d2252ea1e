"""Actions on habits, except their marks."""

from dataclasses import replace
from typing import Any

from tools.toolkit import JsonObject, ToolError

from ..base import fields, rules
from ..base.diff import Created, Thing
from ..database import Row
from ..habits import histories, schedules
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


def numbers_field(each: fields.Field, plural: str, description: str = "") -> fields.Field:
    """Field of different whole numbers, which errors call `plural`; the canonical value is text like
    `1,3,5`."""
    list_field = fields.list_of(each, description, nullable=True)

    def convert(name: str, value: object) -> str:
        numbers = list_field.convert(name, value)
        if len(set(numbers)) < len(numbers):
            raise fields.invalid_error(name, f"a list of different {plural}")

        return ",".join(map(str, sorted(numbers)))

    return replace(list_field, convert=convert, expected=f"different {plural}, at least one")


DESCRIPTION = {"description": fields.text(1000)}
TARGET_OR_LIMIT = {
    "amount": targets.AMOUNT,
    "unit": targets.UNIT,
    "at_most": fields.amount(0),
}
DAY_OF_MONTH = fields.integer(1, 31, "one of the days of the month, 1 to 31 (the last)")


def _limit_or_target(name: str, value: object) -> JsonObject:
    """Read a target, of at least `amount`, or a limit, of at most `at_most`; `at_most: true` limits
    `amount`."""
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
CONTENT = {
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
# Frequencies that people call weekly, too.
CALLED_WEEKLY = ("custom", "times_per_week")
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
    habit_id = unit.outcome.created_id = unit.create("habits", {"created_on": unit.day} | columns)
    _warn_of_end_and_unit(unit, unit.existing("habit", habit_id), params)


@action_on_one("habit.update", **CONTENT, append=fields.object_of(DESCRIPTION), **targets.ORDER)
def update(unit: UnitOfWork, habit: StoredRow, **params: Any) -> None:
    """Change the texts, reward, target, end, goal or schedule of a habit, or move it in the list; a new
    schedule holds from today on."""
    params = targets.with_place(unit, habit, params)
    _imply_frequency(params)
    if frequency := params.get("frequency_type"):
        # The details that only another frequency needs are cleared.
        for other, column in schedules.DETAILS.items():
            if other != frequency:
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
    """Replace a reference in `goal_id` by the id of the goal; null without a goal created before means
    none."""
    reference = params.get("goal_id")
    if reference is not None or ("goal_id" in params and "" in unit.created):
        params["goal_id"] = unit.existing("goal", reference)["id"]


def _columns(params: JsonObject) -> JsonObject:
    """Values by the columns that store them: a target has three."""
    if "target" in params:
        limits = "at_most" in (params["target"] or {})
        params = params | {"at_most": 1 if limits else None}
    return targets.as_columns(params)


def _imply_frequency(params: JsonObject) -> None:
    """Set the frequency that its details imply: schedule_days alone, or with weekly, is custom."""
    implied = [each for each, column in schedules.DETAILS.items() if params.get(column)]
    if len(implied) != 1:
        return
    frequency = params.get("frequency_type")
    if not frequency or (frequency == "weekly" and implied[0] in CALLED_WEEKLY):
        params["frequency_type"] = implied[0]


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

    for other, column in schedules.DETAILS.items():
        if other != frequency and habit.get(column):
            raise ToolError(
                f"{column} does not go with frequency_type {frequency}",
                f"Send frequency_type {other} with it, or leave {column} out.",
                "FIELD_INVALID",
                field=column,
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

    habit_id = habit["id"]
    if row := unit.row("habit_schedules", habit_id, unit.day):
        unit.change(row, new)
    elif habit["created_on"] < unit.day:
        for first_day, schedule in ((schedules.BEGINNING, old), (unit.day, new)):
            if not unit.row("habit_schedules", habit_id, first_day):
                values = {"habit_id": habit_id, "first_day": first_day, **schedule}
                unit.create("habit_schedules", values)


def history_of(unit: UnitOfWork, habit: Row) -> histories.History:
    """Load the history of a habit as it is now."""
    return histories.load_where(unit.db, "h.id = :id", unit.today, id=habit["id"])[0]


def warn_of_streak(unit: UnitOfWork, before: histories.History) -> None:
    """Warn if the streak that stood before an action is shorter now."""
    after = history_of(unit, before.habit)
    run_before = before.streak().run
    run = after.streak().run

    if run < run_before:
        period = after.unit_of_streak()
        title = before.habit["name"]
        unit.warn("warn.streak", title=title, before=(run_before, period), after=(run, period))
