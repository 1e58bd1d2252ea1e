"""The tool that searches for notes."""

from typing import Annotated, Any

from tools.anki import client, notes
from tools.registry import Tool
from tools.schema import Limits


@Tool("anki.find_notes", bare=True)
def find_notes(
    query: Annotated[str, 'e.g. deck:"A B" tag:x added:7 is:due front:*word*', Limits(min_length=1, strip=True)],
    limit: Annotated[int | None, "most notes to return; all by default", Limits(ge=1)] = None,
    offset: Annotated[int, "notes to skip", Limits(ge=0)] = 0,
) -> dict[str, Any]:
    """Find notes with Anki's search: {noteIds, notes}, both sorted by id; notes as anki.note_info shows them. Set limit
    where many may match.

    Source: AnkiConnect findNotes, notesInfo, getDecks.
    """
    ids = sorted(client.call("findNotes", query=query) or [])
    ids = ids[offset:] if limit is None else ids[offset : offset + limit]
    return {"noteIds": ids, "notes": notes.infos(ids)}
