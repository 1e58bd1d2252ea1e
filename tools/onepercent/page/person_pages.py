"""The pages of a preview and of days, and the private data that each gets beside an answer."""

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
from ..habits.histories import NOTHING_DUE, histories
from ..phases.dry_run import Diff, Run
from ..snapshot import present
from ..snapshot.history import Past, past_between
from . import keys
from .year import LONGEST_IN_DAYS, by_month

logger = logging.getLogger(__name__)

FOLDER = Path(__file__).parent

# The entry of `_meta` with what the page draws: the model does not pay for it.
DAYS_DATA = "pi-mcp/days"

DAYS_SHOWN = 28

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


def _of_preview(answer: JsonObject) -> JsonObject:
    private: JsonObject = {}
    if "preview_id" in answer or "errors" in answer:
        private["pi-mcp/preview"] = {
            language: _texts(answer, language) for language in ("ru", "en")
        }
    if "preview_id" in answer:
        private |= key_as_meta(lambda: keys.of_preview(answer["preview_id"]))
    return private


def _texts(answer: JsonObject, language: str) -> JsonObject:
    """A preview in one language, whatever the server's."""
    diff = answer.get("diff", answer)
    token = words.LANGUAGE.set(language)
    try:
        changes = _sentence_parts(diff.dry) if isinstance(diff, Diff) else []
        return {"changes": changes, "errors": list(map(sentences.refused, diff.get("errors", ())))}
    finally:
        words.LANGUAGE.reset(token)


def _sentence_parts(dry: Run) -> list[JsonObject]:
    """The parts of each sentence in the order of the message; the warnings of an action stand at its last."""
    changes: list[JsonObject] = []
    for planned, outcome in dry.in_order():
        for entry in outcome.entries:
            parts = sentences.sentence_of(entry).page
            if isinstance(entry, Deleted):
                parts["rows"] += entry.step_titles
            parts["id"] = planned.client_action_id if planned.kind.published else ""
            changes.append(parts | {"count": entry.things().total(), "warnings": []})
        changes[-1]["warnings"] = list(starmap(words.warning, outcome.warnings))
    return changes


def _of_days(answer: JsonObject) -> JsonObject:
    if not answer["success"]:
        return {}
    shown = answer if isinstance(answer, DaysAnswer) else DaysAnswer(answer)
    data = days_data(shown.span, shown.is_day)
    if ssp := answer.get("data", {}).get("ssp"):
        data["ssp"] = {"spheres": list(map(_sphere_by_language, ssp["spheres"]))}
    private = {DAYS_DATA: data}
    if not toolsets.only_reads("onepercent"):
        private |= key_as_meta(keys.of_day)
    return private


def _sphere_by_language(sphere: JsonObject) -> JsonObject:
    """A sphere of life with its name in each language of the page, whatever the server's."""
    key = f"category.{sphere['category']}"
    names = {language: texts.table(language)[key].capitalize() for language in ("ru", "en")}
    return {"score": sphere["score"]} | names


def days_data(span: Span | None, is_day: bool) -> JsonObject:
    """The data of the days' page: with `is_day` one day, today's by default; the days of a span, or the weeks
    before the day. Empty if nothing is to be drawn, or the database cannot be read."""
    try:
        with store.reading() as db:
            return _overview(db, span, is_day) if span or is_day else {}
    except ToolError as error:
        logger.warning("no days for a page: %s", error.message)
        return {}


def _overview(db: Database, span: Span | None, is_day: bool) -> JsonObject:
    """The glance over a period.

    - `span`: its days, by default today; a single one is shown at the end of four ISO weeks;
    - `is_day`: the data of one day stand beside the glance.

    `cells`, one per day: the share of habits kept, XP, steps done, diary entries. The first `passed` days are
    summed up in `now`, and as many before the period in `before`, so that days to come do not look like
    losses; `before` is empty if nothing was done then. A long period has its months, too.
    """
    today = days.today()
    first, last = span or (today, today)
    first = max(first, last - timedelta(days.YEAR))
    day = min(last, max(today, first))
    until = last
    if first == last:  # a single day is shown at the end of four ISO weeks
        last = _sunday(min(day, today))
        first = last - timedelta(DAYS_SHOWN - 1)
        until = last + timedelta(WEEK)  # the days to turn to may end in the next week
    length = (last - first).days + 1
    past = past_between(db, first - timedelta(length), until, today)
    period = past.between(first, min(today, last))
    passed = max((period.last - first).days + 1, 0)
    # What is still open today counts as due.
    cells = [
        part.sums(with_open=True).measures() for _, part in past.between(first, last).parts("days")
    ]
    data: JsonObject = {
        "today": f"{today}",
        "day": f"{day}",
        "first": f"{first}",
        "last": f"{last}",
        "passed": passed,
        "cells": cells,
        "now": _numbers(period),
        "before": _numbers(past.between(past.since, past.since + timedelta(passed - 1))),
    }
    if passed > LONGEST_IN_DAYS and data["now"]:
        data["year"] = by_month(period, cells)
    return data | _one_day(present.View(db, today, day, day), past) if is_day else data


def _numbers(past: Past) -> list[float]:
    """The numbers of a past; empty if there is nothing."""
    numbers = past.sums().measures()
    return numbers if any(numbers) else []


def _one_day(view: present.View, past: Past) -> JsonObject:
    """The data of one day: what can be ticked off, what it brought, the days to turn to; for today also the
    next day's steps."""
    day = view.first
    # The seven days that end today, if the day is one of them; else its ISO week.
    is_recent = view.today - timedelta(WEEK) < day <= view.today
    end = view.today if is_recent else _sunday(day)
    week = past.between(end - timedelta(WEEK - 1), end)
    done = _steps(view, "completed_on = :first AND is_complete = 1 AND date IS NOT :first")
    data = {
        "strip": [
            [label, part.sums(with_open=True).measures()[0]] for label, part in week.parts("days")
        ],
        "gained": past.between(day, day).sums().xp,
        "overdue": _steps(view, f"{due_days.OVERDUE} AND :first = :today"),
        "steps": done + _steps(view, "date = :first"),
        **_habits_of_day(view),
        "goals": present.goals(view),
        "xp": present.xp(view),
    }
    if day == view.today:
        following = view._replace(first=day + timedelta(1))
        data["next"] = {
            "date": f"{following.first}",
            "steps": [
                step["title"] for step in _steps(following, "date = :first AND is_complete = 0")
            ],
            "habits": _due_on(following),
        }
    return data


def _steps(view: present.View, which: str) -> list[JsonObject]:
    return present.dated_items(view, f"{which} AND {due_days.IS_STEP}")


def _sunday(day: date) -> date:
    """The last day of the ISO week of a day."""
    return day + timedelta(WEEK - day.isoweekday())


def _habits_of_day(view: present.View) -> JsonObject:
    """`habits` are due on the day, `others` are not; each with its signs of a week that ends with the day, if
    that is not to come."""
    if view.first > view.today:
        return {"habits": [{"name": name, "signs": ""} for name in _due_on(view)]}
    marks = {key: mark for key, *mark in due_days.select(view.db, MARKS, day=f"{view.first}")}
    begin = view.first - timedelta(WEEK - 1)
    lists: JsonObject = {"habits": [], "others": []}
    for each in histories(view.db, view.today, begin):
        if not each.habit["is_in_sight"]:
            continue
        amount, note = marks.get(each.habit["id"], (0, None))
        signs = each.signs(begin.toordinal(), view.first.toordinal())
        item = present.habit_item(each)
        if view.first != view.today:  # what else it has is true of today only
            item = {name: item.get(name) for name in ("id", "name", "target")}
        item |= {"signs": signs, "today_amount": amount} | filled(note=note)
        lists["others" if signs[-1] in NOTHING_DUE else "habits"].append(item)
    return lists


def _due_on(view: present.View) -> list[str]:
    """The names of the habits due on a coming day."""
    day = view.first.toordinal()
    return [
        each.habit["name"]
        for each in histories(view.db, view.today)
        if each.habit["is_in_sight"] and each.is_owed(day)
    ]


PREVIEW = Page("ui://onepercent/preview", FOLDER / "preview.html", _of_preview)
DAYS = Page("ui://onepercent/days", FOLDER / "days.html", _of_days)
