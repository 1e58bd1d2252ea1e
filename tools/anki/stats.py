"""The tool that tells how studying goes."""

import time
from datetime import timedelta
from typing import Annotated

from tools.anki import client, decks, notes
from tools.anki.replies import Refused
from tools.anki.studying import counts
from tools.anki.studying.card_text import cut, plain
from tools.anki.studying.log import Log, day_of, start_of
from tools.anki.studying.page import STATS
from tools.core.json_types import JsonObject
from tools.core.schema import Limits
from tools.core.tool import Tool

FORECAST_DAYS = 7
MOST_DECKS = 12
MOST_LEECHES = 5
LONGEST_QUESTION = 80


@Tool("anki.stats", raw=True, page=STATS)
def stats(
    deck: Annotated[str, "with its subdecks; all by default"] = "",
    days: Annotated[int, Limits(ge=1, le=365)] = 30,
) -> JsonObject:
    """Tell how studying goes: {due, decks: [[name, new, learning, review]], today, perDay (today last), streakDays,
    retention in %, buttons, minutes, forecast (today first), leeches}.

    Source: AnkiConnect getDeckStats, cardReviews, findCards, notesInfo in one multi.
    """
    deck_ids = decks.ids()
    names = counts.chosen(deck, deck_ids)
    name = names[0] if deck.strip() else ""
    today = day_of(time.time() * 1000)
    scope = f'deck:"{decks.quoted(name)}" ' if name else ""
    since = start_of(today - timedelta(days=days - 1)) - 1
    ahead = ["prop:due<=0", *(f"prop:due={day}" for day in range(1, FORECAST_DAYS))]
    results = client.multi(
        counts.question(names),
        ("findNotes", {"query": f"{scope}tag:leech"}),
        ("notesInfo", {"query": f"{scope}tag:leech"}),
        *(("findCards", {"query": f"{scope}-is:suspended -is:new {search}"}) for search in ahead),
        *(("cardReviews", {"deck": studied, "startID": since}) for studied in names),
    )
    due, leeches, infos, *rest = results
    for result in (due, leeches, *rest):
        if isinstance(result, Refused):
            raise result
    by_name = counts.by_deck(due, deck_ids)
    log = Log.of(rest[FORECAST_DAYS:], today)
    return {
        "deck": name,
        "due": counts.summed(by_name, name).shown(),
        "decks": _due_decks(by_name),
        "today": log.of_today(),
        "perDay": log.per_day(days),
        "streakDays": log.streak(days),
        "retention": log.retention(),
        "buttons": log.buttons(),
        "minutes": log.minutes(),
        "forecast": [len(cards) for cards in rest[:FORECAST_DAYS]],
        "leeches": {"total": len(leeches), "notes": _leeches(leeches, infos)},
    }


def _due_decks(by_name: dict[str, counts.Due]) -> list[list[str | int]]:
    """[name, new, learning, review] of the decks with most to do."""
    busy = sorted((name for name, due in by_name.items() if due.total), key=lambda name: -by_name[name].total)
    return [[name, by_name[name].new, by_name[name].learning, by_name[name].review] for name in busy[:MOST_DECKS]]


def _leeches(ids: list[int], infos: object) -> list[JsonObject]:
    """Notes that were forgotten again and again, with their question. The add-on of 2023 wants their ids."""
    wanted = sorted(ids)[:MOST_LEECHES]
    known = notes.by_id(wanted) if wanted and isinstance(infos, Refused) else notes.indexed(_list(infos))
    return [
        {"noteId": note, "question": cut(plain(next(iter(notes.values(known[note]).values()), "")), LONGEST_QUESTION)}
        for note in wanted
        if note in known
    ]


def _list(infos: object) -> list[JsonObject]:
    return infos if isinstance(infos, list) else []
