"""An example of every action and values of its fields, from which the tests of all actions take."""

from datetime import timedelta

from tests.onepercent.person import (
    act,
    complete,
    do,
    mark,
    new_entry,
    new_goal,
    new_habit,
    new_step,
)
from tests.support.client import json_lines

# Each is taken by the life that `lived` leaves.
EXAMPLES = dict(
    json_lines("""
["goal.create", {"title": "Отпуск"}]
["goal.update", {"goal_id": 1, "title": "Дача"}]
["goal.add", {"goal_id": 2, "amount": 2.5}]
["goal.complete", {"goal_id": 1}]
["goal.reopen", {"goal_id": 2}]
["goal.archive", {"goal_id": 1}]
["goal.unarchive", {"goal_id": 3}]
["goal.delete", {"goal_id": 1}]
["step.create", {"goal_id": 1, "title": "Билеты"}]
["step.update", {"step_id": 1, "title": "Купить"}]
["step.shift", {"goal_id": 1, "days": 7}]
["step.complete", {"step_id": 1}]
["step.reopen", {"step_id": 2}]
["step.delete", {"step_id": 1}]
["habit.create", {"name": "Зарядка"}]
["habit.update", {"habit_id": 1, "name": "Прогулка"}]
["habit.mark_completed", {"habit_id": 1}]
["habit.mark_missed", {"habit_id": 1}]
["habit.unmark", {"habit_id": 2, "date": "2026-03-18"}]
["habit.pause", {"habit_id": 1}]
["habit.resume", {"habit_id": 2}]
["habit.archive", {"habit_id": 1}]
["habit.unarchive", {"habit_id": 3}]
["habit.delete", {"habit_id": 1}]
["diary.create_entry", {"what_done": "Позвонил"}]
["diary.update_entry", {"diary_id": 1, "plans": "Написать"}]
["diary.delete_entry", {"diary_id": 1}]
["ssp.rate", {"category": "family", "score": 7}]
["person.update", {"time_zone": "Asia/Tokyo"}]
""")
)

SUM = {"amount": 10, "unit": "км"}
REPEATS = json_lines("""
{"every": "day"}
{"every": "day", "interval": 3}
{"every": "day", "interval": 3, "after": "done"}
{"every": "week", "on": ["mon", "thu"]}
{"every": "week", "interval": 2, "on": ["sun"]}
{"every": "week", "after": "done"}
{"every": "month", "on": [31]}
{"every": "month", "on": [1, 15]}
{"every": "month", "interval": 2, "on": [30]}
{"every": "year"}
{"every": "day", "until": "2027-01-10"}
""")
# A frequency, and what it needs beside it.
SCHEDULES = json_lines("""
{"frequency_type": "weekdays"}
{"frequency_type": "daily"}
{"frequency_type": "weekends"}
{"frequency_type": "weekly"}
{"frequency_type": "times_per_week", "times": 3}
{"frequency_type": "every_n_days", "n": 2}
{"frequency_type": "monthly", "month_days": [1, 31]}
{"frequency_type": "custom", "schedule_days": [1, 7]}
""")
IDS = [1, 1, 2, 2, 3, 3, 4, 5, 6, 7]
DATES = ("date", "dt", "due", "from", "to", "until")
# How many days ahead a date is.
AHEAD = [30, 4, 1, 0, 0, 0, -1, -2, -3, -8, -31]
TITLES = ["Читать", "Run", "שלום", "= 2"]
TEXTS = (
    "title name description icon note reason excuse_reason what_done what_not_done reflection plans "
    "why_important why_give_me why_about_me"
)
# The first of each is not what the field is by default. A new field needs some here.
VALUES = dict.fromkeys(TEXTS.split(), TITLES) | {
    "amount": [5, 1, 2.5, -1],
    "category": ["hobby", "work"],
    "day_start_hour": [4, 0],
    "days": [3, -2],
    "diary.append": [{"what_done": "Ещё"}],
    "goal.steps": [[{"title": "a", "dt": "2026-12-25"}, {"title": "b"}]],
    "goal.target": [SUM, None],
    "habit.target": [{"amount": 2, "unit": "л"}, {"at_most": 0}, {"at_most": 2, "unit": "ч"}, None],
    "order": [3, 1, 2],
    "priority": ["critical", None],
    "progress": [40],
    "repeat": [*REPEATS, None],
    "score": IDS,
    "time_duration": [45, "half"],
    "time_zone": ["Asia/Tokyo", "UTC", "America/New_York"],
    "xp_penalty": [3],
    "xp_reward": [7],
}


def values(thing, field, today):
    """What a field of a goal, step, habit or entry may be; nothing for what needs others beside it."""
    if field.endswith("_id") or field == "before":
        return IDS
    if field in DATES:
        return [str(today + timedelta(days)) for days in AHEAD]
    return VALUES.get(f"{thing}.{field}") or VALUES.get(field, [])


def lived():
    """Goals that are open, reached and archived, a step of both kinds, a habit that is not marked, one that is
    marked and paused, an archived one, and an entry of the diary."""
    do(
        new_goal("Дом", due="2026-04-01"),
        new_step("Раз", dt="2026-03-20"),
        new_step("Два"),
        new_goal("Марафон", target=SUM),
        new_goal("Сад"),
        *(new_habit(name) for name in ("Бег", "Вода", "Сон")),
        new_entry(plans="План"),
    )
    do(
        complete(2),
        act("goal.complete", 2),
        act("goal.archive", 3),
        mark(2),
        act("habit.pause", 2),
        act("habit.archive", 3),
    )
