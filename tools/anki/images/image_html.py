"""Images in the HTML of a field: the one form they have there, and those given as data URLs."""

import re
from collections.abc import Callable
from urllib.parse import unquote

DATA_URL = r"data:image/[\w.+-]+(?:;[\w=.+-]+)*;base64,"
WHOLE = re.compile(rf"{DATA_URL}([A-Za-z0-9+/=%\r\n]*)", re.IGNORECASE)
WITHIN = re.compile(
    rf"""<img\b[^<>]{{0,2000}}?\bsrc\s*=\s*(["']?){DATA_URL}(?=(?P<tagged>[^"'<>\s]*))(?P=tagged)\1[^<>]*>"""
    rf"""|{DATA_URL}(?P<bare>[^"'<>()\s]*)""",
    re.IGNORECASE,
)
"""A data URL as the source of an image, or anywhere else. The base64 is matched in a lookahead, which gives nothing back: a
tag that is never closed would else take a time quadratic in its length."""

SOURCES = re.compile(r"""<img\b[^<>]*?\bsrc\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>]+))""", re.IGNORECASE)


def wrapper(filename: str) -> str:
    """The HTML of one stored image."""
    from html import escape

    return f'<div><img src="{escape(filename)}" style="max-width:100%;height:auto"/></div>'


def with_image(value: str, filename: str) -> str:
    """The field with the image after what it has, an empty line between; unchanged if it shows that file already."""
    if filename in _shown(value):
        return value
    return f"{value}\n\n{wrapper(filename)}" if value.strip() else wrapper(filename)


def _shown(value: str) -> set[str]:
    from html import unescape

    sources = [unescape(next(filter(None, forms), "")) for forms in SOURCES.findall(value)]
    return {*sources, *map(unquote, sources)}


def replaced(value: str, store: Callable[[str], str | None]) -> str:
    """The field with each data URL of an image in it turned into the HTML of a stored file.

    `store` takes the base64 and returns the file name, or None to leave this one as it is.
    """
    if whole := WHOLE.fullmatch(value.strip()):
        name = store(unquote(whole[1]))
        return wrapper(name) if name else value
    done = ""
    rest = 0
    for match in WITHIN.finditer(value):
        done += value[rest : match.start()]
        rest = match.end()
        name = store(unquote(match["tagged"] or match["bare"] or ""))
        if name is None:
            done += match[0]
        elif match["tagged"] is not None:
            done += wrapper(name)
        else:
            done = with_image(done.rstrip(), name)
    return done + value[rest:]
