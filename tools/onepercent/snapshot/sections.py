"""The sections of the snapshot, each read by one function."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from tools.core.json_types import JsonObject
from tools.onepercent import days, fields, words, xp
from tools.onepercent.actions.goals import CATEGORIES
from tools.onepercent.actions.unit_of_work import Row, balance, missing
from tools.onepercent.database.types import Database
from tools.onepercent.habits.histories import History, histories
from tools.onepercent.habits.streaks import DONE, EXCUSED
from tools.onepercent.snapshot.history import history

SHOWN_STEPS = 5

WHY = ("why_important", "why_give_me", "why_about_me")

IN_ORDER = """ifnull("order", 9999999), ifnull(dt, '9999-12-32'), id"""
"""As the index steps_by_goal has it."""


@dataclass(frozen=True)
class View:
    """What to show: of whom, on which day, from one date to another, goals of which status or only one."""

    user: str
    today: date
    first: str
    last: str
    goals_status: str = "work"
    goal_id: int | None = None
    past_first: date = date.min
    past_last: date = date.min


def goals(db: Database, view: View) -> JsonObject:
    """Goals with their first open steps, or one goal with every step.

    Raises ToolError GOAL_NOT_FOUND.
    """
    if view.goal_id is not None:
        row = db.execute(f"{GOALS} AND g.id = ?", (view.user, view.goal_id)).fetchone()
        if row is None:
            raise missing("goal")
        items = [_goal(row) | {"steps": _every_step(db, row["id"])}]
    elif view.goals_status == "all":
        items = [
            _goal(row) | _first_steps(db, row) for row in db.execute(f"{GOALS} ORDER BY g.id", (view.user,)).fetchall()
        ]
    else:
        rows = db.execute(f"{GOALS} AND g.status = ? ORDER BY g.id", (view.user, view.goals_status)).fetchall()
        items = [_goal(row) | _first_steps(db, row) for row in rows]
    return {"items": items, "total_count": len(items)}


GOALS = """SELECT g.*, p.steps_count, p.steps_completed FROM goals g JOIN goal_progress p ON p.goal_id = g.id
    WHERE g.user = ? AND g.deleted_at IS NULL"""


def _goal(row: Row) -> JsonObject:
    item = {name: row[name] for name in ("id", "title", "category", "status")}
    item["score"] = xp.score(row["status"], row["steps_completed"])
    item |= {name: row[name] for name in WHY if row[name]}
    return item | {"steps_count": row["steps_count"], "steps_completed": row["steps_completed"]}


def _first_steps(db: Database, goal: Row) -> JsonObject:
    rows = db.execute(
        f"""SELECT id, title, dt, priority, time_duration FROM steps
        WHERE goal_id = ? AND is_complete = 0 AND deleted_at IS NULL ORDER BY {IN_ORDER} LIMIT {SHOWN_STEPS}""",
        (goal["id"],),
    ).fetchall()
    more = goal["steps_count"] - goal["steps_completed"] - len(rows)
    return {"steps": [_step(row) for row in rows]} | ({"steps_more": more} if more else {})


def _every_step(db: Database, goal_id: int) -> list[JsonObject]:
    rows = db.execute(
        f"""SELECT id, title, description, dt, priority, time_duration, "order", is_complete, completed_at FROM steps
        WHERE goal_id = ? AND deleted_at IS NULL ORDER BY {IN_ORDER}""",
        (goal_id,),
    )
    return [_step(row) | {"is_complete": bool(row["is_complete"])} for row in rows]


def _step(row: Row) -> JsonObject:
    step: JsonObject = {name: value for name, value in zip(row.keys(), row, strict=True) if value is not None}
    if "time_duration" in step:
        step["time_duration"] = fields.duration(step["time_duration"])
    return step


def habits(db: Database, view: View) -> JsonObject:
    """Habits with streaks and today's status."""
    today = view.today.toordinal()
    every_history = histories(db, view.user, view.today)
    items = [_habit(history, today) for history in every_history]
    statuses = [item["today_status"] for item in items]
    return {
        "items": items,
        "total_count": len(items),
        "today_completed": statuses.count("completed"),
        "today_total": len(statuses) - statuses.count("not_scheduled"),
        "weekly_completion_rate": _rate([_week(history, today) for history in every_history]),
    }


def _habit(history: History, today: int) -> JsonObject:
    row = history.habit
    current, best = history.streak(today)
    set_only = {"description": row["description"]} if row["description"] else {}
    chosen = {"schedule_days": days.listed(row["schedule_days"])} if row["schedule_days"] else {}
    return {
        **{name: row[name] for name in ("id", "name", "icon")},
        **set_only,
        "frequency": row["frequency_type"],
        **chosen,
        **{name: row[name] for name in ("xp_reward", "xp_penalty")},
        "current_streak": current,
        "best_streak": best,
        "today_status": _status(history, today),
    }


def _status(history: History, today: int) -> str:
    """A weekly habit is done for today once it is done on any day of the week."""
    period, outcome = history.schedule.period(today), history.week.get(today)
    kept = history.schedule.weekly and any(
        outcome == DONE and days.monday(day) == period for day, outcome in history.week.items()
    )
    if outcome == DONE or kept:
        return "completed"
    if outcome is not None:
        return "missed"
    return "not_scheduled" if period is None else "pending"


def _week(history: History, today: int) -> tuple[int, int]:
    """(kept, due) over the last seven days: an excused day and what is still pending today are not due."""
    started = days.parsed(history.habit["created_on"]).toordinal()
    if history.marks:
        started = min(started, history.marks[0][0])
    if history.schedule.weekly:
        outcomes = history.week.values()
        kept = DONE in outcomes
        return int(kept), int(kept or (started <= today - days.WEEK and EXCUSED not in outcomes))
    kept_days = due_days = 0
    for day in range(max(today - days.WEEK + 1, started), today + 1):
        outcome = history.week.get(day)
        if history.schedule.period(day) and outcome != EXCUSED and (day < today or outcome is not None):
            due_days += 1
            kept_days += outcome == DONE
    return kept_days, due_days


def _rate(weeks: list[tuple[int, int]]) -> int:
    kept, due = sum(kept for kept, _ in weeks), sum(due for _, due in weeks)
    return round(100 * kept / due) if due else 0


def diary(db: Database, view: View) -> JsonObject:
    """Diary entries between the two dates, newest first."""
    rows = db.execute(
        """SELECT id, date, what_done, what_not_done, reflection, plans, created_at FROM diary
        WHERE user = ? AND date BETWEEN ? AND ? AND deleted_at IS NULL ORDER BY date DESC, id DESC""",
        (view.user, view.first, view.last),
    )
    items = [{name: value for name, value in dict(row).items() if value is not None} for row in rows]
    return {"items": items, "total_count": len(items)}


def schedule(db: Database, view: View) -> JsonObject:
    """Steps with a date: today's, those to come, and unfinished ones of days gone by."""
    today = view.today.isoformat()
    dated = [
        _dated(row)
        for row in db.execute(DATED + "BETWEEN ? AND ? ORDER BY s.dt, s.id", (view.user, view.first, view.last))
    ]
    overdue = db.execute(DATED + "< ? AND s.is_complete = 0 ORDER BY s.dt, s.id", (view.user, today))
    return {
        "today": [step for step in dated if step["date"] == today],
        "upcoming": [step for step in dated if step["date"] > today],
        "overdue": [_dated(row) for row in overdue],
    }


DATED = """SELECT s.id, s.title, s.goal_id, g.title AS goal_title, s.dt AS date,
    s.priority, s.time_duration, s.is_complete FROM steps s JOIN goals g ON g.id = s.goal_id
    WHERE s.user = ? AND s.deleted_at IS NULL AND s.is_complete IN (0, 1) AND s.dt """


def _dated(row: Row) -> JsonObject:
    return _step(row) | {"is_complete": bool(row["is_complete"])}


def experience(db: Database, view: View) -> JsonObject:
    """XP and level."""
    return xp.levels(*balance(db, view.user))


def ssp(db: Database, view: View) -> JsonObject:
    """How the person rated the six spheres of life last."""
    row = db.execute("SELECT * FROM ssp_evaluations WHERE user = ? ORDER BY id DESC LIMIT 1", (view.user,)).fetchone()
    if row is None:
        return {"spheres": [], "average_score": None, "ssp_evaluation_id": None}
    scores = {category: row[category] for category in CATEGORIES}
    rated = [score for score in scores.values() if score is not None]
    return {
        "spheres": [
            {"category": category, "name": words.say(f"category.{category}").capitalize(), "score": score}
            for category, score in scores.items()
        ],
        "average_score": round(sum(rated) / len(rated), 1) if rated else None,
        "ssp_evaluation_id": row["id"],
    }


def subscription(db: Database, view: View) -> JsonObject:
    """A self-hosted edition has none."""
    return {"tariff": "self_hosted", "status": "active", "days_remaining": None}


def past(db: Database, view: View) -> JsonObject:
    """What was closed, kept and earned."""
    return history(db, view.user, view.past_first, view.past_last, view.today)


SECTIONS: dict[str, Callable[[Database, View], JsonObject]] = {
    "goals": goals,
    "habits": habits,
    "diary": diary,
    "schedule": schedule,
    "xp": experience,
    "ssp": ssp,
    "subscription": subscription,
    "history": past,
}
