"""The registry: every tool, check and start-up job of every system, by its declaration.

A module under `tools/<system>/` declares them with the decorators below and is found by itself: adding a tool
touches one file.
"""

import difflib
import importlib
import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tools import arguments, schema, wrappers
from tools.errors import ToolError
from tools.settings import Settings

Function = Callable[..., Any]

NAME = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)?")
LONGEST_NAME = 40
SOFT_BREAK = re.compile(r"(?<!\n)\n(?!\n)")

TOOLS: dict[str, "Tool"] = {}
COMMANDS: dict[tuple[str, str], Function] = {}
CHECKS: dict[str, Callable[[], "Health"]] = {}
STARTERS: list[Callable[[], None]] = []
STAND_INS: dict[str, "Tool"] = {}
LISTENERS: list[Callable[[], None]] = []
"""Called when a tool's `note` changed, so that `tools/list` reads differently."""


class Tool:
    """Declare a plain function a tool. The function is the declaration: its signature, annotations and docstring
    give schema, validation and description; the decorator hands it back bare.

    `write`: it changes something; then writers of its system run one at a time, and read-only mode hides it.
    `destructive`: it may remove or overwrite. `idempotent`: a second call changes nothing more. `open_world`: it
    reaches beyond this machine. `requires`: a function that raises ToolError where the tool's backend is not there.
    `bare`: what it returns is the answer as it stands. `note`: text that the description gains while it is not empty.
    `lock`: False where the backend itself puts writers in order. `entry`: answers a call in place of `call`, given the
    tool and the arguments as sent, for a system whose contract has errors of its own for them. `stands_in`: in
    read-only mode it takes the place of the writer of its name, and lets only reading through.
    """

    def __init__(
        self,
        name: str,
        *,
        write: bool = False,
        destructive: bool = False,
        idempotent: bool = False,
        open_world: bool = False,
        requires: Callable[[], None] | None = None,
        bare: bool = False,
        note: Callable[[], str] | None = None,
        lock: bool = True,
        entry: Callable[["Tool", dict[str, Any]], Any] | None = None,
        stands_in: bool = False,
    ):
        self.name = name
        self.write = write
        self.destructive = destructive
        self.idempotent = idempotent or not write
        self.open_world = open_world
        self.requires = requires
        self.bare = bare
        self.note = note
        self.lock = lock
        self.entry = entry
        self.stands_in = stands_in

    def __call__(self, function: Function) -> Function:
        self.function = function
        self.system = system(function)
        self.signature = inspect.signature(function, eval_str=True)
        self.schema = schema.of_signature(self.signature)
        self.handler = self._wrapped()
        _check_declaration(self)
        (STAND_INS if self.stands_in else TOOLS)[self.name] = self
        return function

    def _wrapped(self) -> Function:
        handler = self.function
        for wrapper in wrappers.STACK:
            handler = wrapper(handler, self)
        handler.__name__ = self.function.__name__
        handler.__doc__ = self.function.__doc__
        handler.__module__ = self.function.__module__
        handler.__signature__ = self.signature
        handler.__annotations__ = self.function.__annotations__
        return handler

    @property
    def place(self) -> tuple[str, int]:
        """Where it is declared: module and line."""
        return self.function.__module__, self.function.__code__.co_firstlineno

    @property
    def wire_name(self) -> str:
        """The name without dots: several clients drop every tool of a server that lists a dotted one."""
        return self.name.replace(".", "_")

    @property
    def description(self) -> str:
        """What a model reads: the docstring down to its `Source:` line, and the note of the moment."""
        text = description(self.function)
        note = self.note() if self.note else ""
        return f"{text} {note}" if note else text

    def call(self, given: dict[str, Any], validate: Callable[["Tool", dict[str, Any]], dict[str, Any]]) -> Any:
        """The answer to a call with the arguments `given`, as a client sent them.

        `validate` turns canonical arguments (known names, no nulls) into values of the declared types, or raises
        ToolError.
        """
        if self.entry:
            return self.entry(self, given)
        try:
            values = validate(self, arguments.canonical(self, given))
        except ToolError as error:
            return error.answer()
        return self.handler(**values)


@dataclass(frozen=True)
class Health:
    """How a system is: `state` is ok, unset (not set up yet) or broken; `advice` says how to set up or mend."""

    state: str
    summary: str
    advice: str = ""


def check(function: Callable[[], Health]) -> Callable[[], Health]:
    """Declare how `server.py --check` looks at this system."""
    CHECKS[system(function)] = function
    return function


def command(name: str) -> Callable[[Function], Function]:
    """Declare what `python3 -m tools SYSTEM name …` does: a function of the words that follow, each a text.

    It gives back an answer as a tool does, or raises ToolError; its docstring's first sentence is its help.
    """

    def declare(function: Function) -> Function:
        COMMANDS[system(function), name] = function
        return function

    return declare


def at_start(function: Callable[[], None]) -> Callable[[], None]:
    """Declare work for a thread of its own once the server has answered its first request."""
    STARTERS.append(function)
    return function


def starters(settings: Settings) -> list[Callable[[], None]]:
    """The start-up jobs of the systems that these settings offer."""
    systems = {tool.system for tool in listed(settings).values()}
    return [job for job in STARTERS if system(job) in systems]


def tools_changed() -> None:
    """To be called after a tool's `note` changed: tells whoever serves the tools."""
    for listener in LISTENERS:
        listener()


@cache
def load() -> None:
    """Import every module of every system, once; each registers what it declares."""
    root = Path(__file__).parent
    for path in sorted(root.glob("*/*.py")):
        if not path.stem.startswith("__"):
            importlib.import_module(f"tools.{path.parent.name}.{path.stem}")


def listed(settings: Settings) -> dict[str, Tool]:
    """The tools that these settings offer, by the name they are listed under. What is not here cannot be called.

    Their order is that of the sources, whatever imported them first.
    """
    load()
    ordered = sorted(TOOLS.values(), key=lambda tool: tool.place)
    declared = [STAND_INS.get(tool.name, tool) if settings.read_only else tool for tool in ordered]
    return {
        tool.name if settings.tool_names == "dotted" else tool.wire_name: tool
        for tool in declared
        if offers(settings, tool.system) and not (settings.read_only and tool.write)
    }


def find(name: str, tools: Iterable[Tool]) -> Tool:
    """The tool of that name, in either spelling.

    Raises ToolError that names the nearest one.
    """
    tools = list(tools)
    for tool in tools:
        if name in (tool.name, tool.wire_name):
            return tool
    names = [tool.wire_name for tool in tools]
    near = difflib.get_close_matches(name.lower().replace(".", "_"), names, n=1)
    hint = f"Did you mean {near[0]}?" if near else f"There are: {', '.join(names)}."
    raise ToolError(f"Unknown tool: {name[:80]}", hint, code="UNKNOWN_TOOL")


def offers(settings: Settings, system: str) -> bool:
    """Whether these settings offer a system."""
    return not settings.toolsets or system in settings.toolsets


def system(function: Function) -> str:
    """The system whose module declares `function`."""
    return function.__module__.split(".")[1]


def description(function: Function) -> str:
    """A docstring down to its `Source:` line, each paragraph one line."""
    return SOFT_BREAK.sub(" ", inspect.getdoc(function).partition("\nSource:")[0].strip())


def _check_declaration(tool: Tool) -> None:
    if not NAME.fullmatch(tool.name) or len(tool.name) > LONGEST_NAME or "__" in tool.wire_name:
        raise TypeError(f"{tool.name!r} is no tool name: lower case, single underscores, at most {LONGEST_NAME}")
    rivals = STAND_INS if tool.stands_in else TOOLS
    if taken := next((other for other in rivals.values() if other.wire_name == tool.wire_name), None):
        raise TypeError(f"Two tools are named {tool.name!r}: {taken.function.__module__}, {tool.function.__module__}")
    if not (inspect.getdoc(tool.function) or "").strip():
        raise TypeError(f"{tool.name!r} has no docstring")
