"""The tool that changes notes."""

from typing import Annotated, Any

from tools.anki.note_input import NoteUpdate
from tools.anki.updating import Updating
from tools.registry import Tool
from tools.schema import Limits


@Tool("anki.update_notes", write=True, destructive=True, idempotent=True, open_world=True, bare=True)
def update_notes(notes: Annotated[list[NoteUpdate], Limits(min_length=1)]) -> dict[str, Any]:
    """Change fields, tags, deck or images of notes: {updated, skipped, details}. details has {index, noteId, status,
    updatedFields, addedTags, removedTags, deckChangedTo} for each, and error where it was not changed.

    Source: AnkiConnect updateNoteFields, addTags, removeTags, changeDeck in multi, read back with notesInfo, getDecks.
    """
    return Updating(notes).run()
