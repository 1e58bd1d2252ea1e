"""The sections of a snapshot, and the view they are asked for."""

from datetime import date
from typing import NamedTuple

from ..database import Database


class View(NamedTuple):
    """What a snapshot of the present user is asked for.

    - `db`, `today`: in which transaction it is read, and on which day;
    - `first`, `last`: the days of the schedule;
    - `goals_status`, `goal_id`, `with_steps`: goals of this status, or only one goal;
    - `past`: the first and last day of the history;
    - `has_whole_diary`: the section of the diary has these days, so the history need not quote them.
    """

    db: Database
    today: date
    first: date
    last: date
    goals_status: str = "work"
    goal_id: int | None = None
    with_steps: bool = False
    past: tuple[date, date] = (date.min, date.min)
    has_whole_diary: bool = False
