"""The formats of images, known by the bytes themselves, whatever a name or an address says."""

import re

from ..note_input import ItemError

# The last chunk with its checksum.
PNG_END = b"IEND\xaeB`\x82"
SVG_HEAD_BYTES = 4096

# The beginning of a file of each format. Before the root of a drawing: a byte order mark, blanks, comments,
# declarations.
FORMATS = {
    "png": rb"\x89PNG\r\n\x1a\n",
    "jpg": rb"\xff\xd8\xff",
    "gif": rb"GIF8[79]a",
    "webp": rb"RIFF.{4}WEBP",
    "bmp": rb"BM.{4}\0{4}.{20}",
    "tiff": rb"II\*\0|MM\0\*",
    "avif": rb"\0\0..ftypavi[fs]",
    "svg": rb"(?:\xef\xbb\xbf)?(?:\s|<\?xml[^>]*>|<!--(?:(?!-->).)*-->|<!doctype svg[^>]*>)*<svg[\s>]",
}


class ImageError(ItemError):
    """An image that cannot be used."""

    def __init__(self, message: str, hint: str, code: str = "IMAGE"):
        super().__init__(message, hint, code)


def kind(data: bytes) -> str:
    """The file extension of an image: png, jpg, gif, webp, bmp, tiff, avif or svg.

    Raises ImageError: not an image, or cut short.
    """
    head = data[:SVG_HEAD_BYTES]
    flags = re.DOTALL | re.IGNORECASE
    matching = (name for name, start in FORMATS.items() if re.match(start, head, flags))
    extension = next(matching, "")
    if not extension:
        raise ImageError(
            "the data is not an image", "Send a PNG, JPEG, GIF, WebP, AVIF, BMP, TIFF or SVG."
        )
    # Base64 that a model or a clipboard cut off is common; a broken picture on a card would be found weeks
    # later.
    end = {"png": PNG_END, "jpg": b"\xff\xd9"}.get(extension, b"")
    whole = end in data and (extension != "gif" or b";" in data[-64:])
    if extension == "webp":
        whole = int.from_bytes(data[4:8], "little") + 8 <= len(data)
    if not whole:
        raise cut_short()
    return extension


def cut_short() -> ImageError:
    return ImageError("the image is cut short", "Send the whole file: its last part is missing.")
