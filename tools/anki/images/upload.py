"""Storing a file in Anki's media folder."""

import base64
import tempfile
from urllib.parse import urlsplit

from tools.anki import client, media_names
from tools.anki.images.image_bytes import ImageError
from tools.anki.replies import Refused
from tools.anki.settings import current
from tools.core import settings
from tools.core.json_types import JsonObject

MIB = 1024 * 1024
BY_PATH_BYTES = MIB
"""From this size a file is offered by its path first: AnkiConnect reads `data` in a time quadratic in its size."""

S_PER_MIB_SQUARED = 2
HERE = ("127.0.0.1", "::1", "localhost")


def store(name: str, data: bytes) -> str:
    """The name that Anki gave the file: it rewrites some, and a file of that name with other content stays.

    Raises ImageError, or Failure where Anki cannot be asked.
    """
    name = media_names.checked(name)
    try:
        stored = _by_path(name, data) or _by_data(name, data)
    except Refused as error:
        raise ImageError(f"Anki did not store {name!r}: {error.text}", "Choose another filename.") from error
    if stored is None:  # another server that speaks AnkiConnect, and keeps the name
        return name
    if not isinstance(stored, str) or not stored:
        raise ImageError(f"Anki did not store {name!r} and gives no reason", "Choose another filename.")
    return stored


def _by_data(name: str, data: bytes) -> object:
    params: JsonObject = {"filename": name, "data": base64.b64encode(data).decode("ascii")}
    extra_s = S_PER_MIB_SQUARED * (len(data) / MIB) ** 2
    try:
        return client.call("storeMediaFile", extra_s=extra_s, deleteExisting=False, **params)
    except Refused as error:
        if "deleteExisting" not in error.text:
            raise
        return client.call("storeMediaFile", extra_s=extra_s, **params)


def _by_path(name: str, data: bytes) -> object:
    """None where Anki does not see our disk (a container, a tunnel), or the disk has no room."""
    if len(data) < BY_PATH_BYTES or urlsplit(current().anki_connect_url).hostname not in HERE:
        return None
    try:
        with tempfile.NamedTemporaryFile(dir=settings.current().state_dir, prefix="upload-") as file:
            file.write(data)
            file.flush()
            return client.call("storeMediaFile", filename=name, path=file.name, deleteExisting=False)
    except (Refused, OSError):
        return None
