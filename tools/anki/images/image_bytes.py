"""What kind of image some bytes are: by the bytes themselves, whatever their name or address says."""

import re
import struct
from dataclasses import dataclass

from tools.anki.batches.outcomes import ItemError

MOST_PIXELS = 64_000_000
"""A phone's largest photo fits; a bomb of some kilobytes that unpacks to gigabytes does not."""

BEFORE_SVG = re.compile(rb"\s*(?:<\?xml[^>]*>|<!--.*?-->|<!doctype svg[^>]*>)", re.DOTALL | re.IGNORECASE)
SVG = re.compile(rb"\s*<svg[\s>]", re.IGNORECASE)
SVG_HEAD_BYTES = 4096
AVIF_HEAD_BYTES = 65536
TOO_LARGE = "IMAGE_TOO_LARGE"


class ImageError(ItemError):
    """An image that cannot be used."""

    def __init__(self, message: str, hint: str, code: str = "IMAGE"):
        super().__init__(message, hint, code=code)


@dataclass(frozen=True)
class Kind:
    """The format, by its file extension, and the size in pixels (0 if the format has none or hides it)."""

    extension: str
    width: int = 0
    height: int = 0


def kind(data: bytes) -> Kind:
    """What image `data` is.

    Raises ImageError: not an image, cut short, or of more pixels than MOST_PIXELS.
    """
    image = _sniffed(data)
    if image is None:
        raise ImageError("the data is not an image", "Send a PNG, JPEG, GIF, WebP, AVIF, BMP, TIFF or SVG.")
    if image.width * image.height > MOST_PIXELS:
        raise ImageError(
            f"the image has {image.width} x {image.height} pixels", f"Send one of at most {MOST_PIXELS:,} pixels."
        )
    return image


def _sniffed(data: bytes) -> Kind | None:
    try:
        for starts, read in READERS:
            if starts(data):
                return read(data)
    except (struct.error, IndexError):
        raise cut_short() from None
    return None


def cut_short() -> ImageError:
    return ImageError("the image is cut short", "Send the whole file: its last part is missing.")


def _png(data: bytes) -> Kind:
    at, size = 8, (0, 0)
    while True:
        length, name = struct.unpack_from(">I4s", data, at)
        if name == b"IHDR":
            size = struct.unpack_from(">II", data, at + 8)
        at += length + 12
        if at > len(data):
            raise cut_short()
        if name == b"IEND":
            return Kind("png", *size)


def _jpeg(data: bytes) -> Kind:
    if data.rfind(b"\xff\xd9") < 0:
        raise cut_short()
    at = 2
    while True:
        while data[at] != 0xFF or data[at + 1] == 0xFF:
            at += 1
        marker = data[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", data, at + 5)
            return Kind("jpg", width, height)
        at += 2 + (0 if marker == 0x01 or 0xD0 <= marker <= 0xD8 else struct.unpack_from(">H", data, at + 2)[0])


def _gif(data: bytes) -> Kind:
    if b"\x3b" not in data[-64:]:
        raise cut_short()
    return Kind("gif", *struct.unpack_from("<HH", data, 6))


def _webp(data: bytes) -> Kind:
    if struct.unpack_from("<I", data, 4)[0] + 8 > len(data):
        raise cut_short()
    form = data[12:16]
    if form == b"VP8X":
        return Kind("webp", int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1)
    if form == b"VP8L":
        bits = struct.unpack_from("<I", data, 21)[0]
        return Kind("webp", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    width, height = struct.unpack_from("<HH", data, 26)
    return Kind("webp", width & 0x3FFF, height & 0x3FFF)


def _bmp(data: bytes) -> Kind:
    width, height = struct.unpack_from("<ii", data, 18)
    return Kind("bmp", abs(width), abs(height))


def _avif(data: bytes) -> Kind:
    """The largest of the sizes that its `ispe` boxes tell: of the whole, its tiles and its preview."""
    boxes = re.finditer(rb"ispe\0{4}", data[:AVIF_HEAD_BYTES])
    sizes = [struct.unpack_from(">II", data, box.end()) for box in boxes]
    return Kind("avif", *max(sizes, key=lambda size: size[0] * size[1], default=(0, 0)))


def _is_svg(data: bytes) -> bool:
    head = data[:SVG_HEAD_BYTES].removeprefix(b"\xef\xbb\xbf")
    while before := BEFORE_SVG.match(head):
        head = head[before.end() :]
    return SVG.match(head) is not None


READERS = (
    (lambda data: data.startswith(b"\x89PNG\r\n\x1a\n"), _png),
    (lambda data: data.startswith(b"\xff\xd8\xff"), _jpeg),
    (lambda data: data.startswith((b"GIF87a", b"GIF89a")), _gif),
    (lambda data: data.startswith(b"RIFF") and data[8:12] == b"WEBP", _webp),
    (lambda data: data.startswith(b"BM") and data[6:10] == b"\0\0\0\0" and len(data) > 30, _bmp),
    (lambda data: data.startswith((b"II*\0", b"MM\0*")), lambda data: Kind("tiff")),
    (lambda data: data[:2] == b"\0\0" and data[4:12] in (b"ftypavif", b"ftypavis"), _avif),
    (_is_svg, lambda data: Kind("svg")),
)
"""How each format begins, and how its size is read."""
