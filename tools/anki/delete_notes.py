"""The tool that deletes notes."""

from typing import Annotated

from tools.anki import consent, notes, window
from tools.anki.journal import entries, looking
from tools.anki.journal.entries import Before
from tools.core import locks
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.schema import Alias, Limits
from tools.core.tool import Tool


@Tool("anki.delete_notes", write=True, destructive=True, idempotent=True, raw=True, lock=False)
def delete_notes(
    noteIds: Annotated[list[int], Limits(min_length=1), Alias("note_ids")],
    dryRun: bool | None = None,
    expected: int | None = None,
) -> JsonObject:
    """Delete notes with their cards: {deleted, missing}. Above 20 notes try dryRun and ask first.

    Source: AnkiConnect deleteNotes; it answers null whatever happened, so the notes are looked for before and after.
    """
    before = notes.by_id(noteIds)
    missing = len(set(noteIds)) - len(before)
    if dryRun:
        cards = sum(len(info["cards"]) for info in before.values())
        return {"dryRun": True, "notes": len(before), "missing": missing, "cards": cards, **looking.examples(before)}
    if before:
        consent.check(f"delete {len(before)} notes", len(before), expected)
        with locks.exclusive("anki"):
            _delete(before)
    return {"deleted": len(before), "missing": missing}


def _delete(before: dict[int, notes.Info]) -> None:
    ids = list(before)
    entries.write("delete_notes", f"{len(ids)} notes deleted", Before(looking.kept(before, deleted=True)))
    _, answer = window.results_redrawn(("deleteNotes", {"notes": ids}), ("notesInfo", {"notes": ids}))
    if left := sorted(notes.indexed(answer)):
        raise ToolError(
            f"Anki kept {len(left)} of {len(before)} notes: {', '.join(map(str, left[:10]))}",
            "Look at them in Anki; a broken collection is repaired there with Tools, Check Database.",
            code="NOT_DELETED",
            deleted=len(before) - len(left),
        )
