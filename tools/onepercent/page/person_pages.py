"""The two pages, and the private data that each gets beside an answer."""

import logging
from datetime import date, timedelta
from pathlib import Path

from tools.core import registry
from tools.core import settings as core_settings
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.mcp_apps import MIME_TYPE, Page, document
from tools.core.presses import handed
from tools.core.resources import Resource
from tools.onepercent import days, sentences, settings, words
from tools.onepercent.database import store
from tools.onepercent.days import WEEK
from tools.onepercent.page import keys
from tools.onepercent.page.glance import DAYS_SHOWN, glance
from tools.onepercent.snapshot.history import DAYS_BACK

logger = logging.getLogger(__name__)

HERE = Path(__file__).parent

# The entries of `_meta` that hold what a page draws and the model need not pay for.
TEXTS, DAYS_DATA = "pi-mcp/preview", "pi-mcp/days"


def _of_preview(answer: JsonObject) -> JsonObject:
    if "preview_id" not in answer and "errors" not in answer:
        return {}
    key = handed(lambda: keys.of_preview(answer["preview_id"])) if "preview_id" in answer else {}
    return {TEXTS: {language: _told(answer, language) for language in ("ru", "en")}} | key


def _told(answer: JsonObject, language: str) -> JsonObject:
    """A preview in one language, whatever the server's: a sentence for each entry of the diff, in the page's order."""
    diff, token = answer.get("diff", answer), words.LANGUAGE.set(language)
    entries = [
        (name, entry) for name in ("deletes", "creates", "updates", "completions") for entry in diff.get(name, ())
    ]
    try:
        return {
            "lines": [[*sentences.parts(section, entry), _lost(entry)] for section, entry in entries],
            "errors": [sentences.refused(error)[2:] for error in diff.get("errors", ())],
            "warnings": [words.say_again(warning) for warning in answer.get("warnings", ())],
        }
    finally:
        words.LANGUAGE.reset(token)


def _lost(entry: JsonObject) -> list[str]:
    """The titles of the steps that go with a goal."""
    titles = "SELECT title FROM steps WHERE goal_id = ? AND deleted_at IS NULL ORDER BY id"
    with store.reading() as db:
        return [title for (title,) in db.execute(titles, (entry["id"] if entry.get("steps_deleted") else 0,))]


def _of_days(answer: JsonObject) -> JsonObject:
    if not answer["success"]:
        return {}
    return shown_days(getattr(answer, "span", None)) | (
        handed(keys.of_day) if not registry.only_reads(core_settings.current(), "onepercent") else {}
    )


def shown_days(span: tuple[date, date] | None = None) -> JsonObject:
    """The data of the days' page: one day with the weeks before it, today's by default, or the days of a span. Empty if
    the database cannot be read."""
    try:
        with store.reading() as db:
            today = days.today(days.now())
            first, last = span or (today, today)
            first = max(first, last - timedelta(DAYS_BACK))
            day = min(last, max(today, first))
            if first == last:  # a single day is shown at the end of four ISO weeks
                last = min(day, today) + timedelta(WEEK - min(day, today).isoweekday())
                first = last - timedelta(DAYS_SHOWN - 1)
            return {DAYS_DATA: glance(db, settings.current().onepercent_user, today, day, first, last)}
    except ToolError as error:
        logger.warning("no days for a page: %s", error.message)
        return {}


PREVIEW = Page("ui://onepercent/preview", _of_preview)
DAYS = Page("ui://onepercent/days", _of_days)


@Resource(PREVIEW.uri, "Preview of changes", mime_type=MIME_TYPE, listed=False)
def preview_page() -> str:
    """The page of preview_actions and undo_last.

    Source: docs/pages.md
    """
    return document(HERE / "preview.html")


@Resource(DAYS.uri, "Days", mime_type=MIME_TYPE, listed=False)
def days_page() -> str:
    """The page of get_user_snapshot.

    Source: docs/pages.md
    """
    return document(HERE / "days.html")
