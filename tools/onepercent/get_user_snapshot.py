"""The tool that shows a person's state."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Annotated, Literal

from tools.toolkit import JsonObject, Tool, ToolError

from . import settings
from .base import days, fields, words
from .base.rules import SCHEDULE_DAYS_AHEAD
from .database import store
from .page import person_pages
from .phases.dispatch import dispatch
from .snapshot import present, word_search
from .snapshot.history import marks_as_text, span_on_record
from .snapshot.present import View

DEFAULT = ("goals", "habits", "xp")
# Beyond these the days around a date could not be computed.
EARLIEST = date(1900, 1, 1)
LATEST = date(9000, 1, 1)
STEPS_SECTION = "steps"  # not a section of its own: it shows the goals with their open steps


Section = Literal["goals", "habits", "diary", "schedule", "xp", "ssp", "history", "steps", "status"]
Status = Literal["work", "complete", "all", "archived"]


@Tool(
    "get_user_snapshot",
    title="Goals, habits, diary",
    order=10,
    on_call=dispatch,
    page=person_pages.DAYS,
)
def get_user_snapshot(
    include: list[Section] | None = None,
    date_from: Annotated[str | None, "default today; history: the last 7 days"] = None,
    date_to: Annotated[str | None, "default: 7 days on; history: today"] = None,
    goals_status: Status | None = None,
    goal_id: Annotated[int | None, "that one whole, with every step"] = None,
    find: Annotated[
        str | None, "words in goals, steps, habits, diary; instead of a snapshot"
    ] = None,
    picture: Annotated[bool | None, "add habits' marks as lines"] = None,
) -> JsonObject:
    """Read a person's goals, habits, diary, schedule, XP and history, with the ids that actions need.

    A goal shows its next step; include steps: all open ones. usual: what items have that do not say
    otherwise.
    Source: the sections in tools/onepercent/snapshot.
    """
    include = include or []
    names = _sections(include, bool(find), goal_id is not None)
    with store.reading() as db:
        today = days.today()
        first, last = _period(date_from, date_to, today)
        begin = first or today

        # The sections, the search and the picture.
        past = today, today
        if "history" in names:
            past = span_on_record(db, first, last, today)
        view = View(
            db,
            today,
            begin,
            last or begin + timedelta(SCHEDULE_DAYS_AHEAD),
            goals_status=goals_status or "work",
            goal_id=goal_id and min(goal_id, fields.LARGEST_ID),
            with_steps=STEPS_SECTION in include,
            past=past,
            has_whole_diary="diary" in names and first is not None,
        )
        zone = days.persons_day().zone or days.zone_of_settings()
        answer: JsonObject = {
            "success": True,
            "user_name": settings.user(),
            "today": {"date": f"{today}", "weekday": words.weekday(today), "tz": zone},
        }
        if names:
            answer["data"] = {name: present.SECTIONS[name](view) for name in names}
        if find:
            answer["found"] = word_search.search(db, find)
        content = marks_as_text(db, today, first, last) if picture else ()
        shown = person_pages.DaysAnswer(answer, *content)

    # What its page shows.
    shown.span = _span(view, names, first, last)
    is_filtered = find or goal_id or view.goals_status != "work"
    shown.is_day = not is_filtered and _are_of_one_day(names, shown.span)
    return shown


def _period(
    date_from: str | None, date_to: str | None, today: date
) -> tuple[date | None, date | None]:
    """The first and the last day that are asked for, within the days that can be computed. Raises ToolError
    INVALID_DATE."""
    first = max(fields.parse_date("date_from", date_from), EARLIEST) if date_from else None
    last = fields.parse_date("date_to", date_to) if date_to else None
    begin = first or today
    latest = min(last or LATEST, LATEST)
    if begin > latest:
        raise ToolError(
            f"date_from {begin} is after {latest}",
            f"Send an earlier date_from. {days.date_hint(None)}",
            "INVALID_DATE",
            field="date_from",
        )
    return first, last


def _span(
    view: View, names: list[str], first: date | None, last: date | None
) -> person_pages.Span | None:
    """The days that the page shows: those asked for, or of a history those on record; None if neither."""
    if "history" in names and not (first and last):
        return view.past
    if first or last:
        return view.first, last or view.first
    return None


def _are_of_one_day(names: list[str], span: person_pages.Span | None) -> bool:
    """True if the page of one day, by default today's, shows these sections; the diary alone is a list."""
    first, last = span or (None, None)
    return first == last and names != ["diary"] and not {"history", "ssp"} & {*names}


def _sections(include: Sequence[str], is_search: bool, is_one_goal: bool) -> list[str]:
    """The sections to show, each once."""
    if not include and not is_search:
        include = ["goals"] if is_one_goal else DEFAULT
    return list(dict.fromkeys("goals" if name == STEPS_SECTION else name for name in include))
