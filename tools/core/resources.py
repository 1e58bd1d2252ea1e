"""Resources, by their declarations.

What the functions here answer has the shape of MCP's results.
"""

import os
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import quote, unquote_to_bytes

from tools.core import registry
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.settings import Settings
from tools.core.tool import description
from tools.core.toolsets import toolset_of

PAGE_SIZE = 100
"""Resources in one answer of resources/list."""
CURSOR = "after:"
"""What a cursor begins with; the URI of the last resource listed follows."""
MARKDOWN = "text/markdown"

RESOURCES: dict[str, "Resource"] = {}


class Resource:
    """Declare a plain function a resource: it gives its text.

    A `uri` with a variable, `x://{path}`, makes it a template: the function takes the variable, `entries` gives every
    value there is, `about` what is listed of one (title, size). What is not `listed` can be read all the same.
    """

    function: Callable[..., str]
    toolset: str

    def __init__(
        self,
        uri: str,
        title: str,
        *,
        mime_type: str = MARKDOWN,
        entries: Callable[[], Iterable[str]] | None = None,
        about: Callable[[str], JsonObject] | None = None,
        listed: bool = True,
    ):
        self.uri = uri
        self.title = title
        self.mime_type = mime_type
        self.entries = entries
        self.about = about
        self.is_listed = listed
        self.base, _, rest = uri.partition("{")
        self.variable = rest.removesuffix("}")

    def __call__(self, function: Callable[..., str]) -> Callable[..., str]:
        self.function = function
        self.toolset = toolset_of(function)
        RESOURCES[self.uri] = self
        return function

    def serves(self, uri: str) -> bool:
        """Whether it is what `uri` names."""
        return uri == self.uri or bool(self.variable and uri.startswith(self.base) and uri != self.base)

    def text(self, uri: str) -> str:
        """Raises ToolError if there is nothing at `uri`."""
        return self.function(self._value(uri)) if self.variable else self.function()

    def values(self) -> list[str]:
        """Every value of the variable."""
        return list(self.entries()) if self.entries else []

    def uris(self) -> list[str]:
        return [self.base + quote(os.fsencode(value)) for value in self.values()] if self.variable else [self.uri]

    def listed(self, uri: str) -> JsonObject:
        """As resources/list shows it."""
        if not self.variable or not self.about:
            return {"uri": uri, "name": self.title, **self.described()}
        value = self._value(uri)
        return {"uri": uri, "name": value, "mimeType": self.mime_type, **self.about(value)}

    def described(self) -> JsonObject:
        return {"title": self.title, "description": description(self.function), "mimeType": self.mime_type}

    def _value(self, uri: str) -> str:
        return os.fsdecode(unquote_to_bytes(uri.removeprefix(self.base)))


def list_resources(settings: Settings, params: Any) -> JsonObject:
    """resources/list: a page at a time, by URI; a cursor holds the last one, so a sync in between confuses nothing.

    Raises ToolError INVALID_CURSOR.
    """
    cursor = getattr(params, "cursor", None)
    if cursor is not None and not cursor.startswith(CURSOR):
        raise ToolError("No such cursor", "Send nextCursor of the page before, or none.", code="INVALID_CURSOR")
    resources = [resource for resource in offered(settings) if resource.is_listed]
    every = sorted(((uri, resource) for resource in resources for uri in resource.uris()), key=lambda it: it[0])
    left = [(uri, resource) for uri, resource in every if cursor is None or uri > cursor.removeprefix(CURSOR)]
    answer: JsonObject = {"resources": [resource.listed(uri) for uri, resource in left[:PAGE_SIZE]]}
    return answer | ({"nextCursor": CURSOR + left[PAGE_SIZE - 1][0]} if len(left) > PAGE_SIZE else {})


def list_templates(settings: Settings, params: Any) -> JsonObject:
    """resources/templates/list."""
    templates = [resource for resource in offered(settings) if resource.variable]
    return {
        "resourceTemplates": [
            {"uriTemplate": template.uri, "name": template.title, **template.described()} for template in templates
        ]
    }


def read_resource(settings: Settings, params: Any) -> JsonObject:
    """resources/read.

    Raises ToolError.
    """
    for resource in offered(settings):
        if resource.serves(params.uri):
            text = resource.text(params.uri)
            return {"contents": [{"uri": params.uri, "mimeType": resource.mime_type, "text": text}]}
    raise ToolError(f"No such resource: {params.uri[:200]}", "resources/list names them.", code="NOT_FOUND")


def offered(settings: Settings) -> list[Resource]:
    """The resources that these settings offer."""
    registry.load()
    return [resource for resource in RESOURCES.values() if registry.offers(settings, resource.toolset)]
