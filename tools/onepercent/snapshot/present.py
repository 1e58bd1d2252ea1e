"""The sections of the snapshot, each read by one function."""

import json
from collections.abc import Callable
from datetime import date
from itertools import chain
from typing import Any

from tools.core import health
from tools.toolkit import JsonObject, filled

from .. import settings
from ..actions import targets
from ..actions.goals import CATEGORIES
from ..actions.repeats import compact
from ..actions.unit_of_work import balance, not_found_error
from ..base import days, fields, words
from ..base.rules import GOAL_COMPLETED, LEVEL_XP, STEP_COMPLETED
from ..database import Row, copies
from ..habits import due_days
from ..habits.histories import History, load_all
from ..habits.schedules import FOREVER, parsed_numbers
from . import View
from .history import history, percent_kept, without_open_day

# Absent values last.
STEP_ORDER = f"""ifnull(s."order", 9999999), ifnull({due_days.DUE_DAY}, '9999-12-32'), s.id"""

GOAL_SUM_COLUMN = f"iif(g.target_amount IS NULL, NULL, {targets.GOAL_SUM}) AS sum"
# `moved`: when a goal or a step of it was changed last.
MOVED_AND_TARGET = """
    max(g.updated_at, ifnull((SELECT max(updated_at) FROM steps WHERE goal_id = g.id), '')) AS moved,
    iif(g.target_amount IS NULL, NULL, json_object('amount', g.target_amount, 'unit', g.target_unit))
        AS target"""
BRIEF_GOAL = f"""g.id, g.title, p.steps_completed || '/' || p.steps_count AS done,
    nullif(g.status, 'work') AS status, g.due, {GOAL_SUM_COLUMN},
    (SELECT json_object('id', s.id, 'title', s.title, 'dt', {due_days.DUE_DAY}) FROM steps s
        WHERE goal_id = g.id AND s.deleted_at IS NULL AND is_complete = 0 ORDER BY {STEP_ORDER} LIMIT 1)
        AS next, {MOVED_AND_TARGET}"""
WHOLE_GOAL = f"""g.id, g.title, g.category, g.status,
    p.steps_completed * {STEP_COMPLETED} + iif(g.status = 'complete', {GOAL_COMPLETED}, 0) AS score,
    g.why_important, g.why_give_me, g.why_about_me, g.due, nullif(g.archived_at IS NOT NULL, 0) AS archived,
    p.steps_count, p.steps_completed, {GOAL_SUM_COLUMN}, {MOVED_AND_TARGET},
    (SELECT json_group_array(json_object('id', id, 'title', title, 'dt', {due_days.DUE_DAY},
        'priority', priority, 'time_duration', time_duration, 'progress', progress, 'repeat', repeat{{more}}))
    FROM (SELECT * FROM steps s WHERE goal_id = g.id AND s.deleted_at IS NULL{{condition}}
        ORDER BY {STEP_ORDER}) s)
        AS steps"""
WITH_OPEN_STEPS = WHOLE_GOAL.format(more="", condition=" AND is_complete = 0")
WITH_EVERY_STEP = WHOLE_GOAL.format(
    more=""", 'description', description, 'order', "order", 'is_complete', is_complete,
        'completed_on', completed_on""",
    condition="",
)
GOALS = """SELECT {columns} FROM goals g LEFT JOIN goal_progress p ON p.goal_id = g.id
    WHERE g.user = :user AND g.deleted_at IS NULL AND {condition} ORDER BY ifnull(g.place, g.id), g.id"""
# By goals_status.
GOALS_OF_STATUS = {
    "work": due_days.GOAL_IS_OPEN,
    "complete": f"g.status = 'complete' AND {due_days.GOAL_IS_IN_SIGHT}",
    "all": due_days.GOAL_IS_IN_SIGHT,
    "archived": f"NOT ({due_days.GOAL_IS_IN_SIGHT})",
}
DIARY_ENTRIES = f"""SELECT id, date, {fields.DIARY_COLUMNS}, created_at FROM diary
    WHERE user = :user AND date BETWEEN :first AND :last AND deleted_at IS NULL ORDER BY date DESC, id DESC"""
NEWEST_RATING = f"""SELECT *,
    (SELECT avg(value) FROM json_each(json_array({", ".join(CATEGORIES)}))) AS average FROM ssp_evaluations
    WHERE user = :user ORDER BY id DESC LIMIT 1"""

HABIT_COLUMNS = (
    "id name icon description n until goal_id xp_reward xp_penalty frequency schedule_days month_days "
    "target today_amount"
).split()
# Fields that move into `usual` if at least LEAST_SHARED items have the same value.
LEAST_SHARED = 3
USUAL_OF_HABITS = ("icon", "frequency", "xp_reward", "xp_penalty")
USUAL_OF_STEPS = ("priority", "time_duration", "is_complete")

DURATION_WORDS = {minutes: word for word, minutes in fields.DURATIONS.items()}
# The functions that show the values of certain columns.
CONVERTERS: dict[str, Callable[[Any], Any]] = {
    "next": lambda step: item_of(json.loads(step)),
    "steps": lambda steps: list(map(item_of, json.loads(steps))),
    "target": json.loads,
    "time_duration": lambda minutes: filled(minutes=minutes, word=DURATION_WORDS.get(minutes)),
    "repeat": compact,
    "schedule_days": parsed_numbers,
    "month_days": parsed_numbers,
    "is_complete": bool,
    "archived": bool,
    "moved": lambda stamp: f"{days.today(days.moment_of(stamp))}",
}


def item_of(row: Row) -> JsonObject:
    """Show a row as every section does, without empty values."""
    item = {name: value for name, value in dict(row).items() if value is not None}
    for name in item.keys() & CONVERTERS.keys():
        item[name] = CONVERTERS[name](item[name])
    return item


def items_of(view: View, statement: str) -> list[JsonObject]:
    """Run a query, which may name the `first` and the `last` day, and the `goal`; show its rows."""
    rows = due_days.select(
        view.db, statement, first=f"{view.first}", last=f"{view.last}", goal=view.goal_id
    )
    return list(map(item_of, rows))


def dated_items(view: View, condition: str) -> list[JsonObject]:
    """Dated steps and goals that an SQL condition selects."""
    return items_of(view, due_days.DATED.format(which=condition))


def goals(view: View) -> JsonObject:
    """Goals with their next step; `with_steps`: whole, with their open steps; a single goal with every step.
    Raises ToolError GOAL_NOT_FOUND."""
    condition = GOALS_OF_STATUS[view.goals_status]
    columns = WITH_OPEN_STEPS if view.with_steps else BRIEF_GOAL
    is_one = view.goal_id is not None
    if is_one:
        condition = "g.id = :goal"
        columns = WITH_EVERY_STEP
    items = items_of(view, GOALS.format(columns=columns, condition=condition))
    if is_one and not items:
        raise not_found_error("goal")

    steps = list(chain.from_iterable(item.get("steps", ()) for item in items))
    return extract_usual(steps, USUAL_OF_STEPS) | {"items": items, "total_count": len(items)}


def extract_usual(items: list[JsonObject], names: tuple[str, ...]) -> JsonObject:
    """Move values that most items share into `usual` and return it; an item without such a value gets an
    explicit null."""
    usual = {}
    for name in names:
        values = [item[name] for item in items if name in item]
        most_frequent = max(values, key=values.count, default=None)
        if values.count(most_frequent) < LEAST_SHARED:
            continue

        usual[name] = most_frequent
        for item in items:
            if item.get(name) == most_frequent:
                del item[name]
            else:
                item.setdefault(name, None)
    return filled(usual=usual)


def habits(view: View) -> JsonObject:
    """Habits with streaks and today's status."""
    # The habits in sight, and of all habits the signs of the last seven days.
    today = view.today.toordinal()
    week_begin = today - days.WEEK + 1
    items = []
    archived = []
    scheduled = ""  # signs of the days on which something is due by the schedule
    for habit_history in load_all(view.db, view.today):
        habit = habit_history.habit
        if habit["is_in_sight"]:
            items.append(habit_item(habit_history))
        else:
            archived.append(filled(id=habit["id"], name=habit["name"], until=habit["until"]))

        signs = without_open_day(habit_history.signs(week_begin, today))
        for day, sign in enumerate(signs, week_begin):
            if habit_history.course.is_due(day):
                scheduled += sign

    # The habits done today, and the share kept in the week.
    statuses = [item["today_status"] for item in items]
    section = {
        "items": items,
        "total_count": len(items),
        "today_completed": statuses.count("completed"),
        "today_total": len(statuses) - statuses.count("not_scheduled"),
        "weekly_completion_rate": percent_kept(scheduled) or 0,
    }
    return extract_usual(items, USUAL_OF_HABITS) | section | filled(archived=archived)


def habit_item(habit_history: History) -> JsonObject:
    """A habit with its streak and today's status."""
    row = habit_history.habit
    streak = habit_history.streak()
    times = habit_history.schedule.times
    item = {name: row[name] for name in HABIT_COLUMNS}
    item |= {
        "current_streak": streak.run,
        "best_streak": streak.best,
        "today_status": _status_today(habit_history),
    }

    if times:
        item["streak_in"] = "weeks"
    if row["times"]:
        item["this_week"] = f"{habit_history.done_in_week()}/{times}"
    if paused := habit_history.course.pause_end(habit_history.today):
        item["paused_until"] = "resumed" if paused == FOREVER else f"{date.fromordinal(paused)}"
    return item_of(item)


def _status_today(habit_history: History) -> str:
    """Today's status of a habit; one that is due some times per week is done once the week has that many, and
    not due while it may wait."""
    today = habit_history.today
    mark = habit_history.marks.get(today)
    times = habit_history.schedule.times
    if mark == "+" or (times and habit_history.done_in_week() >= times):
        return "completed"
    if mark in ("-", "e"):
        return "missed"
    is_begun = mark == "~" and habit_history.course.is_due(today)
    return "pending" if is_begun or habit_history.is_owed(today) else "not_scheduled"


def diary(view: View) -> JsonObject:
    """Diary entries between the two dates, newest first."""
    items = items_of(view, DIARY_ENTRIES)
    return {"items": items, "total_count": len(items)}


def schedule(view: View) -> JsonObject:
    """The agenda; the titles of goals, and what most steps share, stand in it once."""
    lists = agenda(view)
    steps = [row for row in chain(*lists.values()) if "kind" not in row]
    section = extract_usual(steps, USUAL_OF_STEPS)
    if len(steps) >= LEAST_SHARED:
        section["goals"] = {str(row["goal_id"]): row.pop("goal_title") for row in steps}
    return section | lists


def agenda(view: View) -> dict[str, list[JsonObject]]:
    """Steps with a date and goals that are due: today's, upcoming ones, and unfinished ones of days gone
    by."""
    today = f"{view.today}"
    rows = dated_items(view, "date BETWEEN :first AND :last")
    return {
        "today": [row for row in rows if row["date"] == today],
        "upcoming": [row for row in rows if row["date"] > today],
        "overdue": dated_items(view, due_days.OVERDUE),
    }


def ssp(view: View) -> JsonObject:
    """The latest rating of the six spheres of life."""
    row = due_days.select(view.db, NEWEST_RATING).fetchone()
    if row is None:
        return {"spheres": [], "average_score": None, "ssp_evaluation_id": None}

    return {
        "spheres": [
            {
                "category": category,
                "name": words.value_in_words("category", category).capitalize(),
                "score": row[category],
            }
            for category in CATEGORIES
        ],
        "average_score": round(row["average"], 1),
        "ssp_evaluation_id": row["id"],
    }


def xp(view: View) -> JsonObject:
    """XP and level: level n starts at a balance of 1000·(n−1); progress in percent."""
    present, lifetime = balance(view.db, settings.user())
    level = present // LEVEL_XP + 1
    return {
        "balance": present,
        "lifetime": lifetime,
        "level": level,
        "level_progress": present % LEVEL_XP * 100 // LEVEL_XP,
        "next_level_xp": level * LEVEL_XP,
    }


def status(view: View) -> JsonObject:
    """The state of the systems, which of them need internet, the newest copy of the database, and the
    commands that make one."""
    return {
        "systems": {name: result.state for name, result in health.run_checks()},
        "offline": "all but search and sync_docs works without internet",
        "backup": {"newest": copies.newest_day(), "folder": str(copies.folder())},
        "commands": [
            "python3 -m tools onepercent backup",
            "python3 -m tools onepercent export FILE.json",
        ],
    }


SECTIONS = {
    section.__name__: section
    for section in (goals, habits, diary, schedule, xp, ssp, history, status)
}
