"""Small images, made by hand."""

import struct
import zlib


def png(width=2, height=1, *, alpha=False, claimed=None):
    """A red PNG; half of it transparent with `alpha`. `claimed` is a size that only its header has."""
    channels = b"\xff\0\0" + (b"\x80" if alpha else b"")
    rows = b"".join(b"\0" + channels * width for _ in range(height))
    header = struct.pack(">IIBBBBB", *(claimed or (width, height)), 8, 6 if alpha else 2, 0, 0, 0)
    parts = (b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in parts
    )


GIF = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff!\xf9\x04\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;"
SVG = b'<?xml version="1.0"?>\n<!-- a circle -->\n<svg xmlns="http://www.w3.org/2000/svg"><circle r="4"/></svg>'
JPEG_HEAD = b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0\xff\xc0\0\x11\x08\0\x05\0\x07\x03"
JPEG = JPEG_HEAD + b"\x01\x22\0\x02\x11\x01\x03\x11\x01\xff\xd9"
WEBP = b"RIFF\x16\0\0\0WEBPVP8L\x09\0\0\0/\x02\x40\x00\x00\0\0\0\0\0"
