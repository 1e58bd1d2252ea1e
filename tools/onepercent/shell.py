"""Commands of the shell for people: today, the history, a search, and a report to keep."""

from datetime import timedelta
from pathlib import Path

from tools.core.mcp_apps import document
from tools.toolkit import JsonObject, TextOutput, command, compact_json, for_people

from .base import days, fields, words
from .database import store
from .habits.schedules import LAST
from .snapshot import present, word_search
from .snapshot.history import (
    CLOSED_GOALS,
    CLOSED_STEPS,
    NOTES,
    UNITS,
    Past,
    past_between,
    rate,
    span_on_record,
)

SIGN_OF_STATUS = {"completed": "✓", "missed": "✗", "pending": "·", "not_scheduled": " "}
DAYS_SHOWN = 28
LONGEST_HISTORY_DAYS = 36_525  # a hundred years
BY_COMPLETION = "ORDER BY completed_on, id"
USAGE = "python3 -m tools onepercent report FILE.html [--from 2026-03-01] [--to 2026-03-31]"


@command("today")
@for_people
def today() -> TextOutput:
    """Show the steps, habits, goals that are a sum, and XP of today."""
    day = store.today()
    with store.reading() as db:
        view = present.View(db, day, day, day)
        schedule = present.dated(view)
        xp = present.xp(view)
        goals = present.goals(view)["items"]
        habits = present.habits(view)["items"]

    lines = [f"{day}, {words.weekday(day)}"]
    for step in schedule["overdue"]:
        lines.append(f"! {words.day_in_words(step['date'])} {_step(step)}")
    for step in schedule["today"]:
        lines.append(f"{'✓' if step['is_complete'] else '·'} {_step(step)}")
    for goal in goals:
        # One whose day has come stands above.
        if "target" in goal and goal.get("due", LAST) > f"{day}":
            lines.append(f"· {goal['title']} {words.amount_in_words(goal['sum'], goal['target'])}")
    for habit in habits:
        lines.append(f"{SIGN_OF_STATUS[habit['today_status']]} {_habit(habit)}")
    lines += [words.text_of("shell.level", **xp), words.text_of("shell.today")]
    return TextOutput("\n".join(lines))


def _step(step: JsonObject) -> str:
    about = step.get("goal_title") or words.text_of("thing.goal")
    if length := step.get("time_duration"):
        about += f", {words.duration(length['minutes'])}"
    return f"{step['title']} ({about})"


def _habit(habit: JsonObject) -> str:
    """Вода 1 из 2 л (серия 3 дня); Бег 1/3 (серия 2 недели)."""
    period = habit.get("streak_in", "days").removesuffix("s")
    streak = words.text_of("shell.streak", count=words.counted(habit["current_streak"], period))
    text: str = habit["name"]
    if target := habit.get("target"):
        text += f" {words.amount_in_words(habit['today_amount'], target)}"
    if "this_week" in habit:
        text += f" {habit['this_week']}"
    return f"{text} ({streak})"


@command("history")
@for_people
def history(number_of_days: str = "7") -> TextOutput:
    """Show what was closed, kept and earned, by default in the last 7 days."""
    count = int(number_of_days) if number_of_days.isdecimal() else 0
    if not 1 <= count <= LONGEST_HISTORY_DAYS:
        return TextOutput(words.text_of("shell.days", most=LONGEST_HISTORY_DAYS), 2)
    today = store.today()
    first = today - timedelta(count - 1)
    with store.reading() as db:
        span = span_on_record(db, first, today, today)
        past = present.history(present.View(db, today, first, today, past=span))

    rows = []
    for unit, (label, _) in UNITS.items():
        rows += [_period_row(period[label], period) for period in past.get(unit, ())]
    before = words.text_of("shell.before", days=words.counted(count, "day"))
    rows += [
        _period_row(words.text_of("shell.total"), past["total"]),
        _period_row(before, past["previous"]),
    ]
    lines = _table("shell.history", rows)

    if past["habits"]:
        rows = [
            [
                habit["name"],
                habit.get("marks", ""),
                f"{habit.get('rate', '')}",
                f"{habit['streak']}",
            ]
            for habit in past["habits"]
        ]
        lines += ["", *_table("shell.habits", rows), words.text_of("shell.marks")]
    return TextOutput("\n".join(lines))


def _period_row(label: str, period: JsonObject) -> list[str]:
    """2026-03-18, +35, 2/3, Читать; ★ Марафон"""
    closed = []
    for kind, sign in (("step", ""), ("goal", "★ ")):
        done = period.get(f"{kind}s", [])  # titles, of a longer time a number
        if isinstance(done, int):
            closed.append(words.counted(done, kind))
        else:
            closed += [sign + title for title in done]
    return [label, f"{period.get('xp', 0):+}", period.get("habits", ""), "; ".join(closed)]


def _table(heads: str, rows: list[list[str]]) -> list[str]:
    rows = [words.text_of(heads).split("|"), *rows]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


@command("find")
@for_people
def find(*query: str) -> TextOutput:
    """Show the goals, steps, habits and diary entries that have these words."""
    text = " ".join(query)
    lines = []
    with store.reading() as db:
        found = word_search.search(db, text)
    for item in found["items"]:
        title = item.get("title") or item.get("name") or f"{item['date']} {item['text']}"
        sign = "✓" if "done" in item else "·"
        lines.append(f"{sign} {words.text_of('thing.' + item['kind'])} {item['id']}  {title}")
    if not lines:
        return TextOutput(words.text_of("shell.nothing", words=text), 1)
    return TextOutput("\n".join(lines))


@command("report")
@for_people
def report(file: str, *period: str) -> TextOutput:
    """Write the last four weeks, or the days --from DAY --to DAY, as a page to keep, open in any browser and
    print."""
    options = dict(zip(period[::2], period[1::2]))
    if len(period) % 2 or not options.keys() <= {"--from", "--to"}:
        return TextOutput(USAGE, 2)
    bounds = {name: fields.parse_date(name, day) for name, day in options.items()}
    today = store.today()
    last = min(today, bounds.get("--to", today))
    first = bounds.get("--from", last - timedelta(DAYS_SHOWN - 1))
    if not 0 <= (last - first).days < days.YEAR:
        return TextOutput(f"{first} to {last} is not a period of 1 to {days.YEAR} days. {USAGE}", 1)

    with store.reading() as db:
        span_on_record(db, first, last, today)
        content = _content(past_between(db, first, last, today))

    data = compact_json(content).replace("<", "\\u003c")
    page = document(Path(__file__).parent / "page" / "report.html")
    target = Path(file).expanduser()
    with store.replacing(target) as part:
        part.write_text(page.replace(">null<", f">{data}<"), "utf-8")
    return TextOutput(words.text_of("report.written", file=target))


def _content(period: Past) -> JsonObject:
    """The data that the page draws: sums of the period and of each day, a sign per day of each habit, goals
    closed, the diary."""
    notes = period.by_habit(NOTES)
    habits = []
    for habit in period.habits:
        more = {"rate": rate(period.signs(habit)), "notes": notes.get(habit.id, {})}
        habits.append(habit._asdict() | more)

    goals = period.rows(f"SELECT title, completed_on {CLOSED_GOALS} {BY_COMPLETION}")
    steps = period.rows(f"""SELECT title, completed_on,
        (SELECT goals.title FROM goals WHERE goals.id = goal_id) {CLOSED_STEPS} {BY_COMPLETION}""")
    diary = period.rows(f"""SELECT date, {fields.DIARY_COLUMNS} FROM diary WHERE user = :user
        AND date BETWEEN :first AND :last AND deleted_at IS NULL ORDER BY date, id""")
    return {
        "language": words.language(),
        "first": f"{period.first}",
        "last": f"{period.last}",
        "sums": period.sums()._asdict(),
        "days": [day.sums()._asdict() for _, day in period.parts("days")],
        "habits": habits,
        "goals": list(map(tuple, goals)),
        "steps": list(map(tuple, steps)),
        "diary": list(map(dict, diary)),
    }
