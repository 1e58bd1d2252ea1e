"""The review log of some days, counted as it comes: a year of a large collection does not fit a small
board."""

from collections import Counter, defaultdict
from datetime import date, datetime, timedelta
from typing import NamedTuple

from tools.anki.card_text import BUTTONS, DAY
from tools.core.json_types import JsonObject

SLOT_S = 900
"""Zones differ by quarters of an hour, and Anki's day begins at a full hour of one."""
DAY_STARTS_H = 4
"""The hour at which Anki's day begins, unless the person chose another."""
REVIEW = 1
BY_HAND = 4
"""Kinds of rows; those from 4 on are not answers: setDueDate writes one for each card."""
MATURE_DAYS = 21


class LogRow(NamedTuple):
    """The newest answer to a card in the review log. `interval`: days, or seconds if negative."""

    id: int
    ease: int
    interval: int


class ReviewLog:
    """Answers counted by quarters of an hour, until it is known where Anki's day begins: this clock may be in
    another zone."""

    def __init__(self) -> None:
        self.slots: dict[int, Counter[str]] = defaultdict(Counter)
        self.newest: dict[int, int] = {}
        """The second of the newest answer to each card."""

    def add(self, log: dict[str, list[JsonObject]], since_ms: int) -> None:
        """Count the answers of getReviewsOfCards after this millisecond."""
        for card, rows in log.items():
            for row in rows:
                if row["id"] > since_ms and row["type"] < BY_HAND and 0 < row["ease"] <= len(BUTTONS):
                    self._count(int(card), row)

    def _count(self, card: int, row: JsonObject) -> None:
        second = row["id"] // 1000
        slot = self.slots[second // SLOT_S]
        slot["answers"] += 1
        slot["ms"] += row["time"]
        slot[BUTTONS[row["ease"] - 1]] += 1
        if row["type"] == REVIEW and row["lastIvl"] > 0:
            age = "mature" if row["lastIvl"] >= MATURE_DAYS else "young"
            slot[age] += 1
            slot[f"{age} known"] += row["ease"] > 1
        self.newest[card] = max(second, self.newest.get(card, 0))

    def day_start(self, rated: list[set[int]]) -> int:
        """The second at which Anki's day began. `rated` are the cards answered today, since yesterday, and so
        on, by Anki's own count: its day began before the newest answers of these, and after those of all
        others."""
        after = 0
        until = usual_day_start() + DAY
        for days_ago, cards in enumerate(rated):
            for card, second in self.newest.items():
                if card in cards:
                    until = min(until, second + days_ago * DAY)
                else:
                    after = max(after, second + days_ago * DAY)
        return usual_day_start() if after < usual_day_start() <= until else until // SLOT_S * SLOT_S

    def summary(self, count: int, rated: list[set[int]]) -> JsonObject:
        """{today, perDay, streakDays, retention, buttons, minutes} of so many days of Anki."""
        day_start = self.day_start(rated)
        days: list[Counter[str]] = [Counter() for _ in range(count)]
        for slot, slot_counts in self.slots.items():
            days_ago = max(0, -((slot * SLOT_S - day_start) // DAY))
            if days_ago < count:
                days[days_ago].update(slot_counts)
        whole = sum(days, Counter())
        counts = [day["answers"] for day in days]
        streak = counts if counts[0] else counts[1:]  # today may have none yet
        retention: dict[str, float | None] = {"young": None, "mature": None}
        for age in retention:
            if whole[age]:
                retention[age] = round(100 * whole[f"{age} known"] / whole[age], 1)
        return {
            "today": {
                "answers": counts[0],
                "cards": len(rated[0]),
                "minutes": round(days[0]["ms"] / 60_000, 1),
            },
            "perDay": counts[::-1],
            "streakDays": next((day for day, answers in enumerate(streak) if not answers), len(streak)),
            "retention": retention,
            "buttons": {name: whole[name] for name in BUTTONS},
            "minutes": round(whole["ms"] / 60_000, 1),
        }


def usual_day_start() -> int:
    """The second at which Anki's day began, if it goes by this clock and begins at four."""
    day = usual_today()
    return int(datetime(day.year, day.month, day.day, DAY_STARTS_H).timestamp())


def usual_today() -> date:
    """The day that it is in an Anki that goes by this clock, and whose day begins at four."""
    return (datetime.now() - timedelta(hours=DAY_STARTS_H)).date()


def newest(log: object) -> dict[int, LogRow]:
    """The newest answer of each card in an answer of getReviewsOfCards, without rows that were made by
    hand."""
    by_card = {}
    for card, rows in log.items() if isinstance(log, dict) else ():
        answers = [LogRow(row["id"], row["ease"], row["ivl"]) for row in rows if row["type"] < BY_HAND]
        if answers:
            by_card[int(card)] = max(answers)
    return by_card
