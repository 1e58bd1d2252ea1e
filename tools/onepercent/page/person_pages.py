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
from tools.onepercent.database import Database, Row, store
from tools.onepercent.days import WEEK
from tools.onepercent.dry_run import Diff, Run
from tools.onepercent.habits.histories import histories
from tools.onepercent.habits.schedules import FOREVER
from tools.onepercent.page import keys
from tools.onepercent.rules import HISTORY_DAYS_BACK
from tools.onepercent.snapshot import present
from tools.onepercent.snapshot.history import Past, Sums

logger = logging.getLogger(__name__)

HERE = Path(__file__).parent

# The entries of `_meta` that hold what a page draws and the model need not pay for.
TEXTS = "pi-mcp/preview"
DAYS_DATA = "pi-mcp/days"

DAYS_SHOWN = 28

STEPS = """SELECT s.id, s.title, g.title AS goal_title, s.dt AS date, s.priority, s.time_duration, s.is_complete
    FROM steps s JOIN goals g ON g.id = s.goal_id WHERE s.user = :user AND s.deleted_at IS NULL
    AND g.archived_at IS NULL AND (s.is_complete = 1 OR g.status = 'work') AND {which} ORDER BY s.dt, s.id"""
LATE = "s.dt < :today AND s.is_complete = 0 AND :day = :today"
OF_THE_DAY = f"(s.dt = :day OR s.completed_on = :day) AND NOT ({LATE})"
COMING = "s.dt = :day AND s.is_complete = 0"

HABIT = ("id", "name", "xp_reward", "current_streak", "this_week", "target", "today_amount")
"""What the page needs to know of a habit; beside it the `unit` of its streak, and its `signs`."""

PERIOD = ("today", "day", "first", "last", "passed", "cells", "now", "before")
"""What it needs of a period; what else was asked, a goal, the diary, words, stands in the answer."""


def _of_preview(answer: JsonObject) -> JsonObject:
    if "preview_id" not in answer and "errors" not in answer:
        return {}
    key = handed(lambda: keys.of_preview(answer["preview_id"])) if "preview_id" in answer else {}
    return {TEXTS: {language: _told(answer, language) for language in ("ru", "en")}} | key


def _told(answer: JsonObject, language: str) -> JsonObject:
    """A preview in one language, whatever the server's."""
    diff = answer.get("diff", answer)
    token = words.LANGUAGE.set(language)
    try:
        changes = _changes(diff.dry) if isinstance(diff, Diff) else []
        return {
            "changes": changes,
            "errors": [sentences.refused(error) for error in diff.get("errors", ())],
        }
    finally:
        words.LANGUAGE.reset(token)


def _changes(dry: Run) -> list[JsonObject]:
    """The parts of each sentence in the order of the message; the warnings of an action stand at its last."""
    changes: list[JsonObject] = []
    for client_action_id, outcome in dry.in_order():
        for section, entry in outcome.entries:
            parts = sentences.line(section, entry).page
            parts["rows"] += _lost(entry)
            key = client_action_id if outcome.reversal is None else ""
            count = sentences.things_of(entry).total()
            changes.append({"id": key, **parts, "count": count, "warnings": []})
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
    span = getattr(answer, "span", None)
    private = days_data(span)
    if DAYS_DATA in private and not getattr(answer, "is_day", True):
        names = PERIOD if span else ()
        private = {DAYS_DATA: {name: private[DAYS_DATA][name] for name in names}}
    if DAYS_DATA in private and "ssp" in answer.get("data", {}):
        private[DAYS_DATA]["spheres"] = _spheres(answer["data"]["ssp"])
    if not toolsets.only_reads(core_settings.current(), "onepercent"):
        private |= handed(keys.of_day)
    return private


def _spheres(section: JsonObject) -> list[JsonObject]:
    """The spheres of life with their scores, named in Russian and in English."""
    spheres = []
    for sphere in section["spheres"]:
        names = {
            language: texts.table(language)[f"category.{sphere['category']}"] for language in ("ru", "en")
        }
        spheres.append({**names, "score": sphere["score"]})
    return spheres


def days_data(span: tuple[date, date] | None = None) -> JsonObject:
    """The data of the days' page: one day with the weeks before it, today's by default, or the days of a
    span. Empty if the database cannot be read."""
    try:
        with store.reading() as db:
            today = days.today()
            first, last = span or (today, today)
            first = max(first, last - timedelta(HISTORY_DAYS_BACK))
            day = min(last, max(today, first))
            if first == last:  # a single day is shown at the end of four ISO weeks
                last = min(day, today) + timedelta(WEEK - min(day, today).isoweekday())
                first = last - timedelta(DAYS_SHOWN - 1)
            return {DAYS_DATA: glance(db, settings.user(), today, day, first, last)}
    except ToolError as error:
        logger.warning("no days for a page: %s", error.message)
        return {}


def glance(db: Database, user: str, today: date, day: date, first: date, last: date) -> JsonObject:
    """The data that the page draws of a day, and of the days from `first` to `last`.

    `cells`, a day each: the share of habits kept, XP, steps done, diary entries; habits kept and due. The first
    `passed` days are summed up in `now`, and as many of the time before in `before`, which is empty if nothing
    was: the days that are still to come are no losses.
    """
    length = (last - first).days + 1
    since = first - timedelta(length)
    recent = Past(db, user, since, last, today)
    passed = max((min(today, last) - first).days + 1, 0)
    view = present.View(user, today, day, day)
    values = {"user": user, "today": today.isoformat(), "day": day.isoformat()}
    late, of_the_day = (
        [present.shown(row) for row in db.execute(STEPS.format(which=which), values)]
        for which in (LATE, OF_THE_DAY)
    )
    cells = [_cell(recent, first + timedelta(place)) for place in range(length)]
    sections = {name: present.SECTIONS[name](db, view) for name in ("goals", "xp")}
    data = {
        **values,
        "first": first.isoformat(),
        "last": last.isoformat(),
        "passed": passed,
        "cells": cells,
        "now": _sum(recent, first, passed),
        "before": _sum(recent, since, passed),
        "strip": [[f"{on}", _cell(recent, on)[0]] for on in _week(day, today) if on >= since],
        "gained": recent.sums(day, day).xp,
        "overdue": late,
        "steps": of_the_day,
        **_habits(db, view, day, recent),
        **sections,
    }
    if day == today:
        data["next"] = _plan(db, user, day + timedelta(1), today)
    return data


def _cell(recent: Past, day: date) -> list[float]:
    """The numbers of one day; what is still open today is due in it."""
    sums = recent.sums(day, day, with_open=True)
    return [*_numbers(sums), sums.kept, sums.due]


def _numbers(sums: Sums) -> list[float]:
    """The share of habits kept, XP, steps and diary entries."""
    share = round(sums.kept / sums.due, 3) if sums.due else 0
    return [share, sums.xp, sums.steps, sums.diary]


def _sum(recent: Past, first: date, length: int) -> list[float]:
    """The numbers of so many days; empty if there is nothing."""
    sums = recent.sums(first, first + timedelta(length - 1))
    return _numbers(sums) if length and any(sums) else []


def _week(day: date, today: date) -> list[date]:
    """The seven days that end today, if the day is one of them; else its ISO week."""
    is_recent = today - timedelta(WEEK) < day <= today
    end = today.toordinal() if is_recent else days.monday(day.toordinal()) + WEEK - 1
    return [date.fromordinal(min(end - back, FOREVER)) for back in reversed(range(WEEK))]


def _habits(db: Database, view: present.View, day: date, recent: Past) -> JsonObject:
    """`habits` are due on the day, `others` are not; each with its signs of a week that ends with the day."""
    section = present.habits(db, view)
    end = (day - recent.since).days + 1
    signs = {habit.id: habit.signs[max(end - WEEK, 0) : end] for habit in recent.habits}
    is_coming = day > view.today
    coming = {habit["id"] for habit in due_on(db, view.user, day, view.today)} if is_coming else set()
    lists: JsonObject = {"habits": [], "others": []}
    for item in section["items"]:
        every = section.get("usual", {}) | item
        habit = {name: every[name] for name in HABIT if name in every}
        habit["unit"] = "week" if every["frequency"] in ("weekly", "times_per_week") else "day"
        habit["signs"] = "" if is_coming else signs[habit["id"]]
        is_due = habit["id"] in coming if is_coming else habit["signs"][-1:] not in (".", "p")
        lists["habits" if is_due else "others"].append(habit)
    return {"habits": lists["habits"]} if is_coming else lists


def _plan(db: Database, user: str, day: date, today: date) -> JsonObject:
    """What a coming day holds: titles of its steps, names of its habits."""
    steps = db.execute(STEPS.format(which=COMING), {"user": user, "day": day.isoformat()})
    habits = [habit["name"] for habit in due_on(db, user, day, today)]
    return {"date": day.isoformat(), "steps": [step["title"] for step in steps], "habits": habits}


def due_on(db: Database, user: str, day: date, today: date) -> list[Row]:
    """The habits due on a coming day. One of some times per week is not, once this week has them."""
    ordinal = day.toordinal()
    present_day = today.toordinal()
    is_this_week = days.monday(ordinal) == days.monday(present_day)
    habits = []
    for history in histories(db, user, today):
        times = history.course.at(ordinal).times
        has_enough = times and is_this_week and history.done_in_week(present_day) >= times
        if history.course.is_due(ordinal) and not has_enough:
            habits.append(history.habit)
    return habits


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
