"""The sections of a snapshot, and the view they are asked for."""

from datetime import date
from typing import NamedTuple


class View(NamedTuple):
    """The view: of whom, on which day, between which dates, goals of which status or only one goal. `past`:
    the first and last day of the history; `has_whole_diary`: the diary has these days whole."""

    user: str
    today: date
    first: date
    last: date
    goals_status: str = "work"
    goal_id: int | None = None
    with_steps: bool = False
    past: tuple[date, date] = (date.min, date.min)
    has_whole_diary: bool = False
