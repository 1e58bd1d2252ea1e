"""The pages of a preview and of days, and the data that only a page gets beside an answer."""

import logging
from datetime import date, timedelta
from itertools import starmap
from pathlib import Path

from tools.core import toolsets
from tools.core.mcp_apps import Page
from tools.core.presses import key_as_meta
from tools.toolkit import Answer, JsonObject, ToolError, filled

from .. import sentences
from ..base import days, texts, words
from ..base.days import WEEK
from ..base.diff import Deleted
from ..database import Database, store
from ..habits import due_days
from ..habits.histories import NOTHING_DUE, load_all
from ..phases.dry_run import Diff, Run
from ..snapshot import present
from ..snapshot.history import RECENT_DAYS, Past, past_between
from . import keys
from .year import LONGEST_IN_DAYS, by_month

logger = logging.getLogger(__name__)

HTML_FOLDER = Path(__file__).parent

# The entry of `_meta` with what the page draws: the model does not pay for it.
DAYS_DATA = "pi-mcp/days"

# The amount of each mark, and its note or excuse.
MARKS = """SELECT habit_id, ifnull(amount, 0), ifnull(note, excuse_reason) FROM habit_marks
    WHERE user = :user AND date = :day"""

# The first and the last day of a period.
Span = tuple[date, date]


class DaysAnswer(Answer):
    """An answer with the days that its page shows, today by default; `is_day`: as one day to be ticked
    off."""

    span: Span | None = None
    is_day: bool = True


def _preview_meta(answer: JsonObject) -> JsonObject:
    """The `_meta` of a preview: its sentences in both languages, and the key of its button."""
    meta = {}
    if "preview_id" in answer or "errors" in answer:
        meta["pi-mcp/preview"] = {
            language: _preview_texts(answer, language) for language in ("ru", "en")
        }
    if "preview_id" in answer:
        meta |= key_as_meta(lambda: keys.of_preview(answer["preview_id"]))
    return meta


def _preview_texts(answer: JsonObject, language: str) -> JsonObject:
    """The changes and errors of a preview in one language, whatever the server's."""
    diff = answer.get("diff", answer)
    token = words.LANGUAGE.set(language)
    try:
        changes = _sentence_parts(diff.dry) if isinstance(diff, Diff) else []
        return {
            "changes": changes,
            "errors": list(map(sentences.refusal_in_words, diff.get("errors", ()))),
        }
    finally:
        words.LANGUAGE.reset(token)


def _sentence_parts(dry: Run) -> list[JsonObject]:
    """The sentences in the order of the message, each in parts; an action's warnings stand with its last
    sentence."""
    changes = []
    for planned, outcome in dry.deletions_first():
        for entry in outcome.entries:
            parts = sentences.sentence_of(entry).page
            if isinstance(entry, Deleted):
                parts["rows"] += entry.step_titles
            parts["id"] = planned.client_action_id if planned.action.published else ""
            changes.append(parts | {"count": entry.things().total(), "warnings": []})
        changes[-1]["warnings"] = list(starmap(words.warning_in_words, outcome.warnings))
    return changes


def _days_meta(answer: JsonObject) -> JsonObject:
    """The `_meta` of an answer about days: what the page draws, and the key of its boxes."""
    if not answer["success"]:
        return {}
    if not isinstance(answer, DaysAnswer):
        answer = DaysAnswer(answer)
    data = days_data(answer.span, answer.is_day)
    if ssp := answer.get("data", {}).get("ssp"):
        data["ssp"] = {"spheres": list(map(_sphere_by_language, ssp["spheres"]))}
    meta = {DAYS_DATA: data}
    if not toolsets.only_reads("onepercent"):
        meta |= key_as_meta(keys.of_day)
    return meta


def _sphere_by_language(sphere: JsonObject) -> JsonObject:
    """A sphere of life with its name in each language of the page."""
    key = f"category.{sphere['category']}"
    names = {language: texts.in_language(language)[key].capitalize() for language in ("ru", "en")}
    return {"score": sphere["score"]} | names


def days_data(span: Span | None, is_day: bool) -> JsonObject:
    """Read the data that the page of the days draws: the days of a span, or the four weeks around its only
    day; with `is_day` also the data of that day, by default today. Empty if there is nothing to draw, or the
    database cannot be read."""
    try:
        with store.reading() as db:
            return _overview(db, span, is_day) if span or is_day else {}
    except ToolError as error:
        logger.warning("no days for a page: %s", error.message)
        return {}


def _overview(db: Database, span: Span | None, is_day: bool) -> JsonObject:
    """A glance over a period.

    - `span`: its days, by default today; a single day is shown at the end of four ISO weeks;
    - `is_day`: the data of one day stand beside the glance.

    `cells`, one per day: the share of habits kept, XP, steps done, diary entries. The first `passed` days are
    summed up in `now`, and as many before the period in `before`, so that days to come do not look like
    losses; `before` is empty if nothing was done then. A long period has its months, too.
    """
    # The period, the day in it that can be ticked off, and the last day that is read.
    today = days.today()
    first, last = span or (today, today)
    first = max(first, last - timedelta(days.YEAR))
    day = min(last, max(today, first))
    until = last
    if first == last:
        last = _sunday(min(day, today))
        first = last - timedelta(RECENT_DAYS - 1)
        until = last + timedelta(WEEK)  # the days to turn to may end in the next week

    # Its days that have passed, and as many before it.
    length = (last - first).days + 1
    past = past_between(db, first - timedelta(length), until, today)
    period = past.between(first, min(today, last))
    passed = max((period.last - first).days + 1, 0)

    # The data to draw; in a cell everything that is still open today counts as due.
    data = {
        "today": f"{today}",
        "day": f"{day}",
        "first": f"{first}",
        "last": f"{last}",
        "passed": passed,
        "cells": [
            past_day.sums(with_open=True).measures()
            for _, past_day in past.between(first, last).split_by("days")
        ],
        "now": _measures_if_any(period),
        "before": _measures_if_any(past.between(past.since, past.since + timedelta(passed - 1))),
    }
    if passed > LONGEST_IN_DAYS and data["now"]:
        data["year"] = by_month(period)
    return data | _one_day(present.View(db, today, day, day), past) if is_day else data


def _measures_if_any(past: Past) -> list[float]:
    """The measures of a past; empty if nothing was done in it."""
    measures = past.sums().measures()
    return measures if any(measures) else []


def _one_day(view: present.View, past: Past) -> JsonObject:
    """The data of one day: what can be ticked off, what it brought, the days to turn to; of today also what
    the next day has."""
    day = view.first
    # The seven days that end today, if the day is one of them; else its ISO week.
    is_recent = view.today - timedelta(WEEK) < day <= view.today
    end = view.today if is_recent else _sunday(day)
    week = past.between(end - timedelta(WEEK - 1), end)
    done = _steps_where(view, "completed_on = :first AND is_complete = 1 AND date IS NOT :first")
    data = {
        "strip": [
            [label, past_day.sums(with_open=True).measures()[0]]
            for label, past_day in week.split_by("days")
        ],
        "gained": past.between(day, day).sums().xp,
        "overdue": _steps_where(view, f"{due_days.OVERDUE} AND :first = :today"),
        "steps": done + _steps_where(view, "date = :first"),
        **_habits_of_day(view),
        "goals": present.goals(view),
        "xp": present.xp(view),
    }
    if day == view.today:
        tomorrow = view._replace(first=day + timedelta(1))
        steps = _steps_where(tomorrow, "date = :first AND is_complete = 0")
        data["next"] = {
            "date": f"{tomorrow.first}",
            "steps": [step["title"] for step in steps],
            "habits": _names_of_due_habits(tomorrow),
        }
    return data


def _steps_where(view: present.View, condition: str) -> list[JsonObject]:
    return present.dated_items(view, f"{condition} AND {due_days.IS_STEP}")


def _sunday(day: date) -> date:
    """The last day of the ISO week of a day."""
    return day + timedelta(WEEK - day.isoweekday())


def _habits_of_day(view: present.View) -> JsonObject:
    """Habits that are due on the day, and `others`, each with its signs of the week that ends with the day; of
    a day to come only the names of those due."""
    if view.first > view.today:
        return {"habits": [{"name": name, "signs": ""} for name in _names_of_due_habits(view)]}
    marks = {
        habit_id: mark for habit_id, *mark in due_days.select(view.db, MARKS, day=f"{view.first}")
    }
    begin = view.first - timedelta(WEEK - 1)
    lists: JsonObject = {"habits": [], "others": []}
    for history in load_all(view.db, view.today, begin):
        habit = history.habit
        if not habit["is_in_sight"]:
            continue
        amount, note = marks.get(habit["id"], (0, None))
        signs = history.signs(begin.toordinal(), view.first.toordinal())
        item = present.habit_item(history)
        if view.first != view.today:  # the rest is true of today only
            item = {name: item.get(name) for name in ("id", "name", "target")}
        item |= {"signs": signs, "today_amount": amount} | filled(note=note)
        lists["others" if signs[-1] in NOTHING_DUE else "habits"].append(item)
    return lists


def _names_of_due_habits(view: present.View) -> list[str]:
    """Names of the habits that are due on a coming day."""
    day = view.first.toordinal()
    return [
        history.habit["name"]
        for history in load_all(view.db, view.today)
        if history.habit["is_in_sight"] and history.is_owed(day)
    ]


PREVIEW = Page("ui://onepercent/preview", HTML_FOLDER / "preview.html", _preview_meta)
DAYS = Page("ui://onepercent/days", HTML_FOLDER / "days.html", _days_meta)
