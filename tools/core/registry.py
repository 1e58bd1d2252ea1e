"""The registry: every tool, command and start-up job of every toolset, by its declaration.

A module under `tools/<toolset>/` declares them and is found by itself: adding a tool touches one file.
"""

import importlib
from collections.abc import Callable, Collection, Iterable
from functools import cache

from tools.core import caller, toolsets
from tools.core.errors import ToolError
from tools.core.settings import Settings
from tools.core.suggest import did_you_mean
from tools.core.tool import READ_ONLY_VARIANTS, TOOLS, Tool
from tools.core.toolsets import toolset_of
from tools.core.wrappers import Function

COMMANDS: dict[tuple[str, str], Function] = {}
START_JOBS: list[Callable[[], None]] = []
LISTENERS: list[Callable[[], None]] = []
"""Called when a tool's description suffix changed, so that `tools/list` reads differently."""


def command(name: str) -> Callable[[Function], Function]:
    """Declare what `python3 -m tools TOOLSET name …` does: a function of the words that follow, each a text.

    It gives back an answer as a tool does, or `Printed`, or raises ToolError; its docstring's first sentence is its
    help.
    """

    def declare(function: Function) -> Function:
        COMMANDS[toolset_of(function), name] = function
        return function

    return declare


class Printed:
    """What a command prints for people as it stands, in place of JSON, with its exit status."""

    def __init__(self, text: str, status: int = 0):
        self.text = text
        self.status = status


def at_start(function: Callable[[], None]) -> Callable[[], None]:
    """Declare work for a thread of its own once the server has answered its first request."""
    START_JOBS.append(function)
    return function


def start_jobs(settings: Settings) -> list[Callable[[], None]]:
    """The start-up jobs of the toolsets that these settings offer."""
    offered = {tool.toolset for tool in listed(settings).values()}
    return [job for job in START_JOBS if toolset_of(job) in offered]


def tools_changed() -> None:
    """To be called after a tool's description suffix changed: tells whoever serves the tools."""
    for listener in LISTENERS:
        listener()


@cache
def load() -> None:
    """Import every module of every toolset, once; each registers what it declares."""
    for name in toolsets.toolsets():
        for path in sorted((toolsets.TOOLS / name).rglob("*.py")):
            if path.stem != "__init__":
                importlib.import_module(".".join(("tools", *path.relative_to(toolsets.TOOLS).with_suffix("").parts)))


def is_loaded() -> bool:
    """Whether every toolset has been imported: then a listing takes no time."""
    return bool(load.cache_info().currsize)


def listed(settings: Settings, pages: bool = False) -> dict[str, Tool]:
    """The tools that these settings offer, by the name they are listed under. What is not here cannot be called: so the
    tools for pages alone are here only if the client shows `pages`.

    Their order is declared: toolsets by name, in each the tools' own `order`, then their names.
    """
    load()
    ordered = sorted(TOOLS.values(), key=lambda tool: (tool.toolset, tool.order, tool.name))
    declared = [
        READ_ONLY_VARIANTS.get(tool.name, tool) if only_reads(settings, tool.toolset) else tool for tool in ordered
    ]
    return {
        tool.name if settings.tool_names == "dotted" else tool.listed_name: tool
        for tool in declared
        if offers(settings, tool.toolset)
        and not (tool.write and only_reads(settings, tool.toolset))
        and (pages or not tool.app_only)
    }


def named(name: str, tools: Iterable[Tool]) -> Tool | None:
    """The tool of that name, in either spelling."""
    return next((tool for tool in tools if name in (tool.name, tool.listed_name)), None)


def find(name: str, tools: Collection[Tool]) -> Tool:
    """The tool of that name, in either spelling.

    Raises ToolError that names the nearest one.
    """
    if tool := named(name, tools):
        return tool
    names = [tool.listed_name for tool in tools]
    hint = did_you_mean(name[:80].lower().replace(".", "_"), names) or f"There are: {', '.join(names)}."
    raise ToolError(f"Unknown tool: {name[:80]}", hint, code="UNKNOWN_TOOL")


def offers(settings: Settings, toolset: str) -> bool:
    """Whether these settings offer a toolset to the caller of the moment."""
    return (not settings.toolsets or toolset in settings.toolsets) and caller.may_use(toolset)


def only_reads(settings: Settings, toolset: str) -> bool:
    """Whether they offer only what changes nothing of it."""
    return settings.read_only or caller.may_only_read(toolset)
