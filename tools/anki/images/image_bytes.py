"""Formats of images, recognized by their bytes, not by a name or an address."""

import re

from ..note_input import ItemError

# The last chunk with its checksum.
PNG_END = b"IEND\xaeB`\x82"
SVG_HEAD_BYTES = 4096

# The beginning of a file: its format is the group that matches. Before the root of a drawing: a byte order
# mark, blanks, comments, declarations.
FORMATS = (
    rb"(?is)(?P<png>\x89PNG\r\n\x1a\n)|(?P<jpg>\xff\xd8\xff)|(?P<gif>GIF8[79]a)"
    rb"|(?P<webp>RIFF.{4}WEBP)|(?P<bmp>BM.{4}\0{4}.{20})|(?P<tiff>II\*\0|MM\0\*)"
    rb"|(?P<avif>\0\0..ftypavi[fs])"
    rb"|(?P<svg>(?:\xef\xbb\xbf)?(?:\s|<\?xml[^>]*>|<!--(?:(?!-->).)*-->|<!doctype svg[^>]*>)*<svg[\s>])"
)


class ImageError(ItemError):
    """An image that cannot be used."""


def file_extension(data: bytes) -> str:
    """Recognize an image's format, and return its extension: png, jpg, gif, webp, bmp, tiff, avif or svg.

    Raises ImageError: not an image, or cut short.
    """
    match = re.match(FORMATS, data[:SVG_HEAD_BYTES])
    if not match:
        raise ImageError(
            "the data is not an image",
            "Send a PNG, JPEG, GIF, WebP, AVIF, BMP, TIFF or SVG.",
            "IMAGE",
        )
    extension = str(match.lastgroup)
    # Base64 that a model or a clipboard cut off is common; a broken picture on a card would be found weeks
    # later.
    is_whole = {
        "png": PNG_END in data,
        "jpg": b"\xff\xd9" in data,
        "gif": b";" in data[-64:],
        "webp": int.from_bytes(data[4:8], "little") + 8 <= len(data),
    }
    if not is_whole.get(extension, True):
        raise cut_short()
    return extension


def cut_short() -> ImageError:
    return ImageError(
        "the image is cut short", "Send the whole file: its last part is missing.", "IMAGE"
    )
