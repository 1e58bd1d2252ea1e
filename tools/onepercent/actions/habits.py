"""Actions on habits."""

from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.onepercent import days, fields, words
from tools.onepercent.actions import Outcome, action, changed, entry, stored, twin
from tools.onepercent.actions.unit_of_work import UnitOfWork
from tools.onepercent.habits import histories

XP_REWARD = 10
LONG_STREAK = 7
"""A streak that one is warned of losing."""

HABIT = fields.Reference()
CONTENT: JsonObject = {
    "name": fields.Text(200, line=True),
    "description": fields.Text(1000),
    "icon": fields.Text(50, line=True, default="star"),
    "xp_reward": fields.Whole(1, 100, default=XP_REWARD),
    "xp_penalty": fields.Whole(0, 100, default="xp_reward"),
    "frequency_type": fields.Choice(days.FREQUENCIES, "INVALID_FREQUENCY", default="daily"),
    "schedule_days": fields.Weekdays(),
}


@action("habit.create", CONTENT, required=("name",))
def create(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Create a habit; by default the penalty equals the reward."""
    values: JsonObject = {
        "icon": "star",
        "xp_reward": XP_REWARD,
        "frequency_type": "daily",
        "schedule_days": None,
    } | params
    values = {"xp_penalty": values["xp_reward"]} | values
    check_schedule(values["frequency_type"], values["schedule_days"])
    warnings = twin(unit, "habits", "name", values["name"], "1")
    habit_id = unit.create("habit", values | {"created_on": unit.today.isoformat()})
    shown = stored(values, ("name", "description", "icon", "xp_reward", "xp_penalty", "schedule_days"))
    creation = {"entity": "habit", "frequency": values["frequency_type"], **shown}
    return Outcome([("creates", creation)], created_id=habit_id, warnings=warnings)


@action("habit.update", {"habit_id": HABIT, **CONTENT}, required=("habit_id",), partial=True)
def update(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Change the texts, reward or schedule of a habit."""
    habit = unit.find("habit", params.pop("habit_id"))
    if params.get("frequency_type", "custom") != "custom":
        params = {"schedule_days": None} | params
    values, changes = changed(habit, params)
    after = {**habit, **values}
    check_schedule(after["frequency_type"], after["schedule_days"])
    unit.change("habits", habit, values)
    return Outcome([("updates", {**entry(unit, "habit", habit), "changes": changes})])


@action("habit.delete", {"habit_id": HABIT}, required=("habit_id",))
def delete(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Delete a habit; its history and XP stay."""
    habit = unit.find("habit", params["habit_id"])
    run = histories.current_streak(unit.db, habit["id"], unit.today)
    warning = words.say("warn.streak", title=words.quoted(habit["name"]), count=run)
    unit.change("habits", habit, {"deleted_at": unit.stamp})
    return Outcome([("deletes", entry(unit, "habit", habit))], warnings=[warning] if run >= LONG_STREAK else [])


def check_schedule(frequency_type: str, schedule_days: str | None) -> None:
    """Raises ToolError when a frequency and its days do not go together."""
    if frequency_type == "custom" and not schedule_days:
        raise ToolError(
            "schedule_days is required for frequency_type custom",
            "Send schedule_days, e.g. [1, 3, 5] for Monday, Wednesday and Friday.",
            code="SCHEDULE_REQUIRED",
            field="schedule_days",
        )
    if frequency_type != "custom" and schedule_days:
        raise ToolError(
            f"schedule_days does not go with frequency_type {frequency_type}",
            "Send frequency_type custom with it, or leave schedule_days out.",
            code="FIELD_INVALID",
            field="schedule_days",
        )
