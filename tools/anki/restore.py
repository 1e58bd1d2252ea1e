"""The tool that puts back what was changed or deleted."""

from tools.anki.journal import entries
from tools.anki.journal.restoration import put_back
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.tool import Tool

SHOWN = 20
"""Entries that are listed."""


@Tool("anki.restore", write=True, destructive=True)
def restore(entry: int | None = None) -> JsonObject:
    """List what was changed or deleted: {entries: [[id, time, tool, summary]]}; with `entry` put it back.
    Deleted notes come back without their review log.

    Source: AnkiConnect updateNoteFields, addTags, removeTags, changeDeck, setSpecificValueOfCard, suspend, unsuspend,
    addNote, storeMediaFile.
    """
    if entry is None:
        return {"entries": entries.newest(SHOWN)}
    before = entries.read(entry)
    if before is None:
        raise ToolError(
            f"There is no entry {entry}", "Call anki_restore without `entry` to list them.", code="NO_ENTRY"
        )
    return {"entry": entry, **put_back(before, f"entry {entry} put back")}
