"""Pictures in the fields of a note, always in the same HTML."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from html import escape, unescape
from urllib.parse import unquote

from tools.anki.card_text import IMAGE
from tools.anki.images import image_bytes
from tools.anki.images.image_bytes import ImageError
from tools.anki.images.pictures import Picture, Pictures, decode, hashed_name
from tools.anki.note_input import Fields, ImageSpec
from tools.core.json_types import JsonObject, filled

DATA_URL = r"data:image/[\w.+-]+(?:;[\w=.+-]+)*;base64,"
# A field that is nothing but a data URL.
WHOLE_DATA_URL = re.compile(rf"{DATA_URL}([A-Za-z0-9+/=%\r\n]*)", re.IGNORECASE)
# A data URL as the source of an image, or anywhere else. The base64 is matched in a lookahead, which gives
# nothing back: a tag that is never closed would else take a time quadratic in its length.
DATA_URLS_WITHIN = re.compile(
    rf"""<img\b[^<>]{{0,2000}}?\bsrc\s*=\s*(["']?){DATA_URL}(?=(?P<tagged>[^"'<>\s]*))(?P=tagged)\1[^<>]*>"""
    rf"""|{DATA_URL}(?P<bare>[^"'<>()\s]*)""",
    re.IGNORECASE,
)


@dataclass
class Placed:
    """The values of a note with its pictures, the outcome of each picture, and warnings for the client."""

    values: Fields
    images: list[JsonObject] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def detail(self) -> JsonObject:
        """The part of a note's detail about its pictures."""
        return filled(images=self.images, warnings=self.warnings)


def place(pictures: Pictures, values: Fields, present: Fields, images: list[ImageSpec]) -> Placed:
    """`values` with their data URLs stored, and `images` at the end of their target fields; `present` is what
    the note holds already.

    Raises ImageError for one of the images.
    """
    placed = Placed(dict(values))

    def upload(target: str, picture: Picture) -> str:
        filename = pictures.upload(picture.name, picture.data)
        placed.images.append(
            {"field": target, "filename": filename, "sizeBytes": len(picture.data)}
        )
        if picture.warning not in pictures.warned:  # once a call
            pictures.warned.add(picture.warning)
            placed.warnings.append(f"{filename}: {picture.warning}")
        return filename

    def store(name: str, text: str) -> str:
        try:
            data = decode(text)
            return upload(name, Picture(hashed_name(data, image_bytes.kind(data)), data))
        except ImageError as error:
            placed.warnings.append(f"{name}: {error.message}; the data URL is left as it is")
            return ""

    for name, value in values.items():
        placed.values[name] = replace_data_urls(value, partial(store, name))
    for image in images:
        target = image.target_field
        filename = upload(target, pictures.prepare(image))
        value = placed.values.get(target, present.get(target, ""))
        placed.values[target] = with_image(value, filename)
    return placed


def image_html(filename: str) -> str:
    """The HTML of one stored image."""
    return f'<div><img src="{escape(filename)}" style="max-width:100%;height:auto"/></div>'


def with_image(value: str, filename: str) -> str:
    """The field with the image at its end, an empty line between; unchanged if it shows that file already."""
    if filename in [unescape("".join(forms)) for forms in IMAGE.findall(value)]:
        return value
    return f"{value}\n\n{image_html(filename)}" if value.strip() else image_html(filename)


def replace_data_urls(value: str, store: Callable[[str], str]) -> str:
    """The field with each data URL of an image in it turned into the HTML of a stored file.

    `store` takes the base64 and returns the file name, or "" to leave this one as it is.
    """
    if whole := WHOLE_DATA_URL.fullmatch(value.strip()):
        filename = store(unquote(whole[1]))
        return image_html(filename) if filename else value
    done = ""
    rest = 0
    for match in DATA_URLS_WITHIN.finditer(value):
        done += value[rest : match.start()]
        rest = match.end()
        filename = store(unquote(match["tagged"] or match["bare"] or ""))
        if not filename:
            done += match[0]
        elif match["tagged"] is None:
            done = with_image(done.rstrip(), filename)
        else:
            done += image_html(filename)
    return done + value[rest:]
