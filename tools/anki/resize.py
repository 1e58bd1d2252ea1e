"""Images made small enough for a flashcard, where Pillow is installed."""

import io
import warnings
from collections.abc import Callable
from typing import Any

from tools.anki.image_bytes import Kind, cut_short

PilImage = Any
"""PIL.Image.Image, where Pillow is installed."""

QUALITY = 85
MOST_PIXELS = 24_000_000
"""Of an image to be decoded whole, about 100 MB of memory; a JPEG is decoded at a fraction of its size."""

NO_PILLOW = "Pillow is not installed (on the Pi: ./setup.sh --with images): the image is stored as it came"
AS_IT_CAME = "the image could not be resized and is stored as it came"


def shrink(data: bytes, kind: Kind, max_side: int) -> tuple[bytes, str, str]:
    """(bytes, extension, warning): as JPEG, upright, transparency on white, its longer side `max_side` at most.

    What moves or is drawn (animated images, SVG) stays as it is; so does everything without Pillow, with a warning.

    Raises ImageError for an image that is cut short.
    """
    if kind.extension == "svg":
        return data, kind.extension, ""
    try:
        from PIL import Image, ImageOps
    except ImportError:
        return data, kind.extension, NO_PILLOW
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data)) as image:
                if (warning := _left_alone(image, max_side)) is not None:
                    return data, kind.extension, warning
                return _jpeg(image, max_side, ImageOps.exif_transpose), "jpg", ""
    except Exception as error:  # decoders of untrusted data raise whatever they trip over
        if isinstance(error, OSError) and "truncated" in str(error):
            raise cut_short() from error
        return data, kind.extension, f"{AS_IT_CAME}: {error}"


def _left_alone(image: PilImage, max_side: int) -> str | None:
    """The warning, which may be empty, where the image stays as it came; None where it is to be made small."""
    if getattr(image, "is_animated", False):
        return ""
    image.draft("RGB", (max_side, max_side))  # only a JPEG can: it is decoded at 1/2, 1/4 or 1/8
    too_large = image.width * image.height > MOST_PIXELS
    return f"{AS_IT_CAME}: it has more than {MOST_PIXELS:,} pixels" if too_large else None


def _jpeg(image: PilImage, max_side: int, upright: Callable[[PilImage], PilImage]) -> bytes:
    image = _true_colour(upright(image))
    image.thumbnail((max_side, max_side))
    out = io.BytesIO()
    _on_white(image).save(out, "JPEG", quality=QUALITY)
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
