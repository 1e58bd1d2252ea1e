"""Files in Anki's media folder."""

import base64
import glob
import re
from typing import Annotated

from tools.anki import client, consent, decks, media_names
from tools.anki.client import Action
from tools.anki.images import image_bytes
from tools.anki.images.image_bytes import ImageError
from tools.anki.journal import entries
from tools.anki.journal.entries import Before
from tools.core import locks
from tools.core.answers import Answer
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.schema import Limits
from tools.core.tool import Tool

DROPPED = re.compile(r'[][<>:"?*^|]')
"""Characters that AnkiConnect drops from the name of a file to read: it would answer with another file."""

MAX_BYTES = 256_000
"""A larger file is answered only on demand: 1.5 MB were 500,000 tokens."""

Filename = Annotated[str, "e.g. hello.mp3"]


@Tool("anki.get_media", raw=True)
def get_media(filename: Filename, max_bytes: Annotated[int, Limits(ge=1)] = MAX_BYTES) -> JsonObject:
    """Read a media file: {filename, dataBase64, sizeBytes}, and a picture as one.

    Source: AnkiConnect retrieveMediaFile.
    """
    name = media_names.checked(filename)
    if DROPPED.search(name) and name not in client.call(_looking(name)[0], pattern=_looking(name)[1]["pattern"]):
        raise _not_found(name)
    content = client.call("retrieveMediaFile", filename=name)
    if not isinstance(content, str):
        raise _not_found(name)
    size_bytes = _size(content)
    if len(content) // 4 * 3 - 2 > max_bytes:
        raise ToolError(
            f"{name!r} has {size_bytes} bytes, over the limit of {max_bytes}: that many tokens would fill the context",
            f"Do you need its content? If so, call again with max_bytes = {size_bytes}.",
            code="MEDIA_TOO_LARGE",
            sizeBytes=size_bytes,
        )
    answer = {"filename": name, "dataBase64": content, "sizeBytes": size_bytes}
    return Answer(answer, base64.b64decode(content)) if size_bytes and _is_picture(content) else answer


@Tool("anki.delete_media", write=True, destructive=True, idempotent=True, raw=True, lock=False)
def delete_media(
    filename: str, dryRun: bool | None = None, expected: Annotated[int | None, "notes that use it"] = None
) -> JsonObject:
    """Move a file to Anki's media trash: {filename, deleted, anki_response}.

    Source: AnkiConnect deleteMediaFile; it answers null whatever happened, so the folder is looked at before and after.
    """
    name = media_names.checked(filename)
    users = ("findNotes", {"query": f'"*{decks.quoted(name)}*"'})
    names, using = client.results(_looking(name), users)
    if name not in names:
        raise _not_found(name)
    if dryRun:
        return {"dryRun": True, "filename": name, "deleted": False, "notes": len(using)}
    consent.check(f"delete the file {name}, which {len(using)} notes use", len(using), expected)
    with locks.exclusive("anki"):
        return _delete(name)


def _delete(name: str) -> JsonObject:
    content = client.call("retrieveMediaFile", filename=name)
    data = base64.b64decode(content) if isinstance(content, str) else b""
    if len(data) <= entries.MOST_BYTES:
        entries.write("delete_media", f"{name} deleted, {len(data)} bytes", Before(filename=name, content=data))
    answer, left = client.results(("deleteMediaFile", {"filename": name}), _looking(name))
    return {"filename": name, "deleted": name not in left, "anki_response": answer}


def _looking(name: str) -> Action:
    return "getMediaFilesNames", {"pattern": glob.escape(name)}


def _is_picture(content: str) -> bool:
    """Whether it is a picture of a kind that every client shows."""
    try:
        return image_bytes.kind(base64.b64decode(content)).extension in ("png", "jpg", "gif", "webp")
    except ImageError:
        return False


def _not_found(name: str) -> ToolError:
    return ToolError(
        f"FileNotFoundError: no media file {name!r}",
        "Anki rewrites names (UP.PNG becomes up.png). anki_invoke with getMediaFilesNames and "
        '{"pattern": "*.mp3"} lists them.',
        code="MEDIA_NOT_FOUND",
    )


def _size(text: str) -> int | None:
    try:
        return len(base64.b64decode(text, validate=True))
    except ValueError:
        return None
