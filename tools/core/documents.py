"""The pages as clients get them: one HTML file each, with the shared style and script put in."""

import re
from functools import cache
from pathlib import Path

SHARED = Path(__file__).parent / "page"
INCLUDE = re.compile(r"/\* (shared\.\w+) \*/\n")
"""The line that the shared style or script takes the place of."""
PADDING = re.compile(r"^\s+|^//.*\n", re.MULTILINE)
"""Indentation, empty lines and whole-line comments."""
SPACES = re.compile(
    r"""("[^"\n]*"|`[^`]*`|<[^>]*>)"""  # a string, a template or a tag, which stay as they are
    r"""|(?<=[{}();,?:=>&|]) | (?=[{}();,?:=>&|])"""  # or a space beside punctuation
    r"""|(?<=[{(])\n|\n(?=[})])"""  # or a line break inside brackets
)


@cache
def document(file: Path) -> str:
    """The page of an HTML file, without what only its authors read: it is sent to every client that shows it."""
    text = INCLUDE.sub(lambda match: _read(SHARED / match[1]), _read(file))
    return SPACES.sub(lambda match: match[1] or "", PADDING.sub("", text)).replace(";}", "}")


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8")
