"""The tool that deletes notes."""

from typing import Annotated

from tools.anki import client, notes
from tools.errors import ToolError
from tools.registry import Tool
from tools.schema import Alias, Limits


@Tool("anki.delete_notes", write=True, destructive=True, idempotent=True, bare=True)
def delete_notes(noteIds: Annotated[list[int], Limits(min_length=1), Alias("note_ids")]) -> dict[str, int]:
    """Delete notes with their cards, for good. Returns {deleted, missing}.

    Source: AnkiConnect deleteNotes; it answers null whatever happened, so the notes are looked for before and after.
    """
    before = notes.by_id(noteIds)
    if not before:
        return {"deleted": 0, "missing": len(set(noteIds))}
    _, answer = client.results(("deleteNotes", {"notes": list(before)}), ("notesInfo", {"notes": list(before)}))
    if left := sorted(notes.indexed(answer)):
        raise ToolError(
            f"Anki kept {len(left)} of {len(before)} notes: {', '.join(map(str, left[:10]))}",
            "Look at them in Anki; a broken collection is mended there with Tools, Check Database.",
            code="NOT_DELETED",
            deleted=len(before) - len(left),
            missing=len(set(noteIds)) - len(before),
        )
    return {"deleted": len(before), "missing": len(set(noteIds)) - len(before)}
