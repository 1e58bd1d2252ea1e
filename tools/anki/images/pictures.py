"""The pictures of one call: each is decoded or fetched once, and uploaded once."""

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass

from tools.anki import media_names
from tools.anki.batches.note_input import ImageSpec
from tools.anki.images import download, image_bytes, resize, upload
from tools.anki.images.image_bytes import ImageError
from tools.anki.settings import current

PREFIX = re.compile(r"\s{0,20}data:[^,]{0,200};base64,", re.IGNORECASE)
"""How a data URL begins. Bounded, as the text after it may be all blanks."""

ENDINGS = {name: {name} for name in ("png", "gif", "webp", "bmp", "svg", "avif")} | {
    "jpg": {"jpg", "jpeg", "jpe", "jfif"},
    "tiff": {"tif", "tiff"},
}
"""What names of each kind of image end in."""

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
    return Picture(_with_extension(wanted, extension) if wanted else _name(small, extension), small, warning)


def _with_extension(name: str, extension: str) -> str:
    """The client's name with the extension of the content: an image is never stored as a page or a script."""
    stem, _, ending = name.rpartition(".")
    if stem and ending.lower() in ENDINGS[extension]:
        return name
    if stem and any(ending.lower() in endings for endings in ENDINGS.values()):
        return f"{stem}.{extension}"
    return f"{name.rstrip('.') or 'image'}.{extension}"


def _source(image: ImageSpec) -> bytes:
    if image.image_base64:
        prefix = PREFIX.match(image.image_base64)
        return decoded(image.image_base64[prefix.end() if prefix else 0 :])
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
