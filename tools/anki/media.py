"""Files in Anki's media folder: read, stored and deleted."""

import base64
import glob
from contextlib import suppress
from typing import Annotated

from tools.toolkit import Answer, JsonObject, Limits, Tool, ToolError, quoted

from . import client, confirm, decks, journal, notes
from .client import Ids, action, note_search
from .images import image_bytes, pictures
from .note_input import ItemError, checked_filename

# Bytes of a file that is sent without being asked for by size: 1.5 MB are 500,000 tokens.
UNASKED_BYTES = 256_000
# The MIME types of picture formats that every client shows.
SHOWN_TYPES = {"png": "image/png", "jpg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"}


@Tool("anki.get_media")
def get_media(filename: str, max_bytes: Annotated[int, Limits(ge=1)] = UNASKED_BYTES) -> JsonObject:
    """Read a media file as base64, and a picture as one.

    Source: AnkiConnect retrieveMediaFile. {filename, dataBase64, sizeBytes}.
    """
    name = _existing(filename)
    for spelling in (name, name.lower()):  # as Anki keeps most
        content = client.call("retrieveMediaFile", filename=spelling)
        if isinstance(content, str):
            break
    else:
        raise _not_found(filename)
    answer: JsonObject = {"filename": spelling, "dataBase64": content, "sizeBytes": None}
    try:
        data = base64.b64decode(content, validate=True)
    except ValueError:  # AnkiConnect's answer is not base64
        return answer
    answer["sizeBytes"] = size_bytes = len(data)
    if size_bytes > max_bytes:
        raise ToolError(
            f"{spelling!r} has {size_bytes} bytes, over the limit of {max_bytes}: it would fill the context",
            f"Do you need its content? If so, call again with max_bytes = {size_bytes}.",
            "MEDIA_TOO_LARGE",
            sizeBytes=size_bytes,
        )
    with suppress(image_bytes.ImageError):
        if mime_type := SHOWN_TYPES.get(image_bytes.file_extension(data)):
            return Answer(answer, {"type": "image", "data": content, "mimeType": mime_type})
    return answer


@Tool("anki.store_media", write=True, open_world=True)
def store_media(
    filename: str,
    data: Annotated[str, "base64"] = "",
    url: Annotated[str, "used without data"] = "",
) -> JsonObject:
    """Store a sound or file; answers its name in Anki. [sound:NAME] in a field plays it.

    Source: AnkiConnect storeMediaFile. {filename, sizeBytes}.
    """
    name = checked_filename(filename)
    if not data and not url:
        raise ToolError(
            "The file has no content", "Give data (base64) or url.", "INVALID_ARGUMENTS"
        )
    content = pictures.decode(data) if data else pictures.fetch(url)
    stored = pictures.store(name, content)
    answer: JsonObject = {"filename": stored, "sizeBytes": len(content)}
    if stored != name:
        answer["warnings"] = [f"Anki stored it as {stored}: use that name"]
    return answer


@Tool("anki.delete_media", write=True, destructive=True, idempotent=True, lock=False)
def delete_media(
    filename: str,
    dryRun: bool = False,
    expected: Annotated[int | None, "notes that use it"] = None,
) -> JsonObject:
    """Move a file to Anki's media trash.

    Source: AnkiConnect deleteMediaFile; it answers null even if nothing was deleted, so the folder is looked
    at before and after. {filename, deleted, anki_response}.
    """
    name = _existing(filename)
    listing = action("getMediaFilesNames", pattern=glob.escape(name))

    def notes_using() -> Ids:
        names, note_ids = client.results(listing, note_search(f'"*{decks.escaped(name)}*"'))
        if name not in names:
            raise _not_found(name)
        return note_ids

    if dryRun:
        note_ids = notes_using()
        answer = {"dryRun": True, "filename": name, "deleted": False, "notes": len(note_ids)}
        return answer | notes.examples(notes.by_id(note_ids[: notes.MOST_EXAMPLES]))

    def describe(note_ids: Ids) -> str:
        return f"delete the file {quoted(name)}, used by {notes.count_text(note_ids, 'note')}"

    with confirm.agreed(notes_using, describe, expected) as note_ids:
        # The journal keeps the file itself, unless it is larger than the journal may be.
        reading = action("retrieveMediaFile", filename=name)
        profile, content = client.unrefused(client.with_profile(reading))
        data = base64.b64decode(content or "")
        if 0 < len(data) <= journal.JOURNAL_MOST_BYTES:
            entry = journal.JournalEntry(profile, filename=name, content=data)
            journal.write("delete_media", f"{name} deleted, {len(data)} bytes", "it", entry)
        # Move the file to the trash, and look at the folder again.
        answer, names_left = client.results(action("deleteMediaFile", filename=name), listing)
    deletion = {"filename": name, "deleted": name not in names_left, "anki_response": answer}
    if note_ids:
        ids_text = ", ".join(map(str, note_ids[: notes.MOST_EXAMPLES]))
        deletion["warnings"] = [f"still named by {notes.count_text(note_ids, 'note')}: {ids_text}"]
    return deletion


def _existing(filename: str) -> str:
    """Return a file's name in Anki's form. Raises ToolError MEDIA_NOT_FOUND for one that no file can have."""
    try:
        return checked_filename(filename)
    except ItemError as error:
        raise ToolError(
            f"FileNotFoundError: no media file {filename[:80]!r}: Anki's media folder is flat",
            error.hint,
            "MEDIA_NOT_FOUND",
        ) from None


def _not_found(name: str) -> ToolError:
    return ToolError(
        f"FileNotFoundError: no media file {name!r}",
        'Anki rewrites names. anki_invoke with getMediaFilesNames and {"pattern": "*.mp3"} lists them.',
        "MEDIA_NOT_FOUND",
    )
