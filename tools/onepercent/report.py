"""The report: a period as one HTML file, to be kept, opened in any browser and printed."""

from datetime import date, timedelta
from pathlib import Path

from tools.core.errors import ToolError
from tools.core.json_types import JsonObject, encodable
from tools.core.mcp_apps import document
from tools.core.registry import TextOutput, command
from tools.onepercent import fields, settings, words
from tools.onepercent.database import store
from tools.onepercent.database.types import Database
from tools.onepercent.days import YEAR
from tools.onepercent.snapshot.history import CLOSED_GOALS, CLOSED_STEPS, past, rate

DAYS_SHOWN = 28
PLACE = 'type="application/json">null<'
"""The place in the page that the data takes."""
DIARY = """SELECT date, what_done, what_not_done, reflection, plans FROM diary
    WHERE user = :user AND date BETWEEN :first AND :last AND deleted_at IS NULL ORDER BY date, id"""
TITLES, IN_ORDER = "SELECT title, completed_on", "ORDER BY completed_on, id"
USAGE = "python3 -m tools onepercent report FILE.html [--from 2026-03-01] [--to 2026-03-31]"


@command("report")
def report(file: str, *period: str) -> TextOutput:
    """Write the last four weeks, or the days --from DAY --to DAY, as a page to keep, open in any browser and print."""
    options = dict(zip(period[::2], period[1::2], strict=False))
    if len(period) % 2 or not options.keys() <= {"--from", "--to"}:
        return TextOutput(USAGE, 2)
    today, target = store.today(), Path(file).expanduser()
    last = min(today, date.fromisoformat(fields.read_day("--to", options.get("--to", f"{today}"))))
    first = date.fromisoformat(fields.read_day("--from", options.get("--from", f"{last - timedelta(DAYS_SHOWN - 1)}")))
    if not timedelta(0) <= last - first < timedelta(YEAR):
        raise ToolError(f"{first} to {last} is not a period of 1 to {YEAR} days", USAGE, code="INVALID_DATE")
    with store.reading() as db:
        _, text = encodable(_content(db, settings.current().onepercent_user, first, last, today))
    page = document(Path(__file__).parent / "page" / "report.html")
    with store.replacing(target) as part:
        part.write_text(page.replace(PLACE, PLACE.replace("null", text.replace("<", "\\u003c"))), encoding="utf-8")
    return TextOutput(words.say("report.written", file=target))


def _content(db: Database, user: str, first: date, last: date, today: date) -> JsonObject:
    """The data that the page draws: sums of the period and of each day, a sign per day of each habit, goals closed, the diary."""
    told = past(db, user, first, last, today)
    dates = [first + timedelta(place) for place in range((last - first).days + 1)]
    return {
        "language": words.language(),
        "first": first.isoformat(),
        "last": last.isoformat(),
        "sums": told.sums(first, last)._asdict(),
        "days": [told.sums(day, day)._asdict() for day in dates],
        "habits": [
            {"name": habit.name, "signs": habit.signs, "rate": rate(habit.signs, last == today), "streak": habit.streak}
            for habit in told.habits
        ],
        "goals": [tuple(row) for row in told.read(f"{TITLES} {CLOSED_GOALS} {IN_ORDER}", first, last)],
        "steps": [tuple(row) for row in told.read(f"{TITLES} {CLOSED_STEPS} {IN_ORDER}", first, last)],
        "diary": [dict(row) for row in told.read(DIARY, first, last)],
    }
