"""The review log of some days, counted."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import NamedTuple

from tools.anki.studying.answers import DAY_STARTS_H
from tools.anki.studying.rows import BUTTONS
from tools.core.json_types import JsonObject

REVIEW = 1
BY_HAND = 4
"""Kinds of rows; those from 4 on are not answers: setDueDate writes one for each card."""
MATURE_DAYS = 21


class Row(NamedTuple):
    """A row of cardReviews, in AnkiConnect's order."""

    id: int
    card: int
    usn: int
    ease: int
    interval: int
    last_interval: int
    factor: int
    time_ms: int
    kind: int


@dataclass
class Log:
    """The answers of some days, oldest first; `today` is Anki's day, which begins in the night."""

    rows: list[Row]
    today: date

    @classmethod
    def of(cls, answers: Iterable[list[list[int]]], today: date) -> "Log":
        """From the answers of cardReviews, without rows that were made by hand."""
        rows = [Row(*row) for answer in answers for row in answer]
        return cls(sorted(row for row in rows if row.kind < BY_HAND and row.ease > 0), today)

    def of_today(self) -> JsonObject:
        rows = [row for row in self.rows if day_of(row.id) == self.today]
        return {"answers": len(rows), "cards": len({row.card for row in rows}), "minutes": minutes(rows)}

    def per_day(self, days: int) -> list[int]:
        """Answers of each day, today last."""
        counts = [0] * days
        for row in self.rows:
            back = (self.today - day_of(row.id)).days
            if 0 <= back < days:
                counts[days - 1 - back] += 1
        return counts

    def streak(self, days: int) -> int:
        """Days in a row with an answer, up to today, or to yesterday if today has none yet."""
        counts = self.per_day(days)[::-1]
        start = 0 if counts[0] else 1
        return next((at for at, count in enumerate(counts[start:]) if not count), len(counts) - start)

    def buttons(self) -> dict[str, int]:
        return {name: sum(row.ease == ease for row in self.rows) for ease, name in enumerate(BUTTONS, 1)}

    def retention(self) -> dict[str, float | None]:
        """Of reviews that were due, the percentage that was known: young and mature cards."""
        reviews = [row for row in self.rows if row.kind == REVIEW and row.last_interval > 0]
        return {
            "young": _known([row for row in reviews if row.last_interval < MATURE_DAYS]),
            "mature": _known([row for row in reviews if row.last_interval >= MATURE_DAYS]),
        }

    def minutes(self) -> float:
        return minutes(self.rows)


def day_of(moment_ms: float) -> date:
    """Anki's day of a moment."""
    return (datetime.fromtimestamp(moment_ms / 1000) - timedelta(hours=DAY_STARTS_H)).date()


def start_of(day: date) -> int:
    """The first moment of Anki's day, in milliseconds."""
    return int(datetime(day.year, day.month, day.day, DAY_STARTS_H).timestamp() * 1000)


def minutes(rows: list[Row]) -> float:
    return round(sum(row.time_ms for row in rows) / 60_000, 1)


def _known(rows: list[Row]) -> float | None:
    return round(100 * sum(row.ease > 1 for row in rows) / len(rows), 1) if rows else None
