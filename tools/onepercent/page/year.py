"""The months of a long period, as the page of the days draws them."""

from datetime import date, timedelta

from tools.toolkit import JsonObject

from ..snapshot.history import Past, due, share, spans

# A period of more days is drawn by its months.
LONGEST_IN_DAYS = 62

# Goals that are worked on, or were reached in the period.
GOALS_OF_PERIOD = """SELECT g.id, g.title, p.steps_count AS count,
    iif(g.status = 'complete', g.completed_on, NULL) AS reached
    FROM goals g LEFT JOIN goal_progress p ON p.goal_id = g.id WHERE g.user = :user AND g.deleted_at IS NULL
    AND g.archived_at IS NULL AND p.steps_count > 0
    AND (g.status = 'work' OR g.completed_on BETWEEN :first AND :last) ORDER BY g.id"""
STEPS_UNTIL = """SELECT count(*) FROM steps
    WHERE goal_id = ? AND deleted_at IS NULL AND is_complete = 1 AND completed_on <= ?"""

Months = list[tuple[date, date]]


def by_month(recent: Past, first: date, cells: list[list[float]]) -> JsonObject:
    """`months`, each with its first day, the numbers of its days, and their sums; habits by the share of each
    month, null if nothing was due; goals by the share of their steps done by its end."""
    last = first + timedelta(len(cells) - 1)
    months = [(begin, end) for _, begin, end in spans(first, last, "months")]
    return {
        "months": [
            {
                "first": f"{begin}",
                "sums": recent.sums(begin, end).measures(),
                "cells": cells[(begin - first).days : (end - first).days + 1],
            }
            for begin, end in months
        ],
        "Habits": _shares_of_habits(recent, months),
        "Goals": _shares_of_goals(recent, months),
    }


def _shares_of_habits(recent: Past, months: Months) -> list[JsonObject]:
    """The habits of the period, the one that was kept most first."""
    habits = []
    for habit in recent.habits:
        parts = [recent.signs(habit, begin, end) for begin, end in months]
        whole = "".join(parts)
        if due(whole):
            item = {"name": habit.name, "rate": _share(whole), "parts": list(map(_share, parts))}
            habits.append(item | {"best_streak": habit.best_streak, "streak_in": habit.is_weekly})
    return sorted(habits, key=lambda item: -item["rate"])


def _share(signs: str) -> float | None:
    return share(signs.count("+"), due(signs))


def _shares_of_goals(recent: Past, months: Months) -> list[JsonObject]:
    goals = []
    rows = recent.rows_between(GOALS_OF_PERIOD, months[0][0], months[-1][1])
    for goal, name, count, reached in rows:
        done = 0
        parts = []
        for _, end in months:
            (done,) = recent.db.execute(STEPS_UNTIL, (goal, f"{end}")).fetchone()
            parts.append(share(done, count))
        goals.append({"name": name, "parts": parts, "done": f"{done}/{count}", "reached": reached})
    return goals
