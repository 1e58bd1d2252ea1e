"""Pictures of notes: decoded or fetched, made small, stored in Anki's media folder, and shown in fields."""

import base64
import re
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from html import escape, unescape
from typing import NamedTuple
from urllib.parse import unquote

from tools.core import http, settings
from tools.toolkit import JsonObject, filled

from .. import client
from ..card_text import IMAGE
from ..client import Refused
from ..note_input import FieldTexts, ImageSpec, checked_filename
from ..settings import current
from . import image_bytes, resize
from .image_bytes import ImageError

DATA_URL = r"data:image/[\w.+-]+(?:;[\w=.+-]+)*;base64,"
# A data URL as a whole field, as the source of an image, or anywhere else. The base64 is matched in a
# lookahead, which gives nothing back: a tag that is never closed would else take a time quadratic in its
# length.
DATA_URLS = re.compile(
    rf"""(?i)\A\s*{DATA_URL}(?=(?P<whole>[A-Za-z0-9+/=%\r\n]*))(?P=whole)\s*\Z"""
    rf"""|<img\b[^<>]{{0,2000}}?\bsrc\s*=\s*(["']?){DATA_URL}(?=(?P<tagged>[^"'<>\s]*))(?P=tagged)\2[^<>]*>"""
    rf"""|{DATA_URL}(?P<bare>[^"'<>()\s]*)"""
)

# From this size a file is offered by its path first: AnkiConnect reads `data` in a time quadratic in its
# size.
BY_PATH_BYTES = MIB = 1024 * 1024
S_PER_MIB_SQUARED = 2

# Time for a whole download, redirects included.
DOWNLOAD_TIMEOUT_S = 30
MOST_REDIRECTS = 5


class Pictures:
    """The pictures of one call: each is prepared and uploaded once."""

    def __init__(self) -> None:
        self.warned: set[str] = set()
        self.prepare = cache(_prepared)
        self.upload = cache(store)


def _prepared(image: ImageSpec) -> tuple[str, bytes, str]:
    """Prepare a picture as a client describes it: its name, its content, made small, and a warning if that
    failed. Raises ImageError."""
    ending = r"(?i)\.(png|gif|webp|bmp|svg|avif|jpe?g|jpe|jfif|tiff?)$"
    stem = re.sub(ending, "", checked_filename(image.filename)) if image.filename else ""
    if image.image_base64:
        data = decode(image.image_base64)
    elif image.image_url:
        data = fetch(image.image_url)
    else:
        raise ImageError("the image has no content", "Give image_base64 or image_url.", "IMAGE")
    content, extension, warning = resize.shrink(
        data, image_bytes.file_extension(data), image.max_side
    )
    # The ending is that of the content: an image is never stored as a page or a script.
    name = f"{stem}.{extension}" if stem.strip(".") else hashed_name(content, extension)
    return name, content, warning


def decode(text: str) -> bytes:
    """Decode base64, or a data URL of it, strictly: Anki would take anything.

    Raises ImageError.
    """
    try:
        # The head of a data URL, bounded: the text after it may be a megabyte of blanks.
        text = re.sub(r"(?i)\A\s{0,20}data:[^,]{0,200};base64,", "", text)
        text = re.sub(r"[ \t\r\n]+", "", text)
        data = base64.b64decode(text, validate=True)
    except ValueError as error:
        raise ImageError(
            f"the base64 is wrong: {error}",
            "Encode the whole file again, padding included.",
            "IMAGE",
        ) from error
    if len(data) > current().image_max_bytes:
        raise _too_large(len(data))
    return data


# From the public web, never from this machine or its network: a host is resolved once, every address it has
# is checked, and the connection goes to a checked one, so a name that resolves differently the second time
# gains nothing. Each redirect is checked in the same way.
def fetch(url: str) -> bytes:
    """Download the bytes at `url`.

    Raises ImageError: not http(s), an address that is not public, no answer in time, an HTTP error, too many
    redirects, more than IMAGE_MAX_BYTES.
    """
    # Nothing but http(s), and not a character that could end the line of a request.
    if not re.fullmatch(r"(?i)https?://[^\s\x00-\x1f]+", url):
        raise ImageError(
            f"{url[:200]!r} is not an http(s) address",
            "Give one with %20 for a space, or send base64.",
            "IMAGE",
        )
    # Download it within the limits of time, size and redirects.
    bounds = http.Bounds(
        time.monotonic() + DOWNLOAD_TIMEOUT_S,
        current().image_max_bytes,
        MOST_REDIRECTS,
        foreign_only=not current().image_allow_private,
    )
    try:
        response = http.send(http.Request(url, headers={"Accept": "image/*"}), bounds)
        if response.status != 200:
            raise ValueError(f"HTTP {response.status}")
    except http.TooLong as error:
        raise _too_large(error.size_bytes) from error
    except http.NotForeign as error:
        raise ImageError(
            f"{error}, and images are not fetched from there",
            "Send it as base64. (IMAGE_ALLOW_PRIVATE=1 allows it, for a network of your own.)",
            "PRIVATE_ADDRESS",
        ) from error
    except (http.HttpError, ValueError) as error:
        raise ImageError(
            f"{url[:200]} could not be downloaded: {error}",
            "Check the URL, or send base64.",
            "DOWNLOAD_FAILED",
        ) from error
    return response.body


def _too_large(size_bytes: int) -> ImageError:
    return ImageError(
        f"the image is at least {size_bytes} bytes, over the limit of {current().image_max_bytes}",
        "Send a smaller one, or raise IMAGE_MAX_BYTES.",
        "IMAGE_TOO_LARGE",
    )


def hashed_name(data: bytes, extension: str) -> str:
    import hashlib

    return f"img_{hashlib.sha1(data).hexdigest()}.{extension}"


def store(name: str, data: bytes) -> str:
    """Store a file, and return the name that Anki gave it: it rewrites some, and keeps another file of the
    same name.

    Raises ItemError for a name that Anki must not get, Failure if Anki does not store it.
    """
    name = checked_filename(name)
    upload = partial(client.call, "storeMediaFile", filename=name)
    if len(data) >= BY_PATH_BYTES:
        # Anki may not see this disk (a container, a tunnel), or the disk is full.
        with (
            suppress(Refused, OSError),
            tempfile.NamedTemporaryFile(dir=settings.current().state_dir) as copy,
        ):
            copy.write(data)
            copy.flush()
            return upload(path=copy.name, deleteExisting=False) or name
    content = base64.b64encode(data).decode("ascii")
    extra_s = S_PER_MIB_SQUARED * (len(data) / MIB) ** 2
    try:
        stored = upload(data=content, extra_s=extra_s, deleteExisting=False)
    except Refused as error:
        if "deleteExisting" not in error.text:
            raise
        # anki-connect-server does not know that parameter.
        stored = upload(data=content, extra_s=extra_s)
    return stored or name  # other servers that speak AnkiConnect answer null, and keep the name


class NewTexts(NamedTuple):
    """New texts of a note with its pictures, the outcome of each picture, and warnings for the client."""

    values: FieldTexts
    images: list[JsonObject]
    warnings: list[str]

    def detail(self) -> JsonObject:
        """The part of a note's detail that is about its pictures."""
        return filled(images=self.images, warnings=self.warnings)


def with_pictures(
    pictures: Pictures, values: FieldTexts, present: FieldTexts, images: list[ImageSpec]
) -> NewTexts:
    """Store the data URLs in `values`, and put `images` at the end of their target fields; `present` are
    the texts that the note already has.

    Raises ImageError for one of the images.
    """
    texts = NewTexts({}, [], [])

    def upload(target: str, name: str, data: bytes, warning: str = "") -> str:
        filename = pictures.upload(name, data)
        texts.images.append({"field": target, "filename": filename, "sizeBytes": len(data)})
        if warning and warning not in pictures.warned:  # once a call
            pictures.warned.add(warning)
            texts.warnings.append(f"{filename}: {warning}")
        return filename

    def stored(name: str, text: str) -> str:
        try:
            data = decode(text)
            return upload(name, hashed_name(data, image_bytes.file_extension(data)), data)
        except ImageError as error:
            texts.warnings.append(f"{name}: {error.message}; the data URL is left as it is")
            return ""

    for name, value in values.items():
        texts.values[name] = replace_data_urls(value, partial(stored, name))
    for image in images:
        target = image.target_field
        filename = upload(target, *pictures.prepare(image))
        value = texts.values.get(target, present.get(target, ""))
        texts.values[target] = with_image(value, filename)
    return texts


def image_html(filename: str) -> str:
    """HTML that shows a stored image, always the same."""
    return f'<div><img src="{escape(filename)}" style="max-width:100%;height:auto"/></div>'


def with_image(value: str, filename: str) -> str:
    """Put the image at the end of a field, after an empty line, unless the field shows that file already."""
    if filename in [unescape("".join(groups)) for groups in IMAGE.findall(value)]:
        return value
    return f"{value}\n\n{image_html(filename)}" if value.strip() else image_html(filename)


def replace_data_urls(value: str, upload: Callable[[str], str]) -> str:
    """Turn each data URL of an image in a field into the HTML of a stored file.

    `upload` takes the base64 and returns the file name, or "" to leave this one as it is.
    """
    done = ""
    end = 0
    for match in DATA_URLS.finditer(value):
        done += value[end : match.start()]
        end = match.end()
        group = match.lastgroup or ""
        filename = upload(unquote(match[group]).strip())
        if not filename:
            done += match[0]
        elif group == "tagged":
            done += image_html(filename)
        else:
            done = with_image(done.rstrip(), filename)
    return done + value[end:]
