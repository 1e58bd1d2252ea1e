"""The parts of a snapshot, and what they are asked to show."""

from datetime import date
from typing import NamedTuple


class View(NamedTuple):
    """The parts to show: of whom, on which day, from one date to another, goals of which status or only
    one. `past`: the first and last day of the history; `diary_told`: the diary has these days whole."""

    user: str
    today: date
    first: date
    last: date
    goals_status: str = "work"
    goal_id: int | None = None
    with_steps: bool = False
    past: tuple[date, date] = (date.min, date.min)
    diary_told: bool = False
