"""Commands of the shell that people read: today, the history, what is found."""

from datetime import timedelta

from tools.core.json_types import JsonObject
from tools.core.registry import Printed, command
from tools.onepercent import days, words
from tools.onepercent.get_user_snapshot import get_user_snapshot

MARK = {"completed": "✓", "missed": "✗", "pending": "·", "not_scheduled": " "}


@command("today")
def today() -> Printed:
    """Show the steps, habits and XP of today."""
    answer = get_user_snapshot(include=["schedule", "habits", "xp"])
    data, present = answer["data"], answer["today"]
    lines = [f"{present['date']}, {present['weekday']}"]
    schedule, habits = data.get("schedule", {}), data.get("habits", {})
    lines += [f"! {step['date']} {_step(step)}" for step in schedule.get("overdue", ())]
    lines += [f"{'✓' if step['is_complete'] else '·'} {_step(step)}" for step in schedule.get("today", ())]
    for habit in habits.get("items", ()):
        lines.append(f"{MARK[habit['today_status']]} {habit['name']} ({habit['current_streak']})")
    return Printed("\n".join([*lines, f"XP {data['xp']['balance']}, {data['xp']['level']}"]))


def _step(step: JsonObject) -> str:
    minutes = step.get("time_duration", {}).get("minutes")
    return f"{step['title']} ({step['goal_title']}{f', {words.duration(minutes)}' if minutes else ''})"


@command("history")
def history(number_of_days: str = "7") -> Printed:
    """Show what was closed, kept and earned, by default in the last 7 days."""
    count = int(number_of_days) if number_of_days.isascii() and number_of_days.isdigit() else 0
    if not 1 <= count <= days.YEAR:
        return Printed(f"{number_of_days}: 1 … {days.YEAR}", 2)
    first = days.today(days.now()) - timedelta(days=count - 1)
    past = get_user_snapshot(include=["history"], date_from=first.isoformat())["data"]["history"]
    lines = [_period(period) for name in ("days", "weeks", "months") for period in past.get(name, ())]
    habits = past.get("habits", ())
    width = max((len(habit["name"]) for habit in habits), default=0)
    for habit in habits:
        lines.append(
            f"{habit['name']:<{width}}  {habit.get('marks', '')}  {habit.get('rate', '–')}%  {habit['streak']}"
        )
    return Printed(
        "\n".join([*lines, _sums(past["total"]), f"{past['previous']['date_from']} … {_sums(past['previous'])}"])
    )


def _period(period: JsonObject) -> str:
    """2026-03-18  +35 XP  2/3  Читать; Бегать"""
    label = next(period[name] for name in ("date", "week", "month") if name in period)
    steps = period.get("steps", [])
    closed = [*(steps if isinstance(steps, list) else [str(steps)]), *(f"★ {goal}" for goal in period.get("goals", []))]
    parts = [
        label,
        words.xp_signed(period["xp"]) if "xp" in period else "",
        period.get("habits", ""),
        "; ".join(closed),
    ]
    return "  ".join(part for part in parts if part)


def _sums(sums: JsonObject) -> str:
    return f"{sums['xp']} XP, {words.steps(sums['steps'])}, {sums['habits']}"


@command("find")
def find(words_wanted: str) -> Printed:
    """Show goals, steps, habits and diary entries that have these words."""
    items = get_user_snapshot(find=words_wanted)["found"]["items"]
    lines = [
        f"{'✓' if item.get('done') else '·'} {item['kind']} {item['id']}  "
        f"{item.get('title') or item.get('name') or item['date'] + ' ' + item['text']}"
        for item in items
    ]
    return Printed("\n".join(lines) or "—", 0 if lines else 1)
