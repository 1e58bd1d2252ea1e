"""The tool that shows study statistics, and its page."""

from pathlib import Path
from typing import Annotated

from tools.core.mcp_apps import Page
from tools.toolkit import JsonObject, Limits, Tool

from . import client, decks, notes
from .batch import TOGETHER, timed_parts
from .card_text import CLOZE
from .studying import review_log, study_queue

# The searches for cards due today, tomorrow and so on.
FORECAST_SEARCHES = (
    "-is:suspended -is:new prop:due<=0",
    "-is:suspended -is:new prop:due=1",
    "-is:suspended -is:new prop:due=2",
    "-is:suspended -is:new prop:due=3",
    "-is:suspended -is:new prop:due=4",
    "-is:suspended -is:new prop:due=5",
    "-is:suspended -is:new prop:due=6",
)
# Time in which a part of the log is read: Anki does not react meanwhile.
HOLD_S = 0.4
MOST_DECKS = 12
MOST_LEECHES = 5

STATS_PAGE = Page(
    "ui://anki/stats",
    Path(__file__).parent / "studying" / "stats.html",
    lambda answer: {"pi-mcp/today": review_log.usual_today().isoformat()},
)


@Tool("anki.stats", title="Anki: how studying goes", page=STATS_PAGE)
def stats(
    deck: Annotated[str, "with its subdecks; all by default", Limits(strip=True)] = "",
    days: Annotated[int, Limits(ge=1, le=365)] = 30,
) -> JsonObject:
    """Show study statistics: what is due, answers per day (today last), retention in %, forecast (today
    first), leeches.

    Source: AnkiConnect getDeckStats, getReviewsOfCards, findCards, notesInfo.
    Returns {deck, due, decks: [[name, new, learning, review]], today, perDay, streakDays, retention, buttons,
    minutes, forecast, leeches}.
    """
    # Ask for everything but the log in one request.
    name, deck_ids = study_queue.deck_and_subdecks(deck, decks.ids())
    scope = client.ids_query("did", deck_ids.values())
    # The cards answered today, in two days and in three days show where Anki's day begins.
    searches = (f"rated:{days + 1}", "rated:1", "rated:2", "rated:3", *FORECAST_SEARCHES)
    deck_stats, leeches, answered, today, two_days, three_days, *forecast = client.results(
        client.action("getDeckStats", decks=list(deck_ids)),
        client.note_search(f"{scope} tag:leech"),
        *(client.card_search(f"{scope} {search}") for search in searches),
    )
    # Find the second at which Anki's day began, and count the answers of each day.
    recent = review_log.newest_answers(client.call("getReviewsOfCards", cards=three_days))
    day_start = review_log.day_start(recent, [today, two_days, three_days])
    logs = (
        client.call("getReviewsOfCards", cards=part)
        for part in timed_parts(answered, "reading the review log", TOGETHER, part_s=HOLD_S)
    )
    summary = review_log.study_summary(logs, days, day_start, len(today))
    # The decks with most cards due, and the questions of the hardest cards.
    due, due_in_all = study_queue.due_counts(deck_stats, deck_ids)
    busiest = sorted(due.items(), key=lambda item: -sum(item[1].values()))
    rows = [
        [deck_name, *counts.values()]
        for deck_name, counts in busiest[:MOST_DECKS]
        if any(counts.values())
    ]
    hardest = [
        {"noteId": note, "question": CLOZE.sub(r"\2", notes.first_text(info))}
        for note, info in notes.by_id(sorted(leeches)[:MOST_LEECHES]).items()
    ]
    return {
        "deck": name,
        "due": due_in_all,
        "decks": rows,
        **summary,
        "forecast": list(map(len, forecast)),
        "leeches": {"total": len(leeches), "notes": hardest},
    }
