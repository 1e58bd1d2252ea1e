"""The tool that shows study statistics, and its page."""

from pathlib import Path
from typing import Annotated

from tools.anki import client, decks, notes
from tools.anki.card_text import CLOZE, DAY
from tools.anki.studying import review_log, study_queue
from tools.anki.studying.review_log import ReviewLog
from tools.core import calls
from tools.core.json_types import JsonObject
from tools.core.mcp_apps import MIME_TYPE, Page, document
from tools.core.resources import Resource
from tools.core.schema import Limits
from tools.core.tool import Tool

FORECAST_DAYS = 7
RATED_DAYS = 3
"""Days whose answered cards show where Anki's day begins."""
CARDS = 5600
"""The log is read of so many cards at a time, a year's about 27,000 rows: Anki's window stands still for under half a
second, and it takes under 30 MiB here."""
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

    Source: AnkiConnect getDeckStats, getReviewsOfCards, findCards, notesInfo.
    """
    deck_ids = decks.ids()
    names = study_queue.chosen(deck, deck_ids)
    name = names[0] if deck.strip() else ""
    scope = f'deck:"{decks.quoted(name)}" ' if name else ""
    since_ms = (review_log.usual_day_start() - days * DAY) * 1000
    ahead = ["prop:due<=0", *(f"prop:due={day}" for day in range(1, FORECAST_DAYS))]
    searches = [f"-is:suspended -is:new {search}" for search in ahead]
    searches += [f"rated:{day}" for day in (*range(1, RATED_DAYS + 1), days + 1)]
    of_cards = [("findCards", {"query": scope + search}) for search in searches]
    due, leeches, *matches = client.results(
        ("getDeckStats", {"decks": names}), ("findNotes", {"query": f"{scope}tag:leech"}), *of_cards
    )
    *rated, answered = matches[FORECAST_DAYS:]
    log = ReviewLog()
    for at in range(0, len(answered), CARDS):
        calls.checkpoint()
        log.add(client.call("getReviewsOfCards", cards=answered[at : at + CARDS]), since_ms)
        calls.report(at, len(answered), "reading the review log")
    by_name = study_queue.by_deck(due, deck_ids)
    busy = [item for item in by_name.items() if any(item[1].values())]
    busy.sort(key=lambda item: -sum(item[1].values()))
    rows = [[deck, *counts.values()] for deck, counts in busy[:MOST_DECKS]]
    hard = notes.by_id(sorted(leeches)[:MOST_LEECHES])
    hardest = [
        {"noteId": note, "question": CLOZE.sub(r"\2", notes.first_text(info))} for note, info in hard.items()
    ]
    return {
        "deck": name,
        "due": study_queue.summed(by_name, name),
        "decks": rows,
        **log.summary(days, list(map(set, rated))),
        "forecast": list(map(len, matches[:FORECAST_DAYS])),
        "leeches": {"total": len(leeches), "notes": hardest},
    }
