"""The tool that adds notes whose fields are known to fit."""

from typing import Annotated, Any

from tools.anki import adding
from tools.anki.note_input import NoteInput
from tools.registry import Tool
from tools.schema import Limits


@Tool("anki.add_notes", write=True, open_world=True, bare=True)
def add_notes(
    notes: Annotated[list[NoteInput], Limits(min_length=1)],
    deck: Annotated[str, "an existing deck; ANKI_DEFAULT_DECK by default"] = "",
    model: Annotated[str, "a note type; ANKI_DEFAULT_MODEL by default"] = "",
) -> dict[str, Any]:
    """Add notes to an existing deck: {added, skipped, details}. details has {index, status, noteId} for each note, and
    reason and error where it was not added; the others are added all the same. anki.add_from_model also makes the deck.

    Source: AnkiConnect addNote in multi, storeMediaFile, findCards, changeDeck.
    """
    return adding.add(deck, model, list(notes), strict=True)
