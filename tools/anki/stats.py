"""The tool that shows study statistics, and its page."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from tools.anki import client, decks, notes
from tools.anki.card_text import CLOZE, DAY
from tools.anki.studying import review_log, study_queue
from tools.anki.studying.review_log import ReviewLog, Row
from tools.core import calls
from tools.core.json_types import JsonObject
from tools.core.mcp_apps import MIME_TYPE, Page, document
from tools.core.resources import Resource
from tools.core.schema import Limits
from tools.core.tool import Tool

FORECAST_DAYS = 7
RATED_DAYS = 3
"""Days whose answered cards show where Anki's day begins."""
MOST_AT_ONCE_DAYS = 30
"""Rows of so many days are asked for at once; beyond, of some cards at a time: Anki's window stands still
meanwhile."""
CARDS = 5600
"""In one request, of a year about 27,000 rows: under half a second, and under 30 MiB here."""
MOST_DECKS = 12
MOST_LEECHES = 5

PAGE = Page("ui://anki/stats", lambda answer: {"pi-mcp/today": review_log.usual_today().isoformat()})


@Resource(PAGE.uri, "Study statistics", mime_type=MIME_TYPE, listed=False)
def stats_page() -> str:
    """The page of anki.stats.

    Source: docs/pages.md
    """
    return document(Path(__file__).parent / "studying" / "stats.html")


@Tool("anki.stats", title="Anki: how studying goes", page=PAGE)
def stats(
    deck: Annotated[str, "with its subdecks; all by default"] = "",
    days: Annotated[int, Limits(ge=1, le=365)] = 30,
) -> JsonObject:
    """Show study statistics: {due, decks: [[name, new, learning, review]], today, perDay (today last),
    streakDays, retention in %, buttons, minutes, forecast (today first), leeches}.

    Source: AnkiConnect getDeckStats, cardReviews, getReviewsOfCards, findCards, notesInfo.
    """
    deck_ids = decks.ids()
    names = study_queue.chosen(deck, deck_ids)
    name = names[0] if deck.strip() else ""
    scope = f'deck:"{decks.quoted(name)}" ' if name else ""
    since_ms = (review_log.usual_day_start() - days * DAY) * 1000
    ahead = ["prop:due<=0", *(f"prop:due={day}" for day in range(1, FORECAST_DAYS))]
    searches = [f"-is:suspended -is:new {search}" for search in ahead]
    searches += [f"rated:{day}" for day in range(1, RATED_DAYS + 1)]
    at_once = days <= MOST_AT_ONCE_DAYS
    of_cards = [("findCards", {"query": scope + search}) for search in searches]
    of_log = [("cardReviews", {"deck": studied, "startID": since_ms}) for studied in names if at_once]
    due, leeches, *rest = client.results(
        ("getDeckStats", {"decks": names}), ("findNotes", {"query": f"{scope}tag:leech"}), *of_cards, *of_log
    )
    forecast = rest[:FORECAST_DAYS]
    rated = [set(cards) for cards in rest[FORECAST_DAYS : len(searches)]]
    log = ReviewLog()
    for answer in rest[len(searches) :]:
        log.add(Row(row[0], row[1], row[3], row[5], row[7], row[8]) for row in answer)
    if not at_once:
        log.add(_rows(f"{scope}rated:{days + 1}", since_ms))
    by_name = study_queue.by_deck(due, deck_ids)
    busy = [item for item in by_name.items() if any(item[1].values())]
    busy.sort(key=lambda item: -sum(item[1].values()))
    hard = notes.by_id(sorted(leeches)[:MOST_LEECHES])
    rows = [[deck, *counts.values()] for deck, counts in busy[:MOST_DECKS]]
    hardest = [
        {"noteId": note, "question": CLOZE.sub(r"\2", notes.first_text(info))} for note, info in hard.items()
    ]
    return {
        "deck": name,
        "due": study_queue.summed(by_name, name),
        "decks": rows,
        **log.summary(days, rated),
        "forecast": list(map(len, forecast)),
        "leeches": {"total": len(leeches), "notes": hardest},
    }


def _rows(search: str, since_ms: int) -> Iterator[Row]:
    """The log of the cards that a search finds, read in parts."""
    cards = client.call("findCards", query=search)
    for at in range(0, len(cards), CARDS):
        calls.checkpoint()
        yield from _part(cards[at : at + CARDS], since_ms)
        calls.report(at, len(cards), "reading the review log")


def _part(cards: list[int], since_ms: int) -> Iterator[Row]:
    """The log of some cards; gone from memory before the next part is asked for."""
    for card, rows in client.call("getReviewsOfCards", cards=cards).items():
        for row in rows:
            if row["id"] > since_ms:
                yield Row(row["id"], int(card), row["ease"], row["lastIvl"], row["time"], row["type"])
