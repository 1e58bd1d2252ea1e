"""Leaving out of a snapshot what is empty, and saying once what items have in common."""

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
    """The sections that have content.

    What most items share is moved to `usual`, and only items that differ keep a value of their own.
    """
    shown = {name: _without_empty_lists(section) for name, section in data.items() if any(section.values())}
    for section, names in COMMON.items():
        if section in shown:
            shown[section] = _with_usual("usual", shown[section], shown[section]["items"], names)
    if "goals" in shown:
        steps = [step for goal in shown["goals"]["items"] for step in goal["steps"]]
        if "schedule" in shown:
            shown["schedule"] = _not_again(shown["schedule"], {step["id"] for step in steps})
        if len(steps) >= FEW_STEPS:
            shown["goals"] = _with_usual("usual_step", shown["goals"], steps, ("priority",))
    return shown


def _without_empty_lists(section: JsonObject) -> JsonObject:
    return {name: value for name, value in section.items() if value != []}


def _with_usual(key: str, section: JsonObject, items: list[JsonObject], names: tuple[str, ...]) -> JsonObject:
    """The section with what most of the items share under `key`; it is taken out of the items."""
    usual = _usual(items, names) if len(items) >= FEW else {}
    if not usual:
        return section
    for item in items:
        for name, value in usual.items():
            if item[name] == value:
                del item[name]
    return {key: usual, **section}


def _usual(items: list[JsonObject], names: tuple[str, ...]) -> JsonObject:
    """The value that most items have of each field, if several do."""
    usual = {}
    for name in names:
        values = [item[name] for item in items]
        value, count = values[0], values.count(values[0])
        if count < len(values):
            value, count = Counter(values).most_common(1)[0]
        if count >= FEW:
            usual[name] = value
    return usual


def _not_again(schedule: JsonObject, seen: set[int]) -> JsonObject:
    """The schedule without what the goals say already of the steps whose ids are `seen`."""
    return {
        when: [
            {name: value for name, value in step.items() if step["id"] not in seen or name not in SEEN_IN_GOALS}
            for step in steps
        ]
        for when, steps in schedule.items()
    }
