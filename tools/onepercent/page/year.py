"""The months of a long period, as the page of the days draws them."""

import json
from itertools import islice

from tools.toolkit import JsonObject

from ..habits.due_days import GOAL_IS_IN_SIGHT
from ..snapshot.history import Past, due

# A period of more days is drawn by its months.
LONGEST_IN_DAYS = 62

# Goals that are worked on, or were reached in the period.
GOALS_OF_PERIOD = f"""SELECT g.title, p.steps_count, iif(g.status = 'complete', g.completed_on, NULL),
    (SELECT json_group_array(completed_on) FROM steps
        WHERE goal_id = g.id AND deleted_at IS NULL AND is_complete = 1
        AND completed_on <= :last)
    FROM goals g LEFT JOIN goal_progress p ON p.goal_id = g.id WHERE g.user = :user AND g.deleted_at IS NULL
    AND {GOAL_IS_IN_SIGHT} AND p.steps_count > 0
    AND (g.status = 'work' OR g.completed_on BETWEEN :first AND :last) ORDER BY g.id"""


def by_month(period: Past, cells: list[list[float]]) -> JsonObject:
    """`months`, each with its first day, the numbers of its days, and their sums; habits by the share of each
    month, null if nothing was due; goals by the share of their steps done by its end."""
    months = [month for _, month in period.parts("months")]
    numbers = iter(cells)
    return {
        "months": [
            {
                "first": f"{month.first}",
                "sums": month.sums().measures(),
                "cells": list(islice(numbers, month.last.day - month.first.day + 1)),
            }
            for month in months
        ],
        "Habits": _shares_of_habits(months),
        "Goals": _shares_of_goals(period, months),
    }


def _shares_of_habits(months: list[Past]) -> list[JsonObject]:
    """The habits of the period, the one that was kept most first."""
    habits = []
    for habit in months[0].habits:
        parts = [month.signs(habit) for month in months]
        whole = "".join(parts)
        if due(whole):
            habits.append(
                {
                    "name": habit.name,
                    "rate": _share(whole),
                    "parts": list(map(_share, parts)),
                    "best_streak": habit.best_streak,
                    "streak_in": habit.is_weekly,
                }
            )
    return sorted(habits, key=lambda item: -item["rate"])


def _share(signs: str) -> float | None:
    """The share of due days that were kept; None if nothing was due."""
    was_due = due(signs)
    return round(signs.count("+") / was_due, 3) if was_due else None


def _shares_of_goals(period: Past, months: list[Past]) -> list[JsonObject]:
    goals = []
    for name, count, reached, completion_days in period.rows(GOALS_OF_PERIOD):
        dates = json.loads(completion_days)
        parts = []
        for month in months:
            done = sum(day <= f"{month.last}" for day in dates)
            parts.append(round(done / count, 3))
        goals.append({"name": name, "parts": parts, "done": f"{done}/{count}", "reached": reached})
    return goals
