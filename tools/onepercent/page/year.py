"""The months of a long period, as the page of the days draws them."""

import json

from tools.toolkit import JsonObject

from ..habits.due_days import GOAL_IS_IN_SIGHT
from ..snapshot.history import Past, count_due

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


def by_month(period: Past) -> JsonObject:
    """The months of a period, with its habits and goals.

    - `months`: each with its first day and its measures;
    - `Habits`: the share kept in each month, null if nothing was due;
    - `Goals`: the share of steps done by the end of each month.
    """
    months = [month for _, month in period.split_by("months")]
    return {
        "months": [
            {"first": f"{month.first}", "sums": month.sums().measures()} for month in months
        ],
        "Habits": _habits_by_month(months),
        "Goals": _goals_by_month(period, months),
    }


def _habits_by_month(months: list[Past]) -> list[JsonObject]:
    """Habits with something due in the period, those that were kept most first."""
    habits = []
    for habit in months[0].habits:
        signs_by_month = [month.signs(habit) for month in months]
        rate = _share_kept("".join(signs_by_month))
        if rate is not None:
            habits.append(
                {
                    "name": habit.name,
                    "rate": rate,
                    "parts": list(map(_share_kept, signs_by_month)),
                    "best_streak": habit.best_streak,
                    "is_weekly": habit.is_weekly,
                }
            )
    return sorted(habits, key=lambda item: -item["rate"])


def _share_kept(signs: str) -> float | None:
    """The share of due days on which a habit was kept; None if nothing was due."""
    due = count_due(signs)
    return round(signs.count("+") / due, 3) if due else None


def _goals_by_month(period: Past, months: list[Past]) -> list[JsonObject]:
    goals = []
    for title, count, reached, completion_dates in period.rows(GOALS_OF_PERIOD):
        dates = json.loads(completion_dates)
        shares = []
        for month in months:
            done = sum(day <= f"{month.last}" for day in dates)
            shares.append(round(done / count, 3))
        goals.append(
            {"name": title, "parts": shares, "done": f"{done}/{count}", "reached": reached}
        )
    return goals
