"""Notes as they stand in Anki."""

from collections.abc import Iterable
from typing import Annotated

from tools.anki import client
from tools.core.json_types import JsonObject
from tools.core.schema import Alias, Limits
from tools.core.tool import Tool

LARGEST_ID = 2**63 - 1
"""Anki refuses a whole request for one id beyond."""

Info = JsonObject


@Tool("anki.note_info", raw=True)
def note_info(
    noteIds: Annotated[list[int], Limits(min_length=1), Alias("note_ids")],
) -> dict[str, list[Info | None]]:
    """Show notes by id: {notes: [{noteId, modelName, deckName, tags, fields, cards}]} in that order, null for none.

    Source: AnkiConnect notesInfo, getDecks.
    """
    return {"notes": infos(noteIds)}


def infos(ids: list[int]) -> list[Info | None]:
    """The note of each id, None if it does not exist. Two requests."""
    by_note = by_id(ids)
    decks = decks_of([card for info in by_note.values() for card in info["cards"]])
    return [_shown(by_note[note], decks) if note in by_note else None for note in ids]


def by_id(ids: list[int]) -> dict[int, Info]:
    """What notesInfo says of each note there is. One request."""
    asked = possible(ids)
    return with_cards(indexed(client.call("notesInfo", notes=asked))) if asked else {}


def with_cards(infos: dict[int, Info]) -> dict[int, Info]:
    """The notes with their cards, in the order of their making. Not every server that speaks AnkiConnect tells them: one
    request more."""
    lacking = [note for note, info in infos.items() if "cards" not in info]
    answers = client.results(*(("findCards", {"query": f"nid:{note}"}) for note in lacking))
    for note, cards in zip(lacking, answers, strict=True):
        infos[note]["cards"] = cards
    for info in infos.values():
        info["cards"] = sorted(info["cards"])
    return infos


def possible(ids: list[int]) -> list[int]:
    """The ids, once each, that a note can have."""
    return [note for note in dict.fromkeys(ids) if 0 < note <= LARGEST_ID]


def indexed(answer: Iterable[Info | None] | None) -> dict[int, Info]:
    """An answer of notesInfo by note id: for a missing note the add-on gives `{}`, others null or nothing."""
    return {info["noteId"]: info for info in answer or [] if info and "noteId" in info}


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
