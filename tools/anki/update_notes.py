"""The tool that changes notes."""

from typing import Annotated

from tools.anki.batches.updating import UpdateBatch
from tools.anki.note_input import NoteUpdate
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.schema import Published
from tools.core.tool import Tool

NOTES = {
    "type": "array",
    "items": {"type": "object"},
    "description": (
        "{noteId, fields: only those to change, replace: {field or *: [old, new]}, all: true if old is there more than "
        "once, addTags: […], removeTags: […], deckName, images as in anki_add_from_model}"
    ),
}


@Tool("anki.update_notes", write=True, destructive=True, idempotent=True, open_world=True, lock=False)
def update_notes(
    notes: Annotated[list[NoteUpdate] | None, Published(NOTES)] = None,
    query: Annotated[str, "with replace, instead of notes"] = "",
    replace: Annotated[dict[str, list[str]] | None, Published({"type": "object"}), "as in notes"] = None,
    dryRun: bool | None = None,
    expected: Annotated[int | None, "the dry run's count; query needs it"] = None,
) -> JsonObject:
    """Change fields, tags, deck or images of notes: {updated, skipped, details: [{index, noteId, status, error, …}]}. For
    a typo send replace, not the field. Above 20 notes try dryRun and ask first; tags: anki_change_cards.

    Source: AnkiConnect updateNoteFields, addTags, removeTags, changeDeck in multi, read back with notesInfo.
    """
    if bool(notes) == bool(query.strip()) or bool(query.strip()) != bool(replace):
        hint = 'For example {"query": "deck:X", "replace": {"Back": ["teh", "the"]}, "dryRun": true}.'
        raise ToolError("Give notes, or query with replace. Nothing was changed", hint, code="INVALID_ARGUMENTS")
    batch = UpdateBatch(notes or [], query.strip(), replace or {})
    return batch.dry_run() if dryRun else batch.run(expected)
