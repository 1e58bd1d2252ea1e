"""The tool that deletes notes."""

from typing import Annotated

from tools.anki import client, confirm, notes
from tools.anki.journal import entries, note_records
from tools.anki.journal.entries import Before
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.schema import Alias, Limits
from tools.core.tool import Tool


@Tool("anki.delete_notes", write=True, destructive=True, idempotent=True, lock=False)
def delete_notes(
    noteIds: Annotated[list[int], Limits(min_length=1), Alias("note_ids")],
    dryRun: bool | None = None,
    expected: int | None = None,
) -> JsonObject:
    """Delete notes with their cards: {deleted, missing}. Above 20 notes try dryRun and ask first.

    Source: AnkiConnect deleteNotes; it answers null whatever happened, so the notes are looked for before and after.
    """
    if dryRun:
        before = notes.by_id(noteIds)
        cards = sum(len(info["cards"]) for info in before.values())
        missing = len(set(noteIds)) - len(before)
        examples = note_records.examples(before)
        return {"dryRun": True, "notes": len(before), "missing": missing, "cards": cards, **examples}
    with confirm.agreed(lambda: notes.by_id(noteIds), set, _words, expected) as before:
        if before:
            _delete(before)
    return {"deleted": len(before), "missing": len(set(noteIds)) - len(before)}


def _words(before: dict[int, notes.Info]) -> str:
    texts = map(note_records.first_text, before.values())
    return f"delete {len(before)} notes{confirm.examples(texts)}" if before else ""


def _delete(before: dict[int, notes.Info]) -> None:
    ids = list(before)
    entry = entries.write("delete_notes", f"{len(ids)} notes deleted", Before(note_records.deleted_notes(before)))
    _, answer = client.results_redrawn(("deleteNotes", {"notes": ids}), ("notesInfo", {"notes": ids}))
    if left := sorted(notes.indexed(answer)):
        problem = f"Anki kept {len(left)} of {len(before)} notes: {', '.join(map(str, left[:10]))}"
        hint = "Look at them in Anki; a broken collection is repaired there with Tools, Check Database."
        raise ToolError(problem, hint, code="NOT_DELETED", deleted=len(before) - len(left))
    entries.tell(entry, f"the {len(ids)} notes")
