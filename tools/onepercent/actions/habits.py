"""Actions on habits, except their marks."""

from dataclasses import replace
from typing import Annotated

from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.schema import Limits
from tools.onepercent import fields
from tools.onepercent.actions import Outcome, action, appended, changed, entry, same_title, stored
from tools.onepercent.actions.unit_of_work import UnitOfWork
from tools.onepercent.database import Row
from tools.onepercent.habits import histories, schedules
from tools.onepercent.rules import HABIT_REWARD, LARGEST_N_DAYS
from tools.onepercent.words import Warning

DEFAULTS: JsonObject = {"icon": "star", "xp_reward": HABIT_REWARD, "frequency_type": "daily"}


def numbers(most: int, what: str, description: str) -> fields.Field:
    """Different whole numbers from 1 to `most`; the canonical value is text like `1,3,5`."""
    number = fields.plain(Annotated[int, Limits(ge=1, le=most)], "integer", f"one of the {what}")
    chosen = fields.several(number, description, empty=True)

    def convert(name: str, value: object) -> str:
        numbers = chosen.convert(name, value)
        if len(set(numbers)) < len(numbers):
            raise fields.invalid(name, f"a list of different {what}")
        return ",".join(map(str, sorted(numbers)))

    return replace(chosen, convert=convert, words=f"different {what}, at least one")


AMOUNT = fields.plain(
    Annotated[float, Limits(ge=0.001, le=1_000_000)], "number", "a number above 0, at most 1000000"
)
HABIT = fields.KEY
DESCRIPTION = {"description": fields.text(1000)}
TARGET = {"amount": AMOUNT, "unit": fields.text(20, line=True)}
CONTENT: dict[str, fields.Field] = {
    "name": fields.text(200, line=True),
    **DESCRIPTION,
    "icon": fields.text(50, line=True, default="star"),
    "xp_reward": fields.whole(1, 100, default=DEFAULTS["xp_reward"]),
    "xp_penalty": fields.whole(0, 100, default="xp_reward"),
    "frequency_type": fields.choice(schedules.FREQUENCIES, "INVALID_FREQUENCY", default="daily"),
    "schedule_days": numbers(7, "ISO weekdays, 1 (Monday) to 7", "1 (Monday) to 7"),
    "times": fields.whole(1, 7, empty=True),
    "n": fields.whole(2, LARGEST_N_DAYS, empty=True),
    "month_days": numbers(31, "days of the month, 1 to 31 (the last)", "31: the last"),
    "target": fields.record(TARGET, tuple(TARGET), empty=True),
}
EXAMPLES = {"schedule_days": "[1, 3, 5]", "times": "3", "n": "2", "month_days": "[1, 31]"}


@action("habit.create", CONTENT, "name")
def create(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Create a habit; by default the penalty equals the reward."""
    values = DEFAULTS | dict.fromkeys(schedules.DETAILS.values()) | _with_target_columns(params)
    values = {"xp_penalty": values["xp_reward"]} | values
    check_schedule(values)
    warnings = same_title(unit, "habits", values["name"], "archived_at IS NULL")
    habit_id = unit.create("habit", {"created_on": unit.day} | values)
    shown = stored(values, values)
    creation = {"entity": "habit", "frequency": shown.pop("frequency_type"), **shown}
    return Outcome([("creates", creation)], created_id=habit_id, warnings=warnings)


@action("habit.update", {"habit_id": HABIT, **CONTENT, "append": fields.record(DESCRIPTION)}, "habit_id")
def update(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Change the texts, reward, target or schedule of a habit; a new schedule holds from today on."""
    habit = unit.find("habit", params.pop("habit_id"))
    if frequency := params.get("frequency_type"):  # What only another one needs goes.
        params = {column: None for kind, column in schedules.DETAILS.items() if kind != frequency} | params
    values, changes = changed(habit, appended(habit, _with_target_columns(params), DESCRIPTION))
    after = {**habit, **values}
    check_schedule(after)
    before = streak_of(unit, habit)
    if not schedules.COLUMNS.isdisjoint(values):
        _reschedule(unit, habit, after)
    unit.change("habits", habit, values)
    shown = entry(unit, "habit", habit, changes=changes)
    return Outcome([("updates", shown)], warnings=streak_warning(unit, habit, before))


@action("habit.delete", {"habit_id": HABIT}, "habit_id")
def delete(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Delete a habit; its history and XP stay."""
    habit = unit.find("habit", params["habit_id"])
    (marks,) = unit.db.execute(
        "SELECT count(*) FROM habit_marks WHERE habit_id = ?", (habit["id"],)
    ).fetchone()
    lost: JsonObject = {}
    if marks:
        history = history_of(unit, habit)
        today = unit.today.toordinal()
        period = history.course.period(today)
        lost = {"marks": marks, "best_streak": history.streak(today).best, "streak_in": f"{period}s"}
    unit.change("habits", habit, {"deleted_at": unit.stamp})
    return Outcome([("deletes", entry(unit, "habit", habit) | lost)])


def check_schedule(habit: Row) -> None:
    """Raises ToolError if a frequency and what says more of it do not go together."""
    frequency = habit["frequency_type"]
    wanted = schedules.DETAILS.get(frequency)
    if wanted and not habit[wanted]:
        message = f"{wanted} is required for frequency_type {frequency}"
        hint = f"Send {wanted}, e.g. {EXAMPLES[wanted]}."
        raise ToolError(message, hint, code="SCHEDULE_REQUIRED", field=wanted)
    for kind, name in schedules.DETAILS.items():
        if name != wanted and habit[name]:
            message = f"{name} does not go with frequency_type {frequency}"
            hint = f"Send frequency_type {kind} with it, or leave {name} out."
            raise ToolError(message, hint, code="FIELD_INVALID", field=name)


def streak_warning(unit: UnitOfWork, habit: Row, before: histories.Streak) -> list[Warning]:
    """A warning if the streak that stood before an action is shorter now."""
    history = history_of(unit, habit)
    today = unit.today.toordinal()
    after = history.streak(today)
    if after.run >= before.run:
        return []
    period = history.course.period(today)
    return [
        (
            "warn.streak",
            {"title": habit["name"], "before": (before.run, period), "after": (after.run, period)},
        )
    ]


def streak_of(unit: UnitOfWork, habit: Row) -> histories.Streak:
    """The streak that stands now."""
    return history_of(unit, habit).streak(unit.today.toordinal())


def history_of(unit: UnitOfWork, habit: Row) -> histories.History:
    """The history of a habit as it is now."""
    return histories.of_habit(unit.db, habit["id"], unit.today)


def _with_target_columns(params: JsonObject) -> JsonObject:
    if "target" not in params:
        return params
    target = params.pop("target") or {}
    return params | {"target_amount": target.get("amount"), "target_unit": target.get("unit")}


def _reschedule(unit: UnitOfWork, habit: Row, after: JsonObject) -> None:
    """Note the new schedule from today on; the days before are judged by the one of their time. A habit of
    today simply has another one."""
    today = unit.day
    habit_id = habit["id"]
    new, old = (
        {"frequency_type": each["frequency_type"], "detail": schedules.detail(each)}
        for each in (after, habit)
    )
    if row := unit.read("habit_schedules", habit_id, today):
        unit.change("habit_schedules", row, new)
    elif habit["created_on"] < today:
        if unit.read("habit_schedules", habit_id, schedules.BEGINNING) is None:
            unit.insert_stamped(
                "habit_schedules", {"habit_id": habit_id, "first_day": schedules.BEGINNING, **old}
            )
        unit.insert_stamped("habit_schedules", {"habit_id": habit_id, "first_day": today, **new})
