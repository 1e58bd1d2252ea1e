"""The tool that changes notes."""

from typing import Annotated

from tools.anki.batches.note_input import NoteUpdate
from tools.anki.batches.updating import Updating
from tools.core.json_types import JsonObject
from tools.core.schema import Limits
from tools.core.tool import Tool


@Tool("anki.update_notes", write=True, destructive=True, idempotent=True, open_world=True, raw=True, lock=False)
def update_notes(
    notes: Annotated[list[NoteUpdate], Limits(min_length=1)], dryRun: bool | None = None, expected: int | None = None
) -> JsonObject:
    """Change fields, tags, deck or images of notes: {updated, skipped, details: [{index, noteId, status, updatedFields,
    addedTags, removedTags, deckChangedTo, error}]}. Above 20 notes try dryRun and ask first; tags: anki_change_cards.

    Source: AnkiConnect updateNoteFields, addTags, removeTags, changeDeck in multi, read back with notesInfo, getDecks.
    """
    updating = Updating(notes)
    return updating.dry_run() if dryRun else updating.run(expected)
