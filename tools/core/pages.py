"""Pages: what a client shows beside a tool's answer (MCP Apps, the extension io.modelcontextprotocol/ui of 2026-01-26).

A page is a resource, an HTML document of MIME_TYPE; a tool names it. Only clients that announce the extension hear of
pages and of the tools that exist for pages alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tools.core.json_types import JsonObject

EXTENSION = "io.modelcontextprotocol/ui"
MIME_TYPE = "text/html;profile=mcp-app"


def nothing(answer: Any) -> JsonObject:
    """No private word for the page."""
    return {}


@dataclass(frozen=True)
class Page:
    """The page at `uri`. `private` gives what the page is told of an answer and the model is not: the result's `_meta`."""

    uri: str
    private: Callable[[Any], JsonObject] = nothing


def shown_in(session: Any) -> bool:
    """Whether the client of a session of the SDK shows pages; one that has not said what it can (None) does not."""
    settings = (getattr(session.client_capabilities, "extensions", None) or {}).get(EXTENSION)
    return settings is not None and MIME_TYPE in settings.get("mimeTypes", [MIME_TYPE])
