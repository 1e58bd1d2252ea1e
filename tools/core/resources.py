"""Resources, and completion of their variables. The functions named after methods return MCP's results."""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from operator import itemgetter
from urllib.parse import quote, unquote_to_bytes

from . import mcp_apps, places, prompts, registry
from .errors import ToolError
from .json_types import JsonObject
from .tool import Declaration, description

MARKDOWN = "text/markdown"
# Values in a completion; MCP allows no more.
MOST_VALUES = 100

RESOURCES: dict[str, "Resource"] = {}


@dataclass(eq=False)
class Resource(Declaration):
    """Declare a plain function as a resource: it returns the resource's text.

    A `uri` with a variable, `x://{path}`, makes it a template: the function takes the variable, `entries`
    returns all its values, `about` the title and size that the list shows for one of them.
    """

    uri: str
    title: str
    entries: Callable[[], Iterable[str]] = tuple
    about: Callable[[str], JsonObject] = lambda value: {}

    def register(self) -> None:
        self.base, _, variable = self.uri.partition("{")
        self.variable = variable.removesuffix("}")
        RESOURCES[self.uri] = self

    def text(self, uri: str) -> str | None:
        """The text at `uri`; None if this resource does not serve it. Raises ToolError."""
        if not self.variable:
            return self.function() if uri == self.uri else None
        value = uri.removeprefix(self.base)
        if value in ("", uri):
            return None
        return self.function(os.fsdecode(unquote_to_bytes(value)))

    def list_entries(self) -> Iterator[JsonObject]:
        """Its entries in resources/list."""
        if not self.variable:
            yield {"uri": self.uri, **self.described()}
        for value in self.entries():
            uri = self.base + quote(os.fsencode(value))
            yield {"uri": uri, "name": value, "mimeType": MARKDOWN, **self.about(value)}

    def described(self) -> JsonObject:
        """The fields that an entry of a resource and one of a template have in common."""
        return {
            "name": self.title,
            "title": self.title,
            "description": description(self.function),
            "mimeType": MARKDOWN,
        }


def list_resources(params: JsonObject) -> JsonObject:
    """The result of resources/list, all on one page, since some clients never ask for the next."""
    entries: list[JsonObject] = []
    for resource in offered_resources():
        entries += resource.list_entries()
    return {"resources": sorted(entries, key=itemgetter("uri"))}


def list_templates(params: JsonObject) -> JsonObject:
    """The result of resources/templates/list."""
    templates = [
        {"uriTemplate": resource.uri, **resource.described()}
        for resource in offered_resources()
        if resource.variable
    ]
    return {"resourceTemplates": templates}


def read_resource(params: JsonObject) -> JsonObject:
    """The result of resources/read, for a resource, a page, or the file of a skill. Raises ToolError."""
    uri = params["uri"]
    mime_type = MARKDOWN
    if uri.startswith(prompts.SKILL_SCHEME):
        text = prompts.prompt_of_skill(uri).skill_text()
    elif uri.startswith("ui://"):
        mime_type = mcp_apps.MIME_TYPE
        text = page_document(uri)
    else:
        text = _resource_text(uri)
    return {"contents": [{"uri": uri, "mimeType": mime_type, "text": text}]}


def _resource_text(uri: str) -> str:
    for resource in offered_resources():
        text = resource.text(uri)
        if text is not None:
            return text
    raise _not_found(uri)


def page_document(uri: str) -> str:
    """The document of a page. Raises ToolError."""
    for tool in registry.listed_tools(pages=True).values():
        if tool.page and tool.page.uri == uri:
            return mcp_apps.document(tool.page.file)
    raise _not_found(uri)


def _not_found(uri: str, method: str = "resources/list") -> ToolError:
    return ToolError(f"No such resource: {uri[:200]}", f"{method} names them.", "NOT_FOUND")


def offered_resources() -> list[Resource]:
    """The resources that the settings offer."""
    places.import_each("resources")
    return [resource for resource in RESOURCES.values() if resource.is_offered]


def complete(params: JsonObject) -> JsonObject:
    """The result of completion/complete: the values that contain the typed text, first those that begin with
    it. Raises ToolError."""
    argument = params["argument"]
    typed = _folded(argument["value"])
    values = _values(params["ref"], argument["name"])
    matches = [value for value in values if typed in _folded(value)]
    matches.sort(key=lambda value: not _folded(value).startswith(typed))
    return {
        "completion": {
            "values": matches[:MOST_VALUES],
            "total": len(matches),
            "hasMore": len(matches) > MOST_VALUES,
        }
    }


def _values(ref: JsonObject, name: str) -> list[str]:
    """All values of an argument of a prompt, or of the variable of a template. Raises ToolError."""
    if ref["type"] == "ref/prompt":
        properties = prompts.prompt_named(ref["name"]).parameters.schema["properties"]
        return list(properties.get(name, {}).get("enum", ()))
    for resource in offered_resources():
        if resource.uri == ref["uri"]:
            return sorted(resource.entries()) if name == resource.variable else []
    raise _not_found(ref["uri"], "resources/templates/list")


def _folded(text: str) -> str:
    return text.casefold().replace("-", "_").replace(" ", "_")
