"""Images made small enough for a flashcard, where Pillow is installed."""

import io
import warnings
from typing import TYPE_CHECKING

from tools.anki.image_bytes import MOST_PIXELS, Kind, cut_short

if TYPE_CHECKING:
    from PIL.Image import Image

QUALITY = 85
NO_PILLOW = "Pillow is not installed (Debian: python3-pil): the image is stored as it came"


def shrink(data: bytes, kind: Kind, max_side: int) -> tuple[bytes, str, str]:
    """(bytes, extension, warning): as JPEG, upright, transparency on white, its longer side `max_side` at most.

    What moves or is drawn (animated images, SVG) stays as it is; so does everything without Pillow, with a warning.

    Raises ImageError for an image that is cut short.
    """
    if kind.extension == "svg":
        return data, kind.extension, ""
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError:
        return data, kind.extension, NO_PILLOW
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data)) as image:
                if getattr(image, "is_animated", False):
                    return data, kind.extension, ""
                if image.width * image.height > MOST_PIXELS:
                    return data, kind.extension, "the image is too large to resize: it is stored as it came"
                return _jpeg(image, max_side), "jpg", ""
    except (UnidentifiedImageError, ValueError, SyntaxError, EOFError, MemoryError) as error:
        return data, kind.extension, f"the image could not be resized and is stored as it came: {error}"
    except OSError as error:
        if "truncated" in str(error):
            raise cut_short() from error
        return data, kind.extension, f"the image could not be resized and is stored as it came: {error}"


def _jpeg(image: "Image", max_side: int) -> bytes:
    from PIL import ImageOps

    image.draft("RGB", (max_side, max_side))  # a JPEG decoder that skips detail keeps a large photo out of memory
    upright = ImageOps.exif_transpose(image)
    upright.thumbnail((max_side, max_side))
    out = io.BytesIO()
    _on_white(upright).save(out, "JPEG", quality=QUALITY)
    return out.getvalue()


def _on_white(image: "Image") -> "Image":
    from PIL import Image

    if not image.has_transparency_data:
        return image.convert("RGB")
    image = image.convert("RGBA")
    white = Image.new("RGB", image.size, "white")
    white.paste(image, mask=image.getchannel("A"))
    return white
