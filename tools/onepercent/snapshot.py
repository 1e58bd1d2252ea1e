"""The tool that shows a person's state."""

from datetime import date, timedelta
from typing import Annotated, Any, Literal

from tools import settings
from tools.errors import ToolError
from tools.onepercent import audit, days, fields, sections, store
from tools.onepercent.sections import View
from tools.registry import Tool
from tools.schema import Published

DAYS_AHEAD = 7
DEFAULT = ("goals", "habits", "xp")
STATUSES = ("work", "complete", "all")

Section = Literal["goals", "habits", "diary", "schedule", "xp", "ssp", "subscription"]
Day = Annotated[str | None, Published(fields.Day().schema())]


@Tool("get_user_snapshot", entry=audit.entry)
def get_user_snapshot(
    include: Annotated[list[Section] | None, "default: goals, habits, xp"] = None,
    date_from: Annotated[Day, "for diary and schedule; default today"] = None,
    date_to: Annotated[Day, "default date_from + 7 days"] = None,
    goals_status: Annotated[str | None, Published({"enum": list(STATUSES)}), "default work"] = None,
    goal_id: Annotated[int | None, "that one goal whole, with every step"] = None,
) -> dict[str, Any]:
    """Read a person's goals, habits, diary, schedule and XP, with the ids that actions need.

    A goal lists its first five open steps; steps_more counts the rest.
    Source: spec onepercent, Snapshot
    """
    wanted = _include(include)
    view = _view(date_from, date_to, goals_status or "work", goal_id)
    with store.reading() as db:
        data = {name: sections.SECTIONS[name](db, view) for name in wanted}
    return {"success": True, "user_name": view.user, "data": data}


def _include(include: Any) -> list[str]:
    if include is None or include == []:
        return list(DEFAULT)
    if not isinstance(include, list) or any(
        not isinstance(name, str) or name not in sections.SECTIONS for name in include
    ):
        raise fields.invalid("include", f"a list of {', '.join(sections.SECTIONS)}")
    return list(dict.fromkeys(include))


def _view(date_from: Any, date_to: Any, goals_status: Any, goal_id: Any) -> View:
    today = days.today(days.now())
    first = fields.Day().read("date_from", date_from) if date_from is not None else today.isoformat()
    last = fields.Day().read("date_to", date_to) if date_to is not None else _later(first)
    if last < first:
        raise ToolError(
            f"date_to {last} is before date_from {first}", "Swap the two dates.", code="INVALID_DATE", field="date_to"
        )
    status = fields.Choice(STATUSES, "FIELD_INVALID").read("goals_status", goals_status)
    if goal_id is not None:
        goal_id = fields.Whole(1, fields.LARGEST_ID).read("goal_id", goal_id)
    return View(settings.current().onepercent_user, today, first, last, status, goal_id)


def _later(first: str) -> str:
    try:
        return (date.fromisoformat(first) + timedelta(days=DAYS_AHEAD)).isoformat()
    except OverflowError:
        return date.max.isoformat()
