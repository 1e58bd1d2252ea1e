"""The tool that shows what is to be studied."""

from typing import Annotated

from tools.anki import client, decks, notes
from tools.anki.replies import Refused
from tools.anki.studying import counts
from tools.anki.studying.rows import row
from tools.core.json_types import JsonObject
from tools.core.schema import Limits
from tools.core.tool import Tool

KINDS = {"learning": "is:learn is:due", "review": "is:review is:due -is:learn", "new": "is:new"}
"""The searches, in the order in which the cards come."""
MOST_LOOKED_AT = 2000
"""Cards of a kind whose deck is asked for."""
LONGEST_CURRENT = 4000


@Tool("anki.due", raw=True)
def due(
    deck: Annotated[str, "with its subdecks; all by default"] = "",
    limit: Annotated[int, Limits(ge=1, le=50)] = 10,
    current: Annotated[bool | None, "the card on Anki's screen"] = None,
) -> JsonObject:
    """Show cards to study now: {deck, due: {new, learning, review, total}, cards: [{cardId, noteId, deck, question,
    answer, state, interval, next}]}. Ask, wait, then show the answer.

    Source: AnkiConnect getDeckStats, findCards, cardsInfo, guiCurrentCard.
    """
    return _current() if current else _due(deck, limit)


def _due(deck: str, limit: int) -> JsonObject:
    scope = f'deck:"{decks.quoted(deck.strip())}" ' if deck.strip() else ""
    searches = [f"{scope}{search} -is:suspended -is:buried" for search in KINDS.values()]
    deck_ids, *matches = client.results(
        ("deckNamesAndIds", {}), *(("findCards", {"query": search}) for search in searches)
    )
    names = counts.chosen(deck, deck_ids)
    kinds = [sorted(cards)[:MOST_LOOKED_AT] for cards in matches]
    stats, by_deck = client.results(counts.question(names), ("getDecks", {"cards": [*kinds[1], *kinds[2]]}))
    by_name = counts.by_deck(stats, deck_ids)
    limits, deck_by_card = counts.Limits(by_name), notes.deck_by_card(by_deck)
    review = limits.within(kinds[1], deck_by_card, limits.review)
    new = limits.within(kinds[2], deck_by_card, limits.new)
    shown = [*kinds[0], *review, *new][:limit]
    infos = client.call("cardsInfo", cards=shown) if shown else []
    name = names[0] if deck.strip() else ""
    return {"deck": name, "due": counts.summed(by_name, name).shown(), "cards": [row(info) for info in infos if info]}


def _current() -> JsonObject:
    (card,) = client.multi(("guiCurrentCard", {}))
    if isinstance(card, Refused) or not card:
        raise counts.not_reviewing() if not isinstance(card, Refused) or "not currently" in card.text else card
    deck_ids, infos = client.results(("deckNamesAndIds", {}), ("cardsInfo", {"cards": [card["cardId"]]}))
    name = card["deckName"]
    (stats,) = client.results(counts.question([name] if name in deck_ids else []))
    total = counts.summed(counts.by_deck(stats, deck_ids), name)
    return {"deck": name, "due": total.shown(), "cards": [row(info, LONGEST_CURRENT) for info in infos if info]}
