"""Saying once what the items of a section have in common."""

from collections import Counter

from tools.core.json_types import JsonObject

FEW = 3
FEW_STEPS = 6
"""Fewer items, or steps of all goals together, are shown whole."""

COMMON = {
    "goals": ("category", "status", "score", "steps_completed"),
    "habits": ("icon", "frequency", "xp_reward", "xp_penalty"),
}
"""The fields that every item has, by section."""

SEEN_IN_GOALS = ("goal_title", "priority", "time_duration")
"""What the schedule does not repeat of a step that its goal shows."""


def compacted(data: JsonObject) -> JsonObject:
    """The sections; what most items share stands in `usual`, and items that do not have it say what they have."""
    shown = dict(data)
    for section, names in COMMON.items():
        if section in shown:
            shown[section] = _with_usual(shown[section], names)
    if "goals" in shown:
        shown["goals"] = _with_usual_steps(shown["goals"])
        if "schedule" in shown:
            shown["schedule"] = _not_again(shown["schedule"], data["goals"])
    return shown


def _with_usual(section: JsonObject, names: tuple[str, ...]) -> JsonObject:
    items, usual = section["items"], _usual(section["items"], names)
    if not usual:
        return section
    return {"usual": usual, **section, "items": [_unusual(item, usual) for item in items]}


def _with_usual_steps(goals: JsonObject) -> JsonObject:
    steps = [step for goal in goals["items"] for step in goal["steps"]]
    usual = _usual(steps, ("priority",), FEW_STEPS)
    if not usual:
        return goals
    items = [goal | {"steps": [_unusual(step, usual) for step in goal["steps"]]} for goal in goals["items"]]
    return {"usual_step": usual, **goals, "items": items}


def _usual(items: list[JsonObject], names: tuple[str, ...], few: int = FEW) -> JsonObject:
    """The value that most items have of each field, if several do."""
    usual = {}
    for name in names if len(items) >= few else ():
        if all(name in item for item in items):
            value, count = Counter(item[name] for item in items).most_common(1)[0]
            if count >= FEW:
                usual[name] = value
    return usual


def _unusual(item: JsonObject, usual: JsonObject) -> JsonObject:
    return {name: value for name, value in item.items() if name not in usual or usual[name] != value}


def _not_again(schedule: JsonObject, goals: JsonObject) -> JsonObject:
    seen = {step["id"] for goal in goals["items"] for step in goal["steps"]}
    return {
        when: [
            {name: value for name, value in step.items() if step["id"] not in seen or name not in SEEN_IN_GOALS}
            for step in steps
        ]
        for when, steps in schedule.items()
    }
