"""The tool that adds notes whose fields are known to fit."""

from typing import Annotated

from tools.anki.batches import adding
from tools.anki.batches.note_input import NoteInput
from tools.core.json_types import JsonObject
from tools.core.schema import Limits, Published
from tools.core.tool import Tool

NOTES = {
    "type": "array",
    "items": {"type": "object"},
    "description": "{fields, tags, images, dedup_key} as in anki_add_from_model",
}
"""How `notes` is listed: the other tool tells what a note is."""


@Tool("anki.add_notes", write=True, open_world=True, raw=True)
def add_notes(
    notes: Annotated[list[NoteInput], Published(NOTES), Limits(min_length=1)],
    deck: Annotated[str, "an existing one"] = "",
    model: str = "",
) -> JsonObject:
    """Add notes to an existing deck; answers as anki_add_from_model, which is the usual way.

    Source: AnkiConnect addNote in multi, storeMediaFile, findCards, changeDeck.
    """
    return adding.add(deck, model, list(notes), strict=True)
