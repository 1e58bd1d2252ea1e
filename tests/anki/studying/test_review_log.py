"""Study statistics: one look at a collection, by Anki's own days."""

import random
import time

import pytest

from tests.anki.anki_helpers import (
    REVIEW,
    add_many,
    answer_each,
    both_versions,
    call,
    make_due,
    put,
    tokens,
)
from tools.anki import batch
from tools.anki.studying import review_log

DAY = 86400


@both_versions
def test_stats_are_one_multi_after_the_names_and_the_log_without_rows_made_by_hand(
    deck, collection
):
    cards = sorted(collection.find_cards("deck:Geo"))[:10]
    make_due(collection, cards)
    collection.tags.bulk_add(collection.find_notes("deck:Geo::Cities")[:2], "leech")
    answer_each(zip(cards, [1, 3, 3, 3, 4] * 2, strict=True))
    for number in range(14):
        add_many(collection, f"Languages::Book {number}", 3, f"{number} " + "word " * 30)
    deck.requests.clear()

    answer = call("anki.stats")

    assert (len(answer["decks"]), len(answer["perDay"])) == (12, 30)
    assert [request["action"] for request in deck.requests][:2] == ["deckNamesAndIds", "multi"]
    assert answer["today"]["answers"] == 10
    assert answer["buttons"] == {"again": 2, "hard": 0, "good": 6, "easy": 2}
    assert answer["leeches"]["total"] == 2
    assert answer["leeches"]["notes"][0]["question"].startswith("Geo::Cities question")
    assert len(answer["forecast"]) == 7
    assert tokens(answer) <= 500


def test_retention_counts_reviews_of_young_and_mature_cards(anki, collection):
    add_many(collection, "A", 8)
    cards = sorted(collection.find_cards("deck:A"))
    for card, interval in zip(cards, [20] * 4 + [21] * 4, strict=True):
        put(collection, card, type=2, queue=REVIEW, ivl=interval, due=0, reps=3, factor=2500)
    answer_each(zip(cards, [1, 3, 3, 3, 1, 1, 3, 3], strict=True))

    assert call("anki.stats")["retention"] == {"young": 75.0, "mature": 50.0}


def write_log(collection, seconds):
    """Answers at these seconds, each to another card."""
    cards = sorted(collection.find_cards("deck:Geo"))
    rows = [
        (1000 * second, card, -1, 3, 10, 9, 2500, 6000, 1) for second, card in zip(seconds, cards)
    ]
    collection.db.executemany("insert into revlog values (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)


@pytest.mark.parametrize("days", [30, 31, 365])
def test_the_days_of_a_month_and_of_a_year_are_counted_alike(deck, collection, days):
    today = collection.sched.day_cutoff - DAY
    write_log(collection, [today + 60, today + 120, today - 60, today - 3 * DAY, today - 29 * DAY])

    answer = call("anki.stats", days=days)

    assert answer["perDay"][-4:] == [1, 0, 1, 2]
    assert (sum(answer["perDay"]), len(answer["perDay"]), answer["streakDays"]) == (5, days, 2)
    assert answer["today"] == {"answers": 2, "cards": 2, "minutes": 0.2}
    assert answer["buttons"]["good"] == 5
    assert answer["minutes"] == 0.5


@pytest.mark.parametrize("hours_ahead", [-20, -9, 0, 5.75, 13])
def test_days_are_anki_s_whatever_this_clock_says(deck, collection, monkeypatch, hours_ahead):
    """The server on a Pi in another zone than Anki, or an Anki whose day begins at midnight."""
    cutoff = collection.sched.day_cutoff
    choice = random.Random(hours_ahead)
    seconds = [cutoff - choice.randint(1, 3 * DAY) for _ in range(30)]
    write_log(collection, seconds)
    clock = int(cutoff - DAY + 3600 * hours_ahead)
    monkeypatch.setattr(
        review_log, "usual_day_start", lambda: clock if clock < time.time() else clock - DAY
    )

    answer = call("anki.stats")

    assert answer["perDay"][:-4:-1] == [
        sum((cutoff - 1 - second) // DAY == back for second in seconds) for back in range(3)
    ]
    assert answer["today"]["cards"] == len(collection.find_cards("rated:1"))


def test_a_year_of_many_cards_is_read_in_parts(deck, collection, monkeypatch):
    monkeypatch.setattr(batch, "FIRST_PART_NOTES", 7 * batch.TOGETHER)
    monkeypatch.setattr(batch, "GROWTH", 1)
    now = collection.sched.day_cutoff - 60
    write_log(collection, [now - number for number in range(20)])
    deck.requests.clear()

    answer = call("anki.stats", days=365)

    assert answer["today"]["answers"] == 20
    assert deck.actions().count("getReviewsOfCards") == 4  # one of recent cards
