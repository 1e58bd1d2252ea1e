"""The tool that shows a person's state."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Annotated, Literal

from tools.toolkit import JsonObject, Tool, ToolError

from . import settings
from .base import days, fields, words
from .base.rules import SCHEDULE_DAYS_AHEAD
from .database import Database, store
from .page import person_pages
from .phases.dispatch import dispatch
from .snapshot import View, present, word_search
from .snapshot.history import marks_as_text, span_on_record

DEFAULT_SECTIONS = ("goals", "habits", "xp")
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
    date_from: Annotated[str, "default today; history: the last 7 days"] = "",
    date_to: Annotated[str, "default: 7 days on; history: today"] = "",
    goals_status: Status | None = None,
    goal_id: Annotated[int | None, "that one whole, with every step"] = None,
    find: Annotated[str, "words in goals, steps, habits, diary; instead of a snapshot"] = "",
    picture: Annotated[bool | None, "add habits' marks as lines"] = None,
) -> JsonObject:
    """Read a person's goals, habits, diary, schedule, XP and history, with the ids that actions need.

    A goal shows its next step; include steps: all open ones. usual: values of all items that do not name
    their own.
    Source: the sections in tools/onepercent/snapshot.
    """
    include = include or []
    names = _section_names(include, find, goal_id)
    with store.reading() as db:
        first, last = _asked_days(date_from, date_to)
        view = _view(db, names, first, last)._replace(
            goals_status=goals_status or "work",
            goal_id=goal_id and min(goal_id, fields.LARGEST_ID),
            with_steps=STEPS_SECTION in include,
        )

        # The sections, the matches and the marks as text.
        zone = days.persons_clock().zone or days.zone_of_settings()
        members = {
            "success": True,
            "user_name": settings.user(),
            "today": {
                "date": f"{view.today}",
                "weekday": words.weekday_name(view.today),
                "tz": zone,
            },
        }
        if names:
            members["data"] = {name: present.SECTIONS[name](view) for name in names}
        if find:
            members["found"] = word_search.find_things(db, find)
        lines = marks_as_text(db, view.today, first, last) if picture else ()
        answer = person_pages.DaysAnswer(members, *lines)

    # The data of its page.
    answer.span = _page_span(view, names, first, last)
    is_filtered = find or goal_id or view.goals_status != "work"
    answer.is_day = not is_filtered and _are_of_one_day(names, answer.span)
    return answer


def _section_names(include: Sequence[str], find: str, goal_id: int | None) -> list[str]:
    """Names of the sections to show, each once."""
    if not include and not find:
        include = DEFAULT_SECTIONS if goal_id is None else ["goals"]
    return list(dict.fromkeys("goals" if name == STEPS_SECTION else name for name in include))


def _asked_days(date_from: str, date_to: str) -> tuple[date | None, date | None]:
    """Parse the first and the last day that are asked for, and keep them within the days that can be computed.
    Raises ToolError INVALID_DATE."""
    first = max(fields.parse_date("date_from", date_from), EARLIEST) if date_from else None
    last = fields.parse_date("date_to", date_to) if date_to else None
    begin = first or days.today()
    latest = min(last or LATEST, LATEST)
    if begin > latest:
        raise ToolError(
            f"date_from {begin} is after {latest}",
            f"Send an earlier date_from. {days.date_hint(None)}",
            "INVALID_DATE",
            field="date_from",
        )
    return first, last


def _view(db: Database, names: list[str], first: date | None, last: date | None) -> View:
    """Make the view of these days: by default the schedule goes a week ahead, the history a week back."""
    today = days.today()
    begin = first or today
    history_span = (today, today)
    if "history" in names:
        history_span = span_on_record(db, first, last, today)
    return View(
        db,
        today,
        begin,
        last or begin + timedelta(SCHEDULE_DAYS_AHEAD),
        history_span=history_span,
        has_whole_diary="diary" in names and first is not None,
    )


def _page_span(
    view: View, names: list[str], first: date | None, last: date | None
) -> person_pages.Span | None:
    """The days that the page shows: those asked for, or of a history those on record; None if neither."""
    if "history" in names and not (first and last):
        return view.history_span
    if first or last:
        return view.first, last or view.first
    return None


def _are_of_one_day(names: list[str], span: person_pages.Span | None) -> bool:
    """True if the page of one day, by default today's, shows these sections; the diary alone is a list."""
    first, last = span or (None, None)
    return first == last and names != ["diary"] and not {"history", "ssp"} & {*names}
