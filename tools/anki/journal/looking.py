"""Notes as the journal keeps them, and as a dry run shows them."""

from tools.anki import client, notes
from tools.anki.journal.entries import Note
from tools.anki.notes import Info
from tools.anki.studying.card_text import cut, plain
from tools.core.json_types import JsonObject

EXAMPLES = 5
LONGEST_TEXT = 80


def kept(infos: dict[int, Info], *, deleted: bool = False) -> list[Note]:
    """Whole notes with the deck of their first card. One request."""
    decks = notes.decks_of([card for info in infos.values() for card in info["cards"]])
    return [
        Note(
            id=note,
            model=info.get("modelName") or "",
            deck=next((decks[card] for card in info["cards"] if card in decks), "Default"),
            fields=notes.values(info),
            tags=list(info.get("tags", [])),
            deleted=deleted,
        )
        for note, info in infos.items()
    ]


def of_cards(cards: list[int]) -> list[Note]:
    """The notes of some cards. Three requests."""
    ids = client.call("cardsToNotes", cards=cards) if cards else []
    return kept(notes.by_id(ids), deleted=True) if ids else []


def examples(infos: dict[int, Info]) -> dict[str, list[JsonObject]]:
    """The first notes with the text of their first field."""
    some = list(infos.items())[:EXAMPLES]
    return {"examples": [{"noteId": note, "text": first_text(info)} for note, info in some]}


def first_text(info: Info) -> str:
    return cut(plain(next(iter(notes.values(info).values()), "")), LONGEST_TEXT)
