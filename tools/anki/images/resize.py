"""Images made small enough for a flashcard, if Pillow is installed."""

# The contract of `shrink`, the one place that decodes data from strangers:
# - Pillow is an extra: without it, or if it fails, the image is stored as it came, and the answer says so.
# - Only the decoder of the sniffed format looks at the data: Pillow would otherwise run Ghostscript for
#   PostScript.
# - Opening reads the header only. The size is weighed before a pixel is decoded: on a board of 512 MB other
#   sessions live, too, and a picture of a kilobyte can claim gigabytes.
# - Animations (GIF, WebP) and drawings (SVG) stay as they are, without a warning.
# - The result is upright, without palette and transparency, and never larger than it was.

import io
import sys
from typing import Any

from tools.core.settings import VENV_PACKAGES

from .image_bytes import cut_short

# PIL.Image.Image, which only exists if Pillow is installed.
PilImage = Any

QUALITY = 85
# Memory that decoding and shrinking one image may take.
MOST_DECODING_BYTES = 85_000_000

# Up to this size a picture needs no shrinking, and the missing Pillow no word.
SMALL_PICTURE_BYTES = 200_000
NO_PILLOW = (
    "Pillow is not installed (on the Pi: ./setup.sh --with images): the image is stored as it came"
)


def shrink(data: bytes, extension: str, max_side: int) -> tuple[bytes, str, str]:
    """Shrink an image to a JPEG whose longer side is `max_side` at most: the bytes, their extension, and the
    reason if they are as they came.

    Raises ImageError for an image that is cut short.
    """
    try:
        small = None if extension == "svg" else _smaller(data, extension, max_side)
    except ImportError:
        return data, extension, NO_PILLOW if len(data) > SMALL_PICTURE_BYTES else ""
    except Exception as error:  # decoders of untrusted data raise anything
        if "truncated" in str(error):
            raise cut_short() from error
        return data, extension, f"the image could not be resized and is stored as it came: {error}"
    return (small, "jpg", "") if small else (data, extension, "")


def _smaller(data: bytes, extension: str, max_side: int) -> bytes | None:
    """Convert an image to JPEG; None for an animation, and for a small logo whose JPEG would be larger.

    Raises ImportError without Pillow, and any exception of its decoders.
    """
    if str(VENV_PACKAGES) not in sys.path:
        sys.path.append(str(VENV_PACKAGES))
    from PIL import Image

    decoder = "JPEG" if extension == "jpg" else extension.upper()
    with Image.open(io.BytesIO(data), formats=[decoder]) as image:
        # The second frame of a photo is only a preview.
        if extension != "jpg" and getattr(image, "is_animated", False):
            return None
        if _decoding_bytes(image, extension, max_side) > MOST_DECODING_BYTES:
            raise ValueError(f"{image.width * image.height:,} pixels take too much memory")
        is_small_logo = _is_transparent(image) and max(image.size) <= max_side
        jpeg = _jpeg(image, max_side)
        return None if is_small_logo and len(data) < len(jpeg) else jpeg


def _decoding_bytes(image: PilImage, extension: str, max_side: int) -> int:
    """Memory that decoding takes, as measured: libwebp and libavif hold an image several times over. A
    baseline JPEG is decoded at 1/2, 1/4 or 1/8."""
    bytes_per_pixel = 11 if image.mode == "CMYK" or _is_transparent(image) else 7
    if extension in ("webp", "avif"):
        bytes_per_pixel = 19
    if "progressive" not in image.info:
        image.draft("RGB", (max_side, max_side))  # of no effect on other formats
    return bytes_per_pixel * image.width * image.height


def _is_transparent(image: PilImage) -> bool:
    return image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info


def _jpeg(image: PilImage, max_side: int) -> bytes:
    from PIL import Image, ImageOps

    mode = "RGBA" if _is_transparent(image) else "RGB"
    if image.mode.startswith("I"):  # sixteen bits a pixel
        image = image.point(lambda value: value * (1 / 256)).convert("L")
    if image.mode != mode:  # a palette cannot be resized smoothly
        image = image.convert(mode)
    image.thumbnail((max_side, max_side))
    image = ImageOps.exif_transpose(image)
    if mode == "RGBA":
        white = Image.new(mode, image.size, "white")
        image = Image.alpha_composite(white, image).convert("RGB")
    out = io.BytesIO()
    image.save(out, "JPEG", quality=QUALITY)
    return out.getvalue()
