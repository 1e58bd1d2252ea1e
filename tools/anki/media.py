"""Files in Anki's media folder."""

import base64
import glob
from typing import Annotated, Any

from tools.anki import client, media_names
from tools.errors import ToolError
from tools.registry import Tool

Filename = Annotated[str, "exact name in Anki's media folder, e.g. hello.mp3"]


@Tool("anki.get_media", bare=True)
def get_media(filename: Filename) -> dict[str, Any]:
    """Read a media file: {filename, dataBase64, sizeBytes}. sizeBytes is null where Anki's answer is no base64.

    Source: AnkiConnect retrieveMediaFile.
    """
    name = media_names.checked(filename)
    found = client.call("retrieveMediaFile", filename=name)
    if not isinstance(found, str):
        raise _not_found(name)
    return {"filename": name, "dataBase64": found, "sizeBytes": _size(found)}


@Tool("anki.delete_media", write=True, destructive=True, idempotent=True, bare=True)
def delete_media(filename: Filename) -> dict[str, Any]:
    """Move a media file to Anki's media trash: {filename, deleted, anki_response}. Notes that show it are not changed.

    Source: AnkiConnect deleteMediaFile; it answers null whatever happened, so the folder is looked at before and after.
    """
    name = media_names.checked(filename)
    look = ("getMediaFilesNames", {"pattern": glob.escape(name)})
    if name not in client.call(look[0], **look[1]):
        raise _not_found(name)
    answer, left = client.results(("deleteMediaFile", {"filename": name}), look)
    return {"filename": name, "deleted": name not in left, "anki_response": answer}


def _not_found(name: str) -> ToolError:
    return ToolError(
        f"FileNotFoundError: no media file {name!r}",
        "Anki rewrites names (UP.PNG becomes up.png). anki.invoke with getMediaFilesNames and "
        '{"pattern": "*.mp3"} lists them.',
        code="MEDIA_NOT_FOUND",
    )


def _size(text: str) -> int | None:
    try:
        return len(base64.b64decode(text, validate=True))
    except ValueError:
        return None
