"""Resources, by their declarations, and completion. The answers of the functions have the shape of MCP's
results."""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import KW_ONLY, dataclass
from operator import itemgetter
from urllib.parse import quote, unquote_to_bytes

from tools.core import places, prompts, registry, toolsets
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.tool import Declaration, description

# Values in a completion; MCP allows no more.
MOST_VALUES = 100

RESOURCES: dict[str, "Resource"] = {}


@dataclass(eq=False)
class Resource(Declaration):
    """Declare a plain function as a resource: it returns the resource's text.

    A `uri` with a variable, `x://{path}`, makes it a template: the function takes the variable, `entries`
    gives every value of it, `about` the title and size that the list shows for a value. A resource that is
    not `listed` can be read all the same.
    """

    uri: str
    title: str
    _: KW_ONLY
    mime_type: str = "text/markdown"
    entries: Callable[[], Iterable[str]] = tuple
    about: Callable[[str], JsonObject] = lambda value: {}
    listed: bool = True

    def __post_init__(self) -> None:
        self.base, _, rest = self.uri.partition("{")
        self.variable = rest.removesuffix("}")

    def register(self) -> None:
        RESOURCES[self.uri] = self

    def serves(self, uri: str) -> bool:
        """True if `uri` names this resource."""
        return uri == self.uri or bool(
            self.variable and uri.startswith(self.base) and uri != self.base
        )

    def text(self, uri: str) -> str:
        """The text at `uri`. Raises ToolError if there is none."""
        if not self.variable:
            return self.function()
        return self.function(os.fsdecode(unquote_to_bytes(uri.removeprefix(self.base))))

    def list_entries(self) -> Iterator[JsonObject]:
        """Its entries in resources/list."""
        if self.listed and not self.variable:
            yield {"uri": self.uri, "name": self.title, **self.described()}
        for value in self.entries():
            uri = self.base + quote(os.fsencode(value))
            yield {"uri": uri, "name": value, "mimeType": self.mime_type, **self.about(value)}

    def described(self) -> JsonObject:
        return {
            "title": self.title,
            "description": description(self.function),
            "mimeType": self.mime_type,
        }


def list_resources(params: JsonObject) -> JsonObject:
    """resources/list: all of them on one page, since some clients never ask for the next."""
    entries: list[JsonObject] = []
    for resource in offered():
        entries += resource.list_entries()
    return {"resources": sorted(entries, key=itemgetter("uri"))}


def list_templates(params: JsonObject) -> JsonObject:
    """resources/templates/list."""
    templates = [
        {"uriTemplate": resource.uri, "name": resource.title, **resource.described()}
        for resource in offered()
        if resource.variable
    ]
    return {"resourceTemplates": templates}


def read_resource(params: JsonObject) -> JsonObject:
    """resources/read: a resource, or the file of a skill. Raises ToolError."""
    uri = params["uri"]
    if uri.startswith(prompts.SKILL_SCHEME):
        text = prompts.prompt_of_skill(uri).skill_text()
        content = {"uri": uri, "mimeType": "text/markdown", "text": text}
    else:
        resource = resource_at(uri)
        content = {"uri": uri, "mimeType": resource.mime_type, "text": resource.text(uri)}
    return {"contents": [content]}


def resource_at(uri: str) -> Resource:
    """The resource that serves `uri`. Raises ToolError NOT_FOUND."""
    # A page is declared beside its tool and not listed: it is found once all toolsets are loaded.
    for load in (lambda: None, registry.load):
        load()
        for resource in offered():
            if resource.serves(uri):
                return resource
    raise ToolError(f"No such resource: {uri[:200]}", "resources/list names them.", "NOT_FOUND")


def offered() -> list[Resource]:
    """The resources that the settings offer, of those that were declared so far."""
    places.import_each("resources")
    return [resource for resource in RESOURCES.values() if toolsets.offers(resource.toolset)]


def complete(params: JsonObject) -> JsonObject:
    """The values that contain what was typed, those that begin with it first. Raises ToolError."""
    argument = params["argument"]
    typed = _folded(argument["value"])
    values = _values(params["ref"], argument["name"])
    fitting = [value for value in values if typed in _folded(value)]
    fitting.sort(key=lambda value: not _folded(value).startswith(typed))
    completion = {
        "values": fitting[:MOST_VALUES],
        "total": len(fitting),
        "hasMore": len(fitting) > MOST_VALUES,
    }
    return {"completion": completion}


def _values(ref: JsonObject, name: str) -> list[str]:
    if ref["type"] == "ref/prompt":
        properties = prompts.prompt_named(ref["name"]).parameters.schema["properties"]
        return list(properties.get(name, {}).get("enum", ()))
    for resource in offered():
        if resource.uri == ref["uri"]:
            return sorted(resource.entries()) if name == resource.variable else []
    raise ToolError(
        f"No such resource: {ref['uri'][:200]}",
        "resources/templates/list names them.",
        "NOT_FOUND",
    )


def _folded(text: str) -> str:
    return text.casefold().replace("-", "_").replace(" ", "_")
