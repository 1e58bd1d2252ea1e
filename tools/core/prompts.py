"""Prompts, by their declarations.

What the functions here answer has the shape of MCP's results.
"""

import inspect
from collections.abc import Callable
from typing import Any, Literal

from tools.core import registry
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.parameters import Parameters
from tools.core.schema import Schema
from tools.core.settings import Settings
from tools.core.tool import description
from tools.core.toolsets import toolset_of

Language = Literal["ru", "en"]

PROMPTS: dict[str, "Prompt"] = {}


class Prompt:
    """Declare a plain function a prompt: it gives the text that the person sends, from its arguments.

    `title` is what people see; the docstring down to its `Source:` line is the description. `write`: it leads to
    changes, so read-only mode hides it.
    """

    function: Callable[..., str]
    toolset: str
    parameters: Parameters

    def __init__(self, name: str, title: str, *, write: bool = False):
        self.name = name
        self.title = title
        self.write = write

    def __call__(self, function: Callable[..., str]) -> Callable[..., str]:
        self.function = function
        self.toolset = toolset_of(function)
        self.parameters = Parameters(self.name, inspect.signature(function, eval_str=True))
        PROMPTS[self.name] = self
        return function

    def text(self, arguments: JsonObject) -> str:
        """The prompt for these arguments.

        Raises ToolError.
        """
        return self.function(**self.parameters.read(arguments))

    def choices(self, argument: str) -> list[str]:
        """The values that an argument can have, if they are few."""
        return list(self.parameters.schema["properties"].get(argument, {}).get("enum", ()))

    def listed(self) -> JsonObject:
        """As prompts/list shows it."""
        arguments = [
            {"name": name, "description": _described(schema), "required": name in self.parameters.required}
            for name, schema in self.parameters.schema["properties"].items()
        ]
        return {
            "name": self.name,
            "title": self.title,
            "description": description(self.function),
            "arguments": arguments,
        }


def _described(schema: Schema) -> str:
    words = [schema.get("description", ""), " or ".join(schema.get("enum", ()))]
    return "; ".join(filter(None, words)) + (f" ({schema['default']})" if "default" in schema else "")


def list_prompts(settings: Settings, params: Any) -> JsonObject:
    """prompts/list."""
    return {"prompts": [prompt.listed() for prompt in offered(settings).values()]}


def get_prompt(settings: Settings, params: Any) -> JsonObject:
    """prompts/get.

    Raises ToolError.
    """
    prompt = find(settings, params.name)
    message = {"role": "user", "content": {"type": "text", "text": prompt.text(params.arguments or {})}}
    return {"description": description(prompt.function), "messages": [message]}


def offered(settings: Settings) -> dict[str, Prompt]:
    """The prompts that these settings offer, by name."""
    registry.load()
    return {
        name: prompt
        for name, prompt in PROMPTS.items()
        if registry.offers(settings, prompt.toolset)
        and not (prompt.write and registry.only_reads(settings, prompt.toolset))
    }


def find(settings: Settings, name: str) -> Prompt:
    """The prompt of that name.

    Raises ToolError NOT_FOUND.
    """
    prompts = offered(settings)
    if name not in prompts:
        raise ToolError(f"No such prompt: {name[:80]}", f"There are: {', '.join(prompts)}.", code="NOT_FOUND")
    return prompts[name]
