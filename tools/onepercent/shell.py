"""Commands of the shell for people: today, the history, a search."""

from datetime import timedelta

from tools.core.json_types import JsonObject
from tools.core.registry import TextOutput, command
from tools.onepercent import days, words
from tools.onepercent.database import store
from tools.onepercent.get_user_snapshot import get_user_snapshot
from tools.onepercent.snapshot.history import PIECES

MARK = {"completed": "✓", "missed": "✗", "pending": "·", "not_scheduled": " "}


@command("today")
def today() -> TextOutput:
    """Show the steps, habits and XP of today."""
    answer = get_user_snapshot(include=["schedule", "habits", "xp"])
    data, day = answer["data"], answer["today"]
    lines = [f"{day['date']}, {day['weekday']}"]
    lines += [f"! {step['date']} {_step(step)}" for step in data["schedule"].get("overdue", ())]
    lines += [f"{'✓' if step['is_complete'] else '·'} {_step(step)}" for step in data["schedule"].get("today", ())]
    for habit in data["habits"]["items"]:
        streak = words.say("shell.streak", count=habit["current_streak"])
        lines.append(f"{MARK[habit['today_status']]} {habit['name']} ({streak})")
    return TextOutput("\n".join([*lines, words.say("shell.level", **data["xp"]), words.say("shell.today")]))


def _step(step: JsonObject) -> str:
    minutes = step.get("time_duration", {}).get("minutes")
    return f"{step['title']} ({step['goal_title']}{f', {words.duration(minutes)}' if minutes else ''})"


@command("history")
def history(number_of_days: str = "7") -> TextOutput:
    """Show what was closed, kept and earned, by default in the last 7 days."""
    count = int(number_of_days) if number_of_days.isascii() and number_of_days.isdigit() else 0
    if not 1 <= count <= days.YEAR:
        return TextOutput(f"{number_of_days}: 1 … {days.YEAR}", 2)
    first = store.today() - timedelta(days=count - 1)
    past = get_user_snapshot(include=["history"], date_from=first.isoformat())["data"]["history"]
    rows = [_row(period[label], period) for name, label in PIECES.items() for period in past.get(name, ())]
    rows.append(_row(words.say("shell.total"), past["total"]))
    rows.append(_row(words.say("shell.before", days=words.counted(count, "day")), past["previous"]))
    lines = _table("shell.history", rows)
    if habits := past["habits"]:
        rows = [[one["name"], one.get("marks", ""), f"{one.get('rate', '')}", f"{one['streak']}"] for one in habits]
        lines += ["", *_table("shell.habits", rows), words.say("shell.marks")]
    return TextOutput("\n".join(lines))


def _row(label: str, period: JsonObject) -> list[str]:
    """2026-03-18, +35, 2/3, Читать; ★ Марафон"""
    steps, goals = period.get("steps", []), period.get("goals", [])
    closed = [*steps] if isinstance(steps, list) else [words.counted(steps, "step")]
    closed += [f"★ {goal}" for goal in goals] if isinstance(goals, list) else [words.counted(goals, "goal")]
    return [label, f"{period.get('xp', 0):+}", period.get("habits", ""), "; ".join(closed)]


def _table(heads: str, rows: list[list[str]]) -> list[str]:
    rows = [words.say(heads).split("|"), *rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


@command("find")
def find(words_wanted: str) -> TextOutput:
    """Show goals, steps, habits and diary entries that have these words."""
    lines = []
    for item in get_user_snapshot(find=words_wanted)["found"]["items"]:
        title = item.get("title") or item.get("name") or f"{item['date']} {item['text']}"
        kind = words.counted(1, item["kind"]).removeprefix("1 ")
        lines.append(f"{'✓' if item.get('done') else '·'} {kind} {item['id']}  {title}")
    return TextOutput("\n".join(lines) or "—", 0 if lines else 1)
