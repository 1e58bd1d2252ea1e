"""The review log: the newest answer to each card, and answers counted by Anki's days."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from typing import NamedTuple

from tools.toolkit import JsonObject

from ..card_text import BUTTONS, DAY_S

# Zones differ by quarters of an hour, and Anki's day begins at a full hour of one.
SLOT_S = 900
# The hour at which Anki's day begins by default.
DAY_STARTS = time(hour=4)
# The type of a row of the log that is a review.
REVIEW_TYPE = 1
MATURE_DAYS = 21


class LogRow(NamedTuple):
    """The newest answer to a card in the review log, zeros if there is none. `interval`: days, or seconds if
    negative."""

    id: int = 0
    ease: int = 0
    interval: int = 0


# The rows of each card, an answer of getReviewsOfCards.
Log = dict[str, list[JsonObject]]


def newest(log: Log) -> dict[int, LogRow]:
    """The newest answer of each card; zeros for one without. Rows that were made by hand, as
    setDueDate makes one for each card, have no ease."""
    by_card = defaultdict[int, LogRow](LogRow)
    for card, rows in log.items():
        answers = [LogRow(row["id"], row["ease"], row["ivl"]) for row in rows if row["ease"]]
        by_card[int(card)] = max(answers, default=LogRow())
    return by_card


def usual_today() -> date:
    """Today's date in an Anki that goes by this clock and whose day begins at four."""
    return (datetime.now() - timedelta(hours=DAY_STARTS.hour)).date()


def usual_day_start() -> int:
    """The second at which Anki's day began, if it goes by this clock and begins at four."""
    return int(datetime.combine(usual_today(), DAY_STARTS).timestamp())


def day_start(answers: dict[int, LogRow], rated: list[set[int]]) -> int:
    """The second at which Anki's day began: this clock may be in another zone.

    `rated[n]`: the cards that Anki counts as answered in its last n + 1 days. So its day began before their
    newest answers, and after everybody else's.
    """
    after = 0
    until = usual_day_start() + DAY_S
    for days_ago, cards in enumerate(rated):
        for card, row in answers.items():
            second = row.id // 1000 + days_ago * DAY_S
            if card in cards:
                until = min(until, second)
            else:
                after = max(after, second)
    return usual_day_start() if after < usual_day_start() <= until else until // SLOT_S * SLOT_S


def answers_by_day(rows: Iterable[JsonObject], days: int, day_start: int) -> list[Counter[str]]:
    """Counts of Anki's last days, today first, made row by row of getReviewsOfCards: a year of a large
    collection does not fit into the memory of a small board."""
    counts: list[Counter[str]] = [Counter() for _ in range(days)]
    for row in rows:
        days_ago = max(0, -((row["id"] // 1000 - day_start) // DAY_S))
        if days_ago >= days or not row["ease"]:
            continue
        day = counts[days_ago]
        day["answers"] += 1
        day["ms"] += row["time"]
        day[BUTTONS[row["ease"] - 1]] += 1
        if row["type"] == REVIEW_TYPE and row["lastIvl"] > 0:
            age = "mature" if row["lastIvl"] >= MATURE_DAYS else "young"
            day[age] += 1
            day[f"{age} known"] += row["ease"] > 1
    return counts


def summary(days: list[Counter[str]], cards_today: int) -> JsonObject:
    """The counts as anki.stats shows them: {today, perDay, streakDays, retention, buttons, minutes}."""
    counts = [day["answers"] for day in days]
    streak = counts if counts[0] else counts[1:]  # today may have none yet
    whole = sum(days, Counter())
    retention: dict[str, float | None] = {"young": None, "mature": None}
    for age in retention:
        if whole[age]:
            retention[age] = round(100 * whole[f"{age} known"] / whole[age], 1)
    return {
        "today": {
            "answers": counts[0],
            "cards": cards_today,
            "minutes": round(days[0]["ms"] / 60_000, 1),
        },
        "perDay": counts[::-1],
        "streakDays": [*streak, 0].index(0),
        "retention": retention,
        "buttons": {name: whole[name] for name in BUTTONS},
        "minutes": round(whole["ms"] / 60_000, 1),
    }
