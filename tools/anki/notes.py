"""Notes as they stand in Anki."""

from typing import Annotated, Any

from tools.anki import client
from tools.registry import Tool
from tools.schema import Alias, Limits

LARGEST_ID = 2**63 - 1
"""Anki refuses a whole request for one id beyond."""

Info = dict[str, Any]


@Tool("anki.note_info", bare=True)
def note_info(
    noteIds: Annotated[list[int], Limits(min_length=1), Alias("note_ids")],
) -> dict[str, list[Info | None]]:
    """Show notes by id: {notes: [{noteId, modelName, deckName, tags, fields, cards}]}, in the order of noteIds; null
    where there is none.

    Source: AnkiConnect notesInfo, getDecks.
    """
    return {"notes": infos(noteIds)}


def infos(ids: list[int]) -> list[Info | None]:
    """The note of each id, None where there is none. Two requests."""
    found = by_id(ids)
    decks = decks_of([card for one in found.values() for card in one["cards"]])
    return [_shown(found[one], decks) if one in found else None for one in ids]


def by_id(ids: list[int]) -> dict[int, Info]:
    """What notesInfo says of each note there is. One request."""
    asked = possible(ids)
    return indexed(client.call("notesInfo", notes=asked)) if asked else {}


def possible(ids: list[int]) -> list[int]:
    """The ids, once each, that a note can have."""
    return [one for one in dict.fromkeys(ids) if 0 < one <= LARGEST_ID]


def indexed(answer: list[Any] | None) -> dict[int, Info]:
    """An answer of notesInfo by note id: for a missing note the add-on gives `{}`, others null or nothing."""
    return {one["noteId"]: one for one in answer or [] if one and "noteId" in one}


def decks_of(cards: list[int]) -> dict[int, str]:
    """The deck of each card. One request."""
    return deck_by_card(client.call("getDecks", cards=cards)) if cards else {}


def deck_by_card(answer: dict[str, list[int]] | None) -> dict[int, str]:
    """An answer of getDecks, by card."""
    return {card: deck for deck, cards in (answer or {}).items() for card in cards}


def values(info: Info) -> dict[str, str]:
    """The fields of a note as plain text, in the order of its note type."""
    fields = sorted(info["fields"].items(), key=lambda item: item[1]["order"])
    return {name: field["value"] for name, field in fields}


def _shown(info: Info, decks: dict[int, str]) -> Info:
    cards = info["cards"]
    return {
        "noteId": info["noteId"],
        "modelName": info.get("modelName"),
        "deckName": decks.get(cards[0]) if cards else None,
        "tags": info.get("tags", []),
        "fields": values(info),
        "cards": cards,
    }
