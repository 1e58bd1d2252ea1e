"""Pages: what a client shows beside a tool's answer (MCP Apps, the extension io.modelcontextprotocol/ui of 2026-01-26).

A page is a resource, an HTML document of MIME_TYPE; a tool names it. Only clients that announce the extension hear of
pages and of the tools that exist for pages alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tools.core import caller
from tools.core.json_types import JsonObject

EXTENSION = "io.modelcontextprotocol/ui"
MIME_TYPE = "text/html;profile=mcp-app"


def nothing(answer: JsonObject) -> JsonObject:
    """No private word for the page."""
    return {}


@dataclass(frozen=True)
class Page:
    """The page at `uri`. `private` gives what the page is told of an answer and the model is not: the result's `_meta`."""

    uri: str
    private: Callable[[JsonObject], JsonObject] = nothing


def shown_in(session: Any) -> bool:
    """Whether the client of a session of the SDK shows pages. Over HTTP a 2025-era session knows nothing of its client
    (None); what that said before is known of the caller."""
    if session.client_capabilities is None:
        person = caller.current()
        return person is not None and person.shows_pages
    return announced(session.client_capabilities.extensions)


def announced(extensions: object) -> bool:
    """Whether these extensions, as a client announces them, say that it shows pages."""
    settings = extensions.get(EXTENSION) if isinstance(extensions, dict) else None
    return isinstance(settings, dict) and MIME_TYPE in settings.get("mimeTypes", [MIME_TYPE])
