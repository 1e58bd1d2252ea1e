"""Pictures of few bytes and very many pixels, and what only looks like one."""

import base64
import io
from collections.abc import Iterator
from functools import cache

POSTSCRIPT = b"%!PSftypavif\n%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 2 2\n%%EndComments\nshowpage\n"
MADE = {
    "large.webp": ("webp", "RGBA", (4800, 4990), {}),
    "large.jpg": ("jpeg", "CMYK", (9000, 7000), {"progressive": True}),
    "large.png": ("png", "RGBA", (5000, 5000), {}),
    "large.avif": ("avif", "RGB", (4800, 4990), {}),
    "photo.jpg": ("jpeg", "RGB", (3872, 2592), {}),
    "photo.png": ("png", "RGB", (3400, 3400), {}),
    "photo.webp": ("webp", "RGB", (2100, 2100), {}),
}
"""Form, mode, size and options: the large ones must not be decoded, the photos just may."""


def evil() -> Iterator[tuple[str, str]]:
    """Names and base64; without Pillow only what needs none to be made."""
    yield "postscript", base64.b64encode(POSTSCRIPT).decode()
    yield "cut.png", base64.b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x40\0\0\0\x40\0\x08\x06\0\0\0").decode()
    for name in MADE:
        if text := _encoded(name):
            yield name, text


@cache
def _encoded(name: str) -> str:
    try:
        from PIL import Image

        form, mode, size, more = MADE[name]
        out = io.BytesIO()
        Image.new(mode, size).save(out, form, **more)
        return base64.b64encode(out.getvalue()).decode()
    except (ImportError, KeyError, OSError):
        return ""
