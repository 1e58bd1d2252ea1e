"""The registry of the tools, commands and start-up jobs that modules under `tools/<toolset>/` declare."""

import importlib
from collections.abc import Callable, Collection, Iterator
from functools import cache, wraps
from typing import NamedTuple

from .errors import ToolError, did_you_mean
from .places import toolsets
from .settings import PROJECT, TOOLS_FOLDER, current
from .tool import TOOLS, Function, Tool, toolset_of
from .toolsets import offered_packages

COMMANDS: dict[tuple[str, str], Function] = {}


def command(name: str) -> Callable[[Function], Function]:
    """Declare a command of the shell, `python3 -m tools TOOLSET name …`: a function of the arguments that
    follow, with its docstring's first paragraph as its help. It returns an answer as a tool does, or
    `TextOutput`, or raises ToolError.
    """

    def declare(function: Function) -> Function:
        COMMANDS[toolset_of(function), name] = function
        return function

    return declare


class TextOutput(NamedTuple):
    """Text for people that a command prints as it stands, in place of JSON, with its exit status."""

    text: str
    status: int = 0


def for_people(function: Function) -> Function:
    """Make a command's errors sentences in place of JSON."""

    @wraps(function)
    def run(*arguments: str) -> TextOutput:
        try:
            return function(*arguments)
        except ToolError as error:
            return TextOutput(f"{error.message}. {error.hint}", 1)

    return run


def start_jobs() -> Iterator[Callable[[], None]]:
    """The jobs to run in a thread once the server has answered its first request: `at_start` of each module
    that an offered toolset names in `START_MODULES`. Imports only those modules."""
    for _, package in offered_packages():
        for module in getattr(package, "START_MODULES", ()):
            yield importlib.import_module(module).at_start


@cache
def load() -> None:
    """Import every module of every toolset, once, so that each registers what it declares."""
    for name in toolsets():
        load_toolset(name)


def load_toolset(name: str) -> None:
    """Import every module of one toolset."""
    for path in sorted(TOOLS_FOLDER.glob(f"{name}/**/[!_]*.py")):
        module = path.relative_to(PROJECT).with_suffix("")
        importlib.import_module(".".join(module.parts))


def listed_tools(pages: bool = False, toolset: str = "") -> dict[str, Tool]:
    """The tools that the settings offer, by the names that clients list them under; no other can be called.
    Tools that only pages call are included only if the client shows `pages`. They are sorted by toolset, then
    by their `order`. Imports every toolset, or only `toolset`; then tools of others may be missing.
    """
    if toolset:
        load_toolset(toolset)
    else:
        load()
    # A copy, since another thread may be importing a toolset, which adds to TOOLS.
    candidates = sorted(
        TOOLS.copy().values(), key=lambda tool: (tool.toolset, tool.order, tool.name, tool.write)
    )
    is_dotted = current().tool_names == "dotted"
    tools = {}
    for tool in candidates:
        # A writer comes after the read-only variant of its name and, if offered, takes its place.
        if tool.is_offered and (pages or not tool.app_only):
            tools[tool.name if is_dotted else tool.listed_name] = tool
    return tools


def tool_named(name: str, tools: Collection[Tool]) -> Tool:
    """The tool of this name, in either spelling. Raises ToolError that names the nearest one."""
    for tool in tools:
        if name in tool.names:
            return tool
    names = [tool.listed_name for tool in tools]
    hint = (
        did_you_mean(name[:80].lower().replace(".", "_"), names)
        or f"There are: {', '.join(names)}."
    )
    raise ToolError(f"Unknown tool: {name[:80]}", hint, "UNKNOWN_TOOL")
