"""Names of fields and actions that do not exist: the field that is meant, or a hint at another way to the same
end."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

# Hints by words of a name; the first row that has one counts. Fields that the object takes come first.
HINTS = {
    "remind reminder notify notification alarm alert time at hour": (
        "There are no reminders at a time of day: a step has a day (dt, repeat), and with NOTIFY_URL set"
        " the phone gets the list of the day in the morning and what is left of it in the evening."
    ),
    "except exclude skip without": "There is no “all but”: name those that are meant in step_ids, habit_ids or dates.",
    "end ends until till finish stop expire expires": (
        "A habit takes until, a goal due, a step's repeat until; what holds “till Friday” is changed back then."
    ),
    "note notes comment remark": "A mark takes note; else append to the description, or diary.create_entry.",
    "order position before after sort rank index": "goal.update and habit.update take before (an id) or order (a place).",
    "limit max at_most avoid negative": "habit.create target {at_most: 2, unit}; at_most 0 is a habit to avoid.",
    "progress share percent": (
        "A goal with target {amount, unit} counts what goal.add and its habits bring, another one its"
        " steps; a step takes progress, 0 to 100."
    ),
    "target amount value measure weight quantity unit": (
        "Amounts count towards the target {amount, unit} of a habit or goal; a value without a target goes to the diary."
    ),
    "interval every frequency recurrence recurring repeat": (
        "A habit takes frequency_type (every_n_days with n, times_per_week with times …), a step repeat"
        " {every, interval, on, until, after: done}."
    ),
    "parent depends blocks": "A step has no steps of its own, and waits for none: order says which comes first.",
    "goal": "goal.complete closes a goal; its steps are named in step_ids.",
    "ids": "Send an action for each id, in one preview.",
    "tag tags label color colour": "There are no tags: a goal has a category, a habit an icon.",
}


@cache
def sent_words(sort: str) -> Mapping[str, str]:
    """Rows of one sort of `unknown_names.txt`, `field` or `verb`: the words by name."""
    text = Path(__file__).with_suffix(".txt").read_text("utf-8")
    return dict(re.findall(rf"(?m)^{sort} (\w+): (.+)", text))


def hint_for(name: str) -> str:
    """Hint for a field or action that does not exist; "" if there is none."""
    words = set(name.split("_"))
    for keys, hint in HINTS.items():
        if words & set(keys.split()):
            return hint
    return ""
