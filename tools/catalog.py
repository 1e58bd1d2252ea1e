"""Prompts and resources, by their declarations.

A module under `tools/<system>/` declares them with the decorators below, as it does tools; they are on offer where its
system is. What the functions here answer has the shape of MCP's results.
"""

import inspect
from collections.abc import Callable, Iterable
from typing import Any, Literal
from urllib.parse import quote, unquote

from tools import arguments, registry, schema, validation
from tools.errors import ToolError
from tools.settings import Settings

Language = Literal["ru", "en"]
PAGE = 100
"""Resources in one answer of resources/list, and the most values a completion may have."""
AFTER = "after:"
MIME = "text/markdown"

PROMPTS: dict[str, "Prompt"] = {}
RESOURCES: dict[str, "Resource"] = {}


class Prompt:
    """Declare a plain function a prompt: it gives the text that the person sends, from its arguments.

    `title` is what people see; the docstring down to its `Source:` line is the description. `write`: it leads to
    changes, so read-only mode hides it.
    """

    def __init__(self, name: str, title: str, *, write: bool = False):
        self.name = self.wire_name = name
        self.title = title
        self.write = write

    def __call__(self, function: Callable[..., str]) -> Callable[..., str]:
        self.function = function
        self.system = registry.system(function)
        self.signature = inspect.signature(function, eval_str=True)
        self.schema = schema.of_signature(self.signature)
        PROMPTS[self.name] = self
        return function

    def text(self, given: dict[str, Any]) -> str:
        """The prompt for these arguments.

        Raises ToolError.
        """
        return self.function(**validation.validate(self, arguments.canonical(self, given)))

    def listed(self) -> dict[str, Any]:
        required = self.schema.get("required", [])
        takes = [
            {"name": name, "description": _told(one), "required": name in required}
            for name, one in self.schema["properties"].items()
        ]
        return {
            "name": self.name,
            "title": self.title,
            "description": registry.description(self.function),
            "arguments": takes,
        }


def _told(one: dict[str, Any]) -> str:
    words = [one.get("description", ""), " or ".join(one.get("enum", ()))]
    return "; ".join(filter(None, words)) + (f" ({one['default']})" if "default" in one else "")


class Resource:
    """Declare a plain function a resource: it gives its text.

    A `uri` with a variable, `x://{path}`, makes it a template: the function takes the variable, `entries` gives every
    value there is, `about` what is listed of one (title, size).
    """

    def __init__(
        self,
        uri: str,
        title: str,
        *,
        entries: Callable[[], Iterable[str]] | None = None,
        about: Callable[[str], dict[str, Any]] | None = None,
    ):
        self.uri = uri
        self.title = title
        self.entries = entries
        self.about = about
        self.base, _, rest = uri.partition("{")
        self.variable = rest.removesuffix("}")

    def __call__(self, function: Callable[..., str]) -> Callable[..., str]:
        self.function = function
        self.system = registry.system(function)
        RESOURCES[self.uri] = self
        return function

    def reads(self, uri: str) -> bool:
        return uri == self.uri or bool(self.variable and uri.startswith(self.base) and uri != self.base)

    def text(self, uri: str) -> str:
        """Raises ToolError where there is nothing at `uri`."""
        return self.function(unquote(uri.removeprefix(self.base))) if self.variable else self.function()

    def uris(self) -> list[str]:
        return [self.base + quote(one) for one in self.entries()] if self.variable else [self.uri]

    def listed(self, uri: str) -> dict[str, Any]:
        if not self.variable:
            return {"uri": uri, "name": self.title, **self.told()}
        value = unquote(uri.removeprefix(self.base))
        return {"uri": uri, "name": value, "mimeType": MIME, **self.about(value)}

    def told(self) -> dict[str, Any]:
        return {"title": self.title, "description": registry.description(self.function), "mimeType": MIME}


def list_prompts(settings: Settings, params: Any) -> dict[str, Any]:
    """prompts/list."""
    return {"prompts": [one.listed() for one in _offered(PROMPTS, settings)]}


def get_prompt(settings: Settings, params: Any) -> dict[str, Any]:
    """prompts/get.

    Raises ToolError.
    """
    prompt = _prompt(settings, params.name)
    message = {"role": "user", "content": {"type": "text", "text": prompt.text(params.arguments or {})}}
    return {"description": registry.description(prompt.function), "messages": [message]}


def list_resources(settings: Settings, params: Any) -> dict[str, Any]:
    """resources/list: PAGE at a time, by URI; a cursor holds the last one, so a sync in between confuses nothing.

    Raises ToolError INVALID_CURSOR.
    """
    cursor = getattr(params, "cursor", None)
    if cursor is not None and not cursor.startswith(AFTER):
        raise ToolError("No such cursor", "Send nextCursor of the page before, or none.", code="INVALID_CURSOR")
    found = sorted((uri, one) for one in _offered(RESOURCES, settings) for uri in one.uris())
    left = [one for one in found if cursor is None or one[0] > cursor.removeprefix(AFTER)]
    answer = {"resources": [one.listed(uri) for uri, one in left[:PAGE]]}
    return answer | ({"nextCursor": AFTER + left[PAGE - 1][0]} if len(left) > PAGE else {})


def list_templates(settings: Settings, params: Any) -> dict[str, Any]:
    """resources/templates/list."""
    templates = [one for one in _offered(RESOURCES, settings) if one.variable]
    return {"resourceTemplates": [{"uriTemplate": one.uri, "name": one.title, **one.told()} for one in templates]}


def read_resource(settings: Settings, params: Any) -> dict[str, Any]:
    """resources/read.

    Raises ToolError.
    """
    for one in _offered(RESOURCES, settings):
        if one.reads(params.uri):
            return {"contents": [{"uri": params.uri, "mimeType": MIME, "text": one.text(params.uri)}]}
    raise ToolError(f"No such resource: {params.uri[:200]}", "resources/list names them.", code="NOT_FOUND")


def complete(settings: Settings, params: Any) -> dict[str, Any]:
    """completion/complete: values that contain what was typed, those that begin with it first.

    Raises ToolError.
    """
    typed = _folded(params.argument.value)
    fitting = [one for one in _values(settings, params.ref, params.argument.name) if typed in _folded(one)]
    fitting.sort(key=lambda one: not _folded(one).startswith(typed))
    found = {"values": fitting[:PAGE], "total": len(fitting), "hasMore": len(fitting) > PAGE}
    return {"completion": found}


def _values(settings: Settings, ref: Any, name: str) -> list[str]:
    if ref.type == "ref/prompt":
        return list(_prompt(settings, ref.name).schema["properties"].get(name, {}).get("enum", ()))
    for one in _offered(RESOURCES, settings):
        if one.uri == ref.uri:
            return sorted(one.entries()) if name == one.variable else []
    raise ToolError(f"No such resource: {ref.uri[:200]}", "resources/templates/list names them.", code="NOT_FOUND")


def _folded(text: str) -> str:
    return text.casefold().replace("-", "_").replace(" ", "_")


def _prompt(settings: Settings, name: str) -> Prompt:
    offered = {one.name: one for one in _offered(PROMPTS, settings)}
    if name not in offered:
        raise ToolError(f"No such prompt: {name[:80]}", f"There are: {', '.join(offered)}.", code="NOT_FOUND")
    return offered[name]


def _offered(declared: dict[str, Any], settings: Settings) -> list[Any]:
    registry.load()
    return [
        one
        for one in declared.values()
        if registry.offers(settings, one.system) and not (settings.read_only and getattr(one, "write", False))
    ]
