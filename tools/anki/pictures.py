"""The pictures of one call: each is decoded or fetched once, and uploaded once."""

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass

from tools.anki import download, image_bytes, media_names, resize, upload
from tools.anki.image_bytes import ImageError
from tools.anki.note_input import ImageSpec
from tools.settings import current

PREFIX = re.compile(r"\s*data:[^,]*;base64,", re.IGNORECASE)
BLANKS = re.compile(r"[ \t\r\n]+")


@dataclass(frozen=True)
class Picture:
    """Ready to be uploaded under `name`; `warning` is what could not be done to it."""

    name: str
    data: bytes
    warning: str = ""


class Pictures:
    """What this call has prepared and stored so far."""

    def __init__(self) -> None:
        self._prepared: dict[tuple, Picture] = {}
        self._stored: dict[tuple[str, str], str] = {}

    def of(self, image: ImageSpec) -> Picture:
        """The picture that a client described, made small.

        Raises ImageError.
        """
        key = (image.image_base64 or image.image_url, image.max_side, image.filename)
        if key not in self._prepared:
            self._prepared[key] = _prepared(image)
        return self._prepared[key]

    def of_data_url(self, text: str) -> Picture:
        """The picture in a field, as it is. `text` is its base64.

        Raises ImageError.
        """
        data = decoded(text)
        return Picture(_name(data, image_bytes.kind(data).extension), data)

    def stored(self, picture: Picture) -> str:
        """The name under which Anki keeps it; uploads it the first time."""
        key = (picture.name, hashlib.sha1(picture.data).hexdigest())
        if key not in self._stored:
            self._stored[key] = upload.store(picture.name, picture.data)
        return self._stored[key]


def _prepared(image: ImageSpec) -> Picture:
    wanted = media_names.checked(image.filename) if image.filename else ""
    data = _source(image)
    small, extension, warning = resize.shrink(data, image_bytes.kind(data), image.max_side)
    if wanted and "." not in wanted.strip("."):
        wanted = f"{wanted}.{extension}"
    return Picture(wanted or _name(small, extension), small, warning)


def _source(image: ImageSpec) -> bytes:
    if image.image_base64:
        return decoded(PREFIX.sub("", image.image_base64, count=1))
    if image.image_url:
        return download.fetch(image.image_url)
    raise ImageError("the image has no content", "Give image_base64 or image_url.")


def decoded(text: str) -> bytes:
    """The bytes that base64 stands for; strictly, where Anki would take anything.

    Raises ImageError.
    """
    text = BLANKS.sub("", text)
    if len(text) // 4 * 3 - 2 > current().image_max_bytes:
        raise download.too_large(len(text) // 4 * 3)
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ImageError(f"the base64 is wrong: {error}", "Encode the whole file again, padding included.") from error
    if not data:
        raise ImageError("the base64 is empty", "Give the content of the image.")
    return data


def _name(data: bytes, extension: str) -> str:
    return f"img_{hashlib.sha1(data).hexdigest()}.{extension}"
