"""Declaring a tool."""

import inspect
import re
from collections.abc import Callable
from functools import cache
from typing import Any

from tools.core import wrappers
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.pages import Page
from tools.core.parameters import Parameters
from tools.core.toolsets import toolset_of
from tools.core.wrappers import Function

NAME = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)?")
"""A tool's name, with its toolset in front or not: `greet`, `anki.add_notes`."""
MAX_NAME_LENGTH = 40
SOFT_BREAK = re.compile(r"(?<!\n)\n(?!\n)")
"""A single line break: one inside a paragraph."""

TOOLS: dict[str, "Tool"] = {}
READ_ONLY_VARIANTS: dict[str, "Tool"] = {}


class Tool:
    """Declare a plain function a tool. The function is the declaration: its signature, annotations and docstring
    give schema, validation and description; the decorator hands it back bare.

    `title`: what people see. `order`: its place among the tools of its toolset (then by name).
    `write`: it changes something; then writers of its toolset run one at a time, and read-only mode hides it.
    `destructive`: it may remove or overwrite. `idempotent`: a second call changes nothing more. `open_world`: it
    reaches beyond this machine. `requires`: a function that raises ToolError if the tool's backend is not there.
    `raw`: what it returns is the answer as it stands. `description_suffix`: text that the description gains while it
    is not empty. `lock`: False if the backend itself puts writers in order. `on_call`: answers a call in place of
    `call`, given the tool and the arguments as sent, for a toolset whose contract has errors of its own for them.
    `read_only_variant`: in read-only mode it takes the place of the writer of its name, and lets only reading through.
    `page`: what a client that shows pages shows beside its answer. `app_only`: only such a page may call it; no other
    client has it.
    """

    function: Function
    toolset: str
    parameters: Parameters
    handler: Function

    def __init__(
        self,
        name: str,
        *,
        title: str = "",
        order: int = 50,
        write: bool = False,
        destructive: bool = False,
        idempotent: bool = False,
        open_world: bool = False,
        requires: Callable[[], None] | None = None,
        raw: bool = False,
        description_suffix: Callable[[], str] | None = None,
        lock: bool = True,
        on_call: Callable[["Tool", JsonObject], Any] | None = None,
        read_only_variant: bool = False,
        page: Page | None = None,
        app_only: bool = False,
    ):
        self.name = name
        self.title = title or (name if "." in name else name.replace("_", " ").capitalize())
        self.order = order
        self.write = write
        self.destructive = destructive
        self.idempotent = idempotent or not write
        self.open_world = open_world
        self.requires = requires
        self.raw = raw
        self.description_suffix = description_suffix
        self.lock = lock
        self.on_call = on_call
        self.read_only_variant = read_only_variant
        self.page = page
        self.app_only = app_only

    def __call__(self, function: Function) -> Function:
        register(self, function)
        return function

    @property
    def listed_name(self) -> str:
        """The name without dots: several clients drop every tool of a server that lists a dotted one."""
        return self.name.replace(".", "_")

    @property
    def page_settings(self) -> JsonObject:
        """What `_meta.ui` of a listed tool says."""
        page = {"resourceUri": self.page.uri} if self.page else {}
        return page | ({"visibility": ["app"]} if self.app_only else {})

    @property
    def schema(self) -> JsonObject:
        """The JSON Schema of its arguments."""
        return self.parameters.schema

    @property
    def description(self) -> str:
        """What a model reads: the docstring down to its `Source:` line, and the suffix of the moment."""
        suffix = self.description_suffix() if self.description_suffix else ""
        return " ".join(filter(None, (description(self.function), suffix)))

    def call(self, arguments: JsonObject) -> Any:
        """The answer to a call with these arguments, as a client sent them."""
        if self.on_call:
            return self.on_call(self, arguments)
        try:
            values = self.parameters.read(arguments)
        except ToolError as error:
            return error.answer()
        return self.handler(**values)


def register(tool: Tool, function: Function) -> None:
    """Take in what `function` declares, wrap it, and put the tool on the list."""
    tool.function = function
    tool.toolset = toolset_of(function)
    tool.parameters = Parameters(tool.listed_name, inspect.signature(function, eval_str=True))
    tool.handler = _wrapped(tool)
    _check_declaration(tool)
    (READ_ONLY_VARIANTS if tool.read_only_variant else TOOLS)[tool.name] = tool


def _wrapped(tool: Tool) -> Function:
    handler = tool.function
    for wrapper in wrappers.STACK:
        handler = wrapper(handler, tool)
    handler.__name__ = tool.function.__name__
    handler.__doc__ = tool.function.__doc__
    handler.__module__ = tool.function.__module__
    handler.__signature__ = inspect.signature(tool.function, eval_str=True)  # type: ignore[attr-defined]
    handler.__annotations__ = tool.function.__annotations__
    return handler


def _check_declaration(tool: Tool) -> None:
    if not NAME.fullmatch(tool.name) or len(tool.name) > MAX_NAME_LENGTH or "__" in tool.listed_name:
        raise TypeError(f"{tool.name!r} is not a tool name: lower case, single underscores, at most {MAX_NAME_LENGTH}")
    others = READ_ONLY_VARIANTS if tool.read_only_variant else TOOLS
    if taken := next((other for other in others.values() if other.listed_name == tool.listed_name), None):
        raise TypeError(f"Two tools are named {tool.name!r}: {taken.function.__module__}, {tool.function.__module__}")
    if not (inspect.getdoc(tool.function) or "").strip():
        raise TypeError(f"{tool.name!r} has no docstring")


@cache
def description(function: Function) -> str:
    """A docstring down to its `Source:` line, each paragraph one line."""
    return SOFT_BREAK.sub(" ", (inspect.getdoc(function) or "").partition("\nSource:")[0].strip())
