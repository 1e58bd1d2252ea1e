"""The sections of a snapshot, and the view from which they are read."""

from datetime import date
from typing import NamedTuple

from ..database import Database


class View(NamedTuple):
    """The request for a snapshot of the present user.

    - `db`, `today`: the transaction in which it is read, and the day;
    - `first`, `last`: the days of the schedule and of the diary;
    - `goals_status`, `goal_id`: goals of this status, or only one goal; `with_steps`: with their open steps;
    - `history_span`: the first and the last day of the history;
    - `has_whole_diary`: the diary's section has these days, so the history need not quote them.
    """

    db: Database
    today: date
    first: date
    last: date
    goals_status: str = "work"
    goal_id: int | None = None
    with_steps: bool = False
    history_span: tuple[date, date] = (date.min, date.min)
    has_whole_diary: bool = False
