"""The wrapper stack around a tool: four wrappers, one concern each.

Each takes the function to wrap with the tool's declaration, and gives back a function of the same arguments.
"""

import logging
from collections.abc import Callable
from typing import Any, Protocol

from tools.core import locks
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject

logger = logging.getLogger(__name__)

Function = Callable[..., Any]


class Declaration(Protocol):
    """What a wrapper sees of a tool."""

    name: str
    toolset: str
    write: bool
    lock: bool
    raw: bool
    requires: Callable[[], None] | None


def responding(function: Function, tool: Declaration) -> Function:
    """What the tool returned becomes the documented shape; a tool that declares `raw` documents its own."""

    def respond(**arguments: object) -> object:
        result = function(**arguments)
        return result if tool.raw else answer(result)

    return respond


def answer(result: object) -> JsonObject:
    """The table of responses: None, a dict, a list or anything else as {"success": true, …}."""
    if result is None:
        return {"success": True}
    if isinstance(result, dict):
        return result if "success" in result else {"success": True, **result}
    return {"success": True, "result": list(result) if isinstance(result, tuple) else result}


def locking(function: Function, tool: Declaration) -> Function:
    """Writers of one toolset run one at a time, across threads and processes."""
    if not (tool.write and tool.lock):
        return function

    def lock(**arguments: object) -> object:
        with locks.exclusive(tool.toolset):
            return function(**arguments)

    return lock


def requiring(function: Function, tool: Declaration) -> Function:
    """The tool's backend is there, else its check says how to get it."""
    check = tool.requires
    if check is None:
        return function

    def require(**arguments: object) -> object:
        check()
        return function(**arguments)

    return require


def catching(function: Function, tool: Declaration) -> Function:
    """Every failure becomes an answer with a hint; what was not foreseen goes to the log, not to the client."""

    def catch(**arguments: object) -> object:
        try:
            return function(**arguments)
        except ToolError as error:
            return error.answer()
        except (Exception, SystemExit, KeyboardInterrupt):
            logger.exception("%s failed", tool.name)
            return ToolError(
                f"Internal error in {tool.name}",
                "This is a fault of the server, not of the call. Its log (stderr) has the details.",
                code="INTERNAL_ERROR",
            ).answer()

    return catch


STACK = (responding, locking, requiring, catching)
"""Innermost first."""
