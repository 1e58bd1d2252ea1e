"""Images made small enough for a flashcard, where Pillow is installed."""

import io
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from tools.anki.images.image_bytes import Kind, cut_short

PilImage = Any
"""PIL.Image.Image, where Pillow is installed."""

QUALITY = 85

MOST_BYTES = 85_000_000
"""Of memory to decode an image in: on a board of 512 MB other sessions live, too."""

HELD_BY_DECODER = {"webp": 19, "avif": 15}
"""Bytes per pixel that decoding and shrinking took, measured: libwebp and libavif hold the image several times over, as
soon as they open it."""

PLAIN, TRANSPARENT, FOUR_COLOURS = 7, 11, 10
"""The same for the other kinds, by their pixels."""

FORMATS = {"png": "PNG", "jpg": "JPEG", "gif": "GIF", "webp": "WEBP", "bmp": "BMP", "tiff": "TIFF", "avif": "AVIF"}
"""Pillow's decoder of each kind: no other may look at the data, least of all the one that runs Ghostscript."""

NO_PILLOW = "Pillow is not installed (on the Pi: ./setup.sh --with images): the image is stored as it came"
AS_IT_CAME = "the image could not be resized and is stored as it came"


class Shrunk(NamedTuple):
    """An image for a flashcard; `warning` is why it is as it came."""

    data: bytes
    extension: str
    warning: str = ""


def shrink(data: bytes, kind: Kind, max_side: int) -> Shrunk:
    """The image as JPEG, upright, transparency on white, its longer side `max_side` at most.

    What moves or is drawn (animated images, SVG) stays as it is; so does everything without Pillow, with a warning.

    Raises ImageError for an image that is cut short.
    """
    if kind.extension == "svg":
        return Shrunk(data, kind.extension)
    try:
        from PIL import Image, ImageOps
    except ImportError:
        return Shrunk(data, kind.extension, NO_PILLOW)
    if too_large := _too_large(kind.width * kind.height, HELD_BY_DECODER.get(kind.extension, 0)):
        return Shrunk(data, kind.extension, too_large)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data), formats=[FORMATS[kind.extension]]) as image:
                if (warning := _left_alone(image, kind, max_side)) is not None:
                    return Shrunk(data, kind.extension, warning)
                return Shrunk(_jpeg(image, max_side, ImageOps.exif_transpose), "jpg")
    except Exception as error:  # decoders of untrusted data raise whatever they trip over
        if isinstance(error, OSError) and "truncated" in str(error):
            raise cut_short() from error
        return Shrunk(data, kind.extension, f"{AS_IT_CAME}: {error}")


def _left_alone(image: PilImage, kind: Kind, max_side: int) -> str | None:
    """The warning, which may be empty, if the image stays as it came; None if it is to be made small."""
    pixels = image.width * image.height
    if kind.extension == "jpg":
        image.draft("RGB", (max_side, max_side))  # decoded at 1/2, 1/4 or 1/8, but a progressive one is held whole
        pixels = pixels if "progressive" in image.info else image.width * image.height
    elif getattr(image, "is_animated", False):
        return ""
    return _too_large(pixels, HELD_BY_DECODER.get(kind.extension) or _bytes_per_pixel(image)) or None


def _bytes_per_pixel(image: PilImage) -> int:
    if image.mode == "CMYK" or getattr(image, "layers", 0) == 4:  # `draft` has changed a JPEG's mode already
        return FOUR_COLOURS
    return TRANSPARENT if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info else PLAIN


def _too_large(pixels: int, bytes_per_pixel: int) -> str:
    if pixels * bytes_per_pixel <= MOST_BYTES:
        return ""
    return f"{AS_IT_CAME}: to decode its {pixels:,} pixels takes too much memory"


def _jpeg(image: PilImage, max_side: int, upright: Callable[[PilImage], PilImage]) -> bytes:
    image = _true_colour(image)
    image.thumbnail((max_side, max_side))
    out = io.BytesIO()
    _on_white(upright(image)).save(out, "JPEG", quality=QUALITY)
    return out.getvalue()


def _true_colour(image: PilImage) -> PilImage:
    """Without a palette, which cannot be resized smoothly, and without more than eight bits a channel."""
    if image.mode.startswith("I"):
        return image.point(lambda value: value * (1 / 256)).convert("L")
    if image.mode in ("1", "P", "PA"):
        return image.convert("RGBA" if "transparency" in image.info or image.mode == "PA" else "RGB")
    return image


def _on_white(image: PilImage) -> PilImage:
    if image.mode not in ("RGBA", "LA") and "transparency" not in image.info:
        return image.convert("RGB")
    image = image.convert("RGBA")
    white = image.convert("RGB")
    white.paste("white", (0, 0, *image.size))
    white.paste(image, mask=image.getchannel("A"))
    return white
