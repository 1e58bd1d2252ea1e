"""Commands of the shell for people: today, the history, a search, and a report to keep."""

from datetime import timedelta
from pathlib import Path

from tools.core.mcp_apps import document
from tools.toolkit import JsonObject, TextOutput, command, compact_json, for_people

from .base import days, fields, words
from .database import store
from .habits.schedules import LAST_DATE
from .snapshot import present, word_search
from .snapshot.history import (
    CLOSED_GOALS,
    CLOSED_STEPS,
    NOTES,
    PERIOD_KINDS,
    RECENT_DAYS,
    Past,
    past_between,
    percent_kept,
    span_on_record,
)

SIGN_OF_STATUS = {"completed": "✓", "missed": "✗", "pending": "·", "not_scheduled": " "}
LONGEST_HISTORY_DAYS = 36_525  # a hundred years
BY_COMPLETION = "ORDER BY completed_on, id"
USAGE = "python3 -m tools onepercent report FILE.html [--from 2026-03-01] [--to 2026-03-31]"


@command("today")
@for_people
def show_today() -> TextOutput:
    """Show the steps, habits, goals that are a sum, and XP of today."""
    today = store.persons_today()
    with store.reading() as db:
        view = present.View(db, today, today, today)
        agenda = present.agenda(view)
        xp = present.xp(view)
        goals = present.goals(view)["items"]
        habits = present.habits(view)["items"]

    lines = [f"{today}, {words.weekday_name(today)}"]
    for step in agenda["overdue"]:
        lines.append(f"! {words.day_in_words(step['date'])} {_step_in_words(step)}")
    for step in agenda["today"]:
        lines.append(f"{'✓' if step['is_complete'] else '·'} {_step_in_words(step)}")
    for goal in goals:
        # A goal whose day has come is in the agenda.
        if "target" in goal and goal.get("due", LAST_DATE) > f"{today}":
            lines.append(f"· {goal['title']} {words.amount_in_words(goal['sum'], goal['target'])}")
    for habit in habits:
        lines.append(f"{SIGN_OF_STATUS[habit['today_status']]} {_habit_in_words(habit)}")
    lines += [words.text_of("shell.level", **xp), words.text_of("shell.today")]
    return TextOutput("\n".join(lines))


def _step_in_words(step: JsonObject) -> str:
    """A step with its goal: `Read (Books, 1 h 30 min)`; a goal that is due: `Taxes (goal)`."""
    about = step.get("goal_title") or words.text_of("thing.goal")
    if length := step.get("time_duration"):
        about += f", {words.duration_in_words(length['minutes'])}"
    return f"{step['title']} ({about})"


def _habit_in_words(habit: JsonObject) -> str:
    """A habit of today: `Water 1 of 2 l (streak 3 days)`; `Run 1/3 (streak 2 weeks)`."""
    period = habit.get("streak_in", "days").removesuffix("s")
    streak = words.text_of(
        "shell.streak", count=words.count_in_words(habit["current_streak"], period)
    )
    text = habit["name"]
    if target := habit.get("target"):
        text += f" {words.amount_in_words(habit['today_amount'], target)}"
    if "this_week" in habit:
        text += f" {habit['this_week']}"
    return f"{text} ({streak})"


@command("history")
@for_people
def show_history(number_of_days: str = "7") -> TextOutput:
    """Show what was closed, kept and earned, by default in the last 7 days."""
    count = int(number_of_days) if number_of_days.isdecimal() else 0
    if not 1 <= count <= LONGEST_HISTORY_DAYS:
        return TextOutput(words.text_of("shell.days", most=LONGEST_HISTORY_DAYS), 2)
    today = store.persons_today()
    first = today - timedelta(count - 1)
    with store.reading() as db:
        span = span_on_record(db, first, today, today)
        section = present.history(present.View(db, today, first, today, history_span=span))

    # A row per day, week or month, the total, and that of as many days before.
    rows = []
    for period_kind, (date_key, _) in PERIOD_KINDS.items():
        rows += [_period_row(period[date_key], period) for period in section.get(period_kind, ())]
    before = words.text_of("shell.before", days=words.count_in_words(count, "day"))
    rows += [
        _period_row(words.text_of("shell.total"), section["total"]),
        _period_row(before, section["previous"]),
    ]
    lines = _table_lines("shell.history", rows)

    # The habits.
    rows = [
        [habit["name"], habit.get("marks", ""), f"{habit.get('rate', '')}", f"{habit['streak']}"]
        for habit in section["habits"]
    ]
    if rows:
        lines += ["", *_table_lines("shell.habits", rows), words.text_of("shell.marks")]
    return TextOutput("\n".join(lines))


def _period_row(label: str, period: JsonObject) -> list[str]:
    """2026-03-18, +35, 2/3, Читать; ★ Марафон"""
    closed = []
    for thing, sign in (("step", ""), ("goal", "★ ")):
        titles = period.get(f"{thing}s", [])
        if isinstance(titles, int):  # of a longer time only their number
            closed.append(words.count_in_words(titles, thing))
        else:
            closed += [sign + title for title in titles]
    return [label, f"{period.get('xp', 0):+}", period.get("habits", ""), "; ".join(closed)]


def _table_lines(heads: str, rows: list[list[str]]) -> list[str]:
    rows = [words.text_of(heads).split("|"), *rows]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


@command("find")
@for_people
def show_matches(*query: str) -> TextOutput:
    """Show the goals, steps, habits and diary entries that have these words."""
    phrase = " ".join(query)
    lines = []
    with store.reading() as db:
        matches = word_search.find_things(db, phrase)
    for item in matches["items"]:
        title = item.get("title") or item.get("name") or f"{item['date']} {item['text']}"
        sign = "✓" if "done" in item else "·"
        lines.append(f"{sign} {words.text_of('thing.' + item['kind'])} {item['id']}  {title}")
    if not lines:
        return TextOutput(words.text_of("shell.nothing", words=phrase), 1)
    return TextOutput("\n".join(lines))


@command("report")
@for_people
def write_report(file: str, *period: str) -> TextOutput:
    """Write the last four weeks, or the days --from DAY --to DAY, as a page to keep, open in any browser and
    print."""
    options = dict(zip(period[::2], period[1::2]))
    if len(period) % 2 or not options.keys() <= {"--from", "--to"}:
        return TextOutput(USAGE, 2)
    bounds = {name: fields.parse_date(name, day) for name, day in options.items()}
    today = store.persons_today()
    last = min(today, bounds.get("--to", today))
    first = bounds.get("--from", last - timedelta(RECENT_DAYS - 1))
    if not 0 <= (last - first).days < days.YEAR:
        return TextOutput(f"{first} to {last} is not a period of 1 to {days.YEAR} days. {USAGE}", 1)

    with store.reading() as db:
        span_on_record(db, first, last, today)
        content = _report_content(past_between(db, first, last, today))

    data = compact_json(content).replace("<", "\\u003c")
    page = document(Path(__file__).parent / "page" / "report.html")
    target = Path(file).expanduser()
    with store.replacing(target) as part:
        part.write_text(page.replace(">null<", f">{data}<"), "utf-8")
    return TextOutput(words.text_of("report.written", file=target))


def _report_content(period: Past) -> JsonObject:
    """The data that the report draws: sums of the period and of each day, a sign per day of each habit, goals
    and steps closed, the diary."""
    notes = period.by_habit(NOTES)
    habits = []
    for habit in period.habits:
        rate = percent_kept(period.signs(habit))
        habits.append(habit._asdict() | {"rate": rate, "notes": notes.get(habit.id, {})})

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
        "days": [day.sums()._asdict() for _, day in period.split_by("days")],
        "habits": habits,
        "goals": list(map(tuple, goals)),
        "steps": list(map(tuple, steps)),
        "diary": list(map(dict, diary)),
    }
