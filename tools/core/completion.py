"""completion/complete: values for an argument of a prompt or the variable of a resource template."""

from typing import Any

from tools.core import prompts, resources
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.settings import Settings

MAX_VALUES = 100
"""The most values that MCP lets a completion have."""


def complete(settings: Settings, params: Any) -> JsonObject:
    """The values that contain what was typed, those that begin with it first.

    Raises ToolError.
    """
    typed = _folded(params.argument.value)
    fitting = [value for value in _values(settings, params.ref, params.argument.name) if typed in _folded(value)]
    fitting.sort(key=lambda value: not _folded(value).startswith(typed))
    shown = fitting[:MAX_VALUES]
    return {"completion": {"values": shown, "total": len(fitting), "hasMore": len(fitting) > MAX_VALUES}}


def _values(settings: Settings, ref: Any, name: str) -> list[str]:
    if ref.type == "ref/prompt":
        return prompts.find(settings, ref.name).choices(name)
    for resource in resources.offered(settings):
        if resource.uri == ref.uri:
            return sorted(resource.values()) if name == resource.variable else []
    raise ToolError(f"No such resource: {ref.uri[:200]}", "resources/templates/list names them.", code="NOT_FOUND")


def _folded(text: str) -> str:
    return text.casefold().replace("-", "_").replace(" ", "_")
