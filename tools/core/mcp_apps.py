"""Pages: what a client shows beside a tool's answer (MCP Apps, the extension io.modelcontextprotocol/ui of
2026-01-26).

A page is an HTML document of MIME_TYPE that a tool names and a client reads as a resource. Tools that only
pages call are listed only for clients that announce the extension; which page a tool has is listed for every
client, since some show pages without announcing it.
"""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from . import settings
from .json_types import JsonObject

EXTENSION = "io.modelcontextprotocol/ui"
MIME_TYPE = "text/html;profile=mcp-app"

# The parts of a line that `document` leaves out, or keeps as its group.
SPACES = (
    r"""("[^"\n]*"|`[^`]*`|<[!/\w][^>]*>)"""  # a string, a template or a tag, which stay as they are
    r"""|(?<=[{}();,?:=<>&|+*/]) | (?=[{}();,?:=<>&|+*/[!])"""  # or a space beside punctuation
    r"""|(?<=[{}(;,>])\n|\n(?=[})?:])"""  # or a line break beside a bracket or behind a statement
    r"""|;(?=\s*})"""  # or the last semicolon of a block
)


class Page(NamedTuple):
    """The page at `uri`, an HTML file. `private` picks the data of an answer that only the page gets, in the
    result's `_meta`; if there are any, the model gets only `brief` of the answer, and `notes` after it."""

    uri: str
    file: Path
    private: Callable[[JsonObject], JsonObject] = lambda answer: {}
    brief: Callable[[JsonObject], JsonObject] = lambda answer: answer
    notes: tuple[str, ...] = ("The person sees this on a page: say only what it lacks.",)


def shows_pages(capabilities: JsonObject) -> bool:
    """True if a client with these capabilities shows pages, or if MCP_PAGES says so. Some clients announce it
    under `experimental`, where the extension once was."""
    setting = settings.current().pages
    if setting != "auto":
        return setting == "on"
    for group in ("extensions", "experimental"):
        announcement = (capabilities.get(group) or {}).get(EXTENSION)
        types = [] if announcement is None else announcement.get("mimeTypes", [MIME_TYPE])
        if isinstance(types, list) and MIME_TYPE in types:
            return True
    return False


@cache
def document(file: Path) -> str:
    """The page in an HTML file, without comments and blanks, since it is sent to every client that shows
    it."""
    text = file.read_text("utf-8")
    # A line that names a style or script which pages share, by its path from the page, is replaced by it.
    includes = r"/\* (\S+\.(?:css|js)) \*/\n"
    text = re.sub(includes, lambda match: (file.parent / match[1]).read_text("utf-8"), text)
    # Whole-line comments and empty lines go.
    text = re.sub(r"(?m)^\s*(?://.*|/\*.*\*/)?\n", "", text)
    # Names that a script declares one behind another at the left margin: one `let` serves them all.
    declarations = r"(?m)(?:^let .*\n(?:[ )}\]].*\n)*){2,}"
    text = re.sub(declarations, lambda match: match[0].replace(";\nlet ", ",\n"), text)
    # Indentation goes, then what stands between words and signs.
    text = re.sub(r"(?m)^\s+", "", text)
    return re.sub(SPACES, lambda match: match[1] or "", text)
