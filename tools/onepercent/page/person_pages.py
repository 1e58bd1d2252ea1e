"""The pages of a preview and of days, and the private data that each gets beside an answer."""

import logging
from datetime import date, timedelta
from pathlib import Path

from tools.core import settings as core_settings
from tools.core import toolsets
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.mcp_apps import MIME_TYPE, Page, document
from tools.core.presses import handed
from tools.core.resources import Resource
from tools.onepercent import days, sentences, settings, texts, words
from tools.onepercent.database import Database, store
from tools.onepercent.days import WEEK
from tools.onepercent.dry_run import Diff, DryRun
from tools.onepercent.page import keys
from tools.onepercent.rules import HISTORY_DAYS_BACK
from tools.onepercent.snapshot import present
from tools.onepercent.snapshot.history import past

logger = logging.getLogger(__name__)

HERE = Path(__file__).parent

# The entries of `_meta` that hold what a page draws and the model need not pay for.
TEXTS, DAYS_DATA = "pi-mcp/preview", "pi-mcp/days"

DAYS_SHOWN = 28

# Those of the day, those done on it, and today also those that are late.
STEPS = """SELECT s.id, s.title, g.title AS goal_title, s.dt AS date, s.priority, s.time_duration, s.is_complete
    FROM steps s JOIN goals g ON g.id = s.goal_id
    WHERE s.user = :user AND s.deleted_at IS NULL AND g.archived_at IS NULL AND (s.is_complete = 1 OR g.status = 'work')
    AND (s.dt = :day OR s.completed_on = :day
    OR (:day = :today AND s.dt < :today AND s.is_complete = 0)) ORDER BY s.dt, s.id"""


def _of_preview(answer: JsonObject) -> JsonObject:
    if "preview_id" not in answer and "errors" not in answer:
        return {}
    key = handed(lambda: keys.of_preview(answer["preview_id"])) if "preview_id" in answer else {}
    return {TEXTS: {language: _told(answer, language) for language in ("ru", "en")}} | key


def _told(answer: JsonObject, language: str) -> JsonObject:
    """A preview in one language, whatever the server's."""
    diff, token = answer.get("diff", answer), words.LANGUAGE.set(language)
    entries = [
        (name, entry)
        for name in ("deletes", "creates", "updates", "completions")
        for entry in diff.get(name, ())
    ]
    try:
        changes = _changes(diff.dry) if isinstance(diff, Diff) else []
        return {
            "changes": changes,
            "lines": [[*sentences.line(section, entry).legacy(), _lost(entry)] for section, entry in entries],
            "errors": [sentences.refused(error) for error in diff.get("errors", ())],
            "warnings": [warning for change in changes for warning in change["warnings"]],
        }
    finally:
        words.LANGUAGE.reset(token)


def _changes(dry: DryRun) -> list[JsonObject]:
    """The parts of each sentence in the order of the message; the warnings of an action stand at its last."""
    changes: list[JsonObject] = []
    for client_action_id, outcome in dry.in_order():
        for section, entry in outcome.entries:
            parts = sentences.line(section, entry).parts()
            parts["rows"] += _lost(entry)
            changes.append(
                {"id": client_action_id if outcome.reversal is None else "", **parts, "warnings": []}
            )
        changes[-1]["warnings"] = [words.warning(*warning) for warning in outcome.warnings]
    return changes


def _lost(entry: JsonObject) -> list[str]:
    """The titles of the steps that go with a goal."""
    if not entry.get("steps_deleted"):
        return []
    titles = "SELECT title FROM steps WHERE goal_id = ? AND deleted_at IS NULL ORDER BY id"
    with store.reading() as db:
        return [title for (title,) in db.execute(titles, (entry["id"],))]


def _of_days(answer: JsonObject) -> JsonObject:
    if not answer["success"]:
        return {}
    return shown_days(getattr(answer, "span", None)) | (
        handed(keys.of_day) if not toolsets.only_reads(core_settings.current(), "onepercent") else {}
    )


def shown_days(span: tuple[date, date] | None = None) -> JsonObject:
    """The data of the days' page: one day with the weeks before it, today's by default, or the days of a
    span. Empty if the database cannot be read."""
    try:
        with store.reading() as db:
            today = days.today(days.now())
            first, last = span or (today, today)
            first = max(first, last - timedelta(HISTORY_DAYS_BACK))
            day = min(last, max(today, first))
            if first == last:  # a single day is shown at the end of four ISO weeks
                last = min(day, today) + timedelta(WEEK - min(day, today).isoweekday())
                first = last - timedelta(DAYS_SHOWN - 1)
            return {DAYS_DATA: glance(db, settings.current().onepercent_user, today, day, first, last)}
    except ToolError as error:
        logger.warning("no days for a page: %s", error.message)
        return {}


def glance(db: Database, user: str, today: date, day: date, first: date, last: date) -> JsonObject:
    """The data that the page draws of a day, and of the days between two others: `sums` has those of as many
    days before and of these: per day habits kept and due, XP, steps done, diary entries. `spheres` are named
    in both languages."""
    length = (last - first).days + 1
    since = first - timedelta(length)
    dates = [since + timedelta(place) for place in range(2 * length)]
    named = {"user": user, "today": today.isoformat(), "day": day.isoformat()}
    told = past(db, user, since, last, today)
    sums = [[of.kept, of.due, of.xp, of.steps, of.diary] for of in map(told.sums, dates, dates)]
    end, view = (day - since).days + 1, present.View(user, today, day.isoformat(), day.isoformat())
    spheres = present.ssp(db, view)["spheres"]
    return {
        **named,
        "first": first.isoformat(),
        "last": last.isoformat(),
        "sums": [sums[:length], sums[length:]],
        "gained": told.sums(day, day).xp,
        "week": {habit.id: habit.signs[max(end - WEEK, 0) : end] for habit in told.habits},
        "steps": [present.step(row) for row in db.execute(STEPS, named)],
        "spheres": [[*texts.table()[f"category.{it['category']}"], it["score"]] for it in spheres],
        **{name: present.SECTIONS[name](db, view) for name in ("habits", "goals", "xp")},
    }


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
