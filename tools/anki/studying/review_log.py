"""The review log: the newest answer to each card, and answers counted by Anki's days."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from itertools import chain
from typing import NamedTuple

from tools.toolkit import JsonObject

from ..card_text import BUTTONS, DAY_S
from ..client import Ids

# Zones differ by quarters of an hour, and Anki's day begins at a full hour of one.
SLOT_S = 900
# The hour at which Anki's day begins by default.
DAY_STARTS = time(hour=4)
# The type of a row of the log that is a review.
REVIEW_TYPE = 1
MATURE_DAYS = 21


class LogRow(NamedTuple):
    """An answer to a card in the review log, zeros if there is none. `interval`: days, or seconds if
    negative."""

    id: int = 0
    ease: int = 0
    interval: int = 0


# The rows of each card, an answer of getReviewsOfCards.
ReviewLog = dict[str, list[JsonObject]]


def newest_answers(log: ReviewLog) -> dict[int, LogRow]:
    """Find the newest answer to each card; zeros if there is none. Rows without an ease are no answers:
    setDueDate makes one for each card."""
    by_card = defaultdict[int, LogRow](LogRow)
    for card, rows in log.items():
        answers = [LogRow(row["id"], row["ease"], row["ivl"]) for row in rows if row["ease"]]
        by_card[int(card)] = max(answers, default=LogRow())
    return by_card


def usual_today() -> date:
    """Today's date for an Anki that goes by this clock and whose day begins at four."""
    return (datetime.now() - timedelta(hours=DAY_STARTS.hour)).date()


def usual_day_start() -> int:
    """Second at which Anki's day began, if it goes by this clock and begins at four."""
    return int(datetime.combine(usual_today(), DAY_STARTS).timestamp())


def day_start(answers: dict[int, LogRow], rated: list[Ids]) -> int:
    """Find the second at which Anki's day began: this clock may be in another zone.

    `rated[n]`: the cards that Anki counts as answered in its last n + 1 days. So the day began before their
    newest answers, and after those of all other cards.
    """
    after = 0
    usual = usual_day_start()
    until = usual + DAY_S
    for days_ago, cards in enumerate(map(set, rated)):
        for card, row in answers.items():
            second = row.id // 1000 + days_ago * DAY_S
            if card in cards:
                until = min(until, second)
            else:
                after = max(after, second)
    return usual if after < usual <= until else until // SLOT_S * SLOT_S


def study_summary(
    logs: Iterable[ReviewLog], days: int, day_start: int, cards_today: int
) -> JsonObject:
    """Sum up Anki's last days for anki.stats: {today, perDay, streakDays, retention, buttons, minutes}.

    Counted log by log: a year of a large collection does not fit into the memory of a small board.
    """
    # Each day's answers and time, today first, and counts of all days.
    answer_counts = [0] * days
    times_ms = [0] * days
    counts = Counter[str]()
    for row in chain.from_iterable(chain(*log.values()) for log in logs):
        days_ago = max(0, -((row["id"] // 1000 - day_start) // DAY_S))
        if days_ago >= days or not row["ease"]:
            continue
        answer_counts[days_ago] += 1
        times_ms[days_ago] += row["time"]
        counts[BUTTONS[row["ease"] - 1]] += 1
        if row["type"] == REVIEW_TYPE and row["lastIvl"] > 0:
            age = "mature" if row["lastIvl"] >= MATURE_DAYS else "young"
            counts[age] += 1
            counts[f"{age} known"] += row["ease"] > 1
    # Days in a row up to today, and the share of known answers.
    streak = answer_counts if answer_counts[0] else answer_counts[1:]  # today may have none yet
    retention: dict[str, float | None] = {"young": None, "mature": None}
    for age in retention:
        if counts[age]:
            retention[age] = round(100 * counts[f"{age} known"] / counts[age], 1)
    return {
        "today": {
            "answers": answer_counts[0],
            "cards": cards_today,
            "minutes": round(times_ms[0] / 60_000, 1),
        },
        "perDay": answer_counts[::-1],
        "streakDays": [*streak, 0].index(0),
        "retention": retention,
        "buttons": {name: counts[name] for name in BUTTONS},
        "minutes": round(sum(times_ms) / 60_000, 1),
    }
