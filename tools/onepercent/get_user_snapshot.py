"""The tool that shows a person's state."""

from datetime import date, timedelta
from typing import Annotated, Literal

from tools.core.answers import Answer
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.schema import Published
from tools.core.tool import Tool
from tools.onepercent import days, fields, settings, words
from tools.onepercent.database import audit, store
from tools.onepercent.page import pages
from tools.onepercent.page.picture import pictured
from tools.onepercent.snapshot import compact, search, sections
from tools.onepercent.snapshot.history import DAYS_BACK
from tools.onepercent.snapshot.sections import View

DAYS_AHEAD = 7
DEFAULT = ("goals", "habits", "xp")
STATUSES = ("work", "complete", "all")
WORDS = fields.Text(200, line=True)

Section = Literal["goals", "habits", "diary", "schedule", "xp", "ssp", "subscription", "history"]
Day = Annotated[str | None, Published(fields.Day().schema())]


@Tool("get_user_snapshot", order=10, on_call=audit.entry, page=pages.DAYS)
def get_user_snapshot(
    include: Annotated[list[Section] | None, "default: goals, habits, xp"] = None,
    date_from: Annotated[Day, "for diary, schedule; default today. history: the last 7 days, at most 366 back"] = None,
    date_to: Annotated[Day, "default date_from + 7 days; history: today"] = None,
    goals_status: Annotated[str | None, Published({"type": "string", "enum": list(STATUSES)}), "default work"] = None,
    goal_id: Annotated[int | None, "that one goal whole, with every step"] = None,
    find: Annotated[str | None, "words: goals, steps, habits, diary that have them, instead of a snapshot"] = None,
    picture: Annotated[bool | None, "add the habits' marks as an image"] = None,
) -> JsonObject:
    """Read a person's goals, habits, diary, schedule and XP, with the ids that actions need.

    A goal lists its first five open steps; steps_more counts the rest. usual: what items have that do not say otherwise. Empty sections are left out.
    history: what was closed, kept and earned, and the period before.
    Source: the sections in tools/onepercent/snapshot.
    """
    names = [] if find and not include else _include(include)
    view = _view(date_from, date_to, goals_status or "work", goal_id)
    with store.reading() as db:
        data = {name: sections.SECTIONS[name](db, view) for name in names}
        hits = {"found": search.search(db, view.user, WORDS.read("find", find) or "")} if find else {}
        content = (
            pictured(db, view.user, view.today, date_from and view.first, date_to and view.last) if picture else ()
        )
    shown = {"data": compact.compacted(data)} if names else {}
    return Answer({"success": True, "user_name": view.user, "today": _today(view.today), **shown, **hits}, *content)


def _today(today: date) -> dict[str, str]:
    return {"date": today.isoformat(), "weekday": words.weekday(today), "tz": days.zone_name()}


def _include(include: object) -> list[str]:
    if include is None or include == []:
        return list(DEFAULT)
    if not isinstance(include, list) or any(
        not isinstance(name, str) or name not in sections.SECTIONS for name in include
    ):
        raise fields.invalid("include", f"a list of {', '.join(sections.SECTIONS)}")
    return list(dict.fromkeys(include))


def _view(date_from: str | None, date_to: str | None, goals_status: str, goal_id: int | None) -> View:
    today = days.today(days.now())
    first = fields.day("date_from", date_from) if date_from is not None else today.isoformat()
    last = fields.day("date_to", date_to) if date_to is not None else _later(first)
    if last < first:
        raise ToolError(
            f"date_to {last} is before date_from {first}",
            f"Swap the two dates. {days.date_hint(None)}",
            code="INVALID_DATE",
            field="date_to",
        )
    status = fields.Choice(STATUSES, "FIELD_INVALID").read("goals_status", goals_status)
    if goal_id is not None:
        goal_id = fields.Whole(1, fields.LARGEST_ID).read("goal_id", goal_id)
    past = _past(today, date_from and first, date_to and last)
    return View(settings.current().onepercent_user, today, first, last, status, goal_id, *past)


def _past(today: date, first: str | None, last: str | None) -> tuple[date, date]:
    """The days that `history` looks back on: what is asked for of the past, else the last seven."""
    until = min(date.fromisoformat(last), today) if last else today
    start = date.fromisoformat(first) if first else until - timedelta(days=days.WEEK - 1)
    return max(min(start, until), today - timedelta(days=DAYS_BACK)), max(until, today - timedelta(days=DAYS_BACK))


def _later(first: str) -> str:
    try:
        return (date.fromisoformat(first) + timedelta(days=DAYS_AHEAD)).isoformat()
    except OverflowError:
        return date.max.isoformat()
