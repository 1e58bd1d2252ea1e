"""Notes as the journal keeps them, and as a dry run shows them."""

from tools.anki import client, notes
from tools.anki.journal import card_states
from tools.anki.journal.entries import Note
from tools.anki.notes import Info
from tools.core.json_types import JsonObject

EXAMPLES = 5
LONGEST_TEXT = 80


def deleted_notes(infos: dict[int, Info]) -> list[Note]:
    """Notes about to be deleted, with the deck of their first card, and the schedule of those that were studied. Three
    requests, and one for each 500 cards."""
    cards = [card for info in infos.values() for card in info["cards"]]
    decks = notes.decks_of(cards)
    touched = f"{card_states.search(cards)} (-is:new or is:suspended or -flag:0)"
    schedules = card_states.by_note(client.call("findCards", query=touched) if cards else [])
    kept = []
    for note, info in infos.items():
        deck = next((decks[card] for card in info["cards"] if card in decks), "Default")
        values, tags = notes.values(info), list(info.get("tags", []))
        kept.append(Note(note, info.get("modelName") or "", deck, values, tags, True, schedules.get(note, [])))
    return kept


def examples(infos: dict[int, Info]) -> dict[str, list[JsonObject]]:
    """The first notes with the text of their first field."""
    some = list(infos.items())[:EXAMPLES]
    return {"examples": [{"noteId": note, "text": first_text(info)} for note, info in some]}


def first_text(info: Info) -> str:
    return notes.first_text(info, LONGEST_TEXT)
