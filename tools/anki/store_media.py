"""The tool that stores a file in Anki's media folder."""

import base64
import binascii
from typing import Annotated

from tools.anki import media_names
from tools.anki.images import download, upload
from tools.anki.settings import current
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.tool import Tool


@Tool("anki.store_media", write=True, open_world=True, raw=True)
def store_media(
    filename: str,
    data: Annotated[str | None, "base64"] = None,
    url: Annotated[str | None, "used without data"] = None,
) -> JsonObject:
    """Store a sound or file: {filename, sizeBytes}, the name as Anki keeps it. [sound:NAME] in a field plays it.

    Source: AnkiConnect storeMediaFile.
    """
    name = media_names.checked(filename)
    content = _decoded(data) if data else download.fetch(url) if url else None
    if not content:
        raise ToolError("The file has no content", "Give data (base64) or url.", code="INVALID_ARGUMENTS")
    return {"filename": upload.store(name, content), "sizeBytes": len(content)}


def _decoded(text: str) -> bytes:
    """The bytes that base64, or a data URL of it, stands for."""
    head, comma, rest = text.partition(",")
    text = rest if comma and head.strip().lower().startswith("data:") else text
    limit = current().image_max_bytes
    if len(text) // 4 * 3 > limit + 2:
        raise ToolError(
            f"The file has more than {limit} bytes", "Send a smaller one, or raise IMAGE_MAX_BYTES.", code="TOO_LARGE"
        )
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise ToolError(
            f"The base64 is wrong: {error}", "Encode the whole file again, padding included.", code="INVALID_BASE64"
        ) from error
