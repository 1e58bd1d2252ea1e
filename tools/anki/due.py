"""The tool that shows what is to be studied."""

from typing import Annotated

from tools.anki import client
from tools.anki.replies import Refused
from tools.anki.studying import study_queue
from tools.anki.studying.card_rows import card_row
from tools.anki.studying.study_page import STUDY, Studied
from tools.anki.studying.study_queue import StudyQueue
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.schema import Limits
from tools.core.tool import Tool

LONGEST_CURRENT = 4000


@Tool("anki.due", title="Anki: cards to study", page=STUDY)
def due(
    deck: Annotated[str, "all by default"] = "",
    limit: Annotated[int, Limits(ge=1, le=50)] = 10,
    current: Annotated[bool | None, "on Anki's screen"] = None,
    asText: bool | None = None,
) -> JsonObject:
    """Show cards to study now: {deck, due: {new, learning, review, total}, cards: [{cardId, noteId, deck, question,
    answer, state, interval, next}]}. Ask, wait, show the answer.

    Source: AnkiConnect getDeckStats, findCards, cardsInfo, guiCurrentCard.
    """
    if current:
        return _current()
    queue = StudyQueue(deck)
    counts = study_queue.summed(queue.due, queue.name)
    infos = queue.first(limit)
    answer = {"deck": queue.name, "due": counts, "cards": [card_row(info) for info in infos]}
    return answer if asText else Studied(answer, infos)


def _current() -> JsonObject:
    (card,) = client.multi(("guiCurrentCard", {}))
    if isinstance(card, Refused) and "not currently" not in card.text:
        raise card
    if isinstance(card, Refused) or not card:
        hint = "Start a review in Anki's window, or call anki_due without `current`."
        raise ToolError("Anki shows no card at the moment", hint, code="NO_REVIEW")
    name = card["deckName"]
    deck_ids, infos, stats = client.results(
        ("deckNamesAndIds", {}), ("cardsInfo", {"cards": [card["cardId"]]}), ("getDeckStats", {"decks": [name]})
    )
    total = study_queue.summed(study_queue.by_deck(stats, deck_ids), name)
    return {"deck": name, "due": total, "cards": [card_row(info, LONGEST_CURRENT) for info in infos if info]}
