"""The wrapper stack around a tool: four wrappers, one concern each.

Each takes the function to wrap with the tool's declaration, and gives back a function of the same arguments.
"""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tools import locks
from tools.errors import ToolError

if TYPE_CHECKING:
    from tools.registry import Tool

logger = logging.getLogger(__name__)

Function = Callable[..., Any]


def responding(function: Function, tool: "Tool") -> Function:
    """What the tool returned becomes the documented shape; a tool that declares `bare` documents its own."""

    def respond(**arguments: Any) -> Any:
        result = function(**arguments)
        return result if tool.bare else answer(result)

    return respond


def answer(result: Any) -> dict[str, Any]:
    """The table of responses: None, a dict, a list or anything else as {"success": true, …}."""
    if result is None:
        return {"success": True}
    if isinstance(result, dict):
        return result if "success" in result else {"success": True, **result}
    return {"success": True, "result": list(result) if isinstance(result, tuple) else result}


def locking(function: Function, tool: "Tool") -> Function:
    """Writers of one system run one at a time, across threads and processes."""
    if not (tool.write and tool.lock):
        return function

    def lock(**arguments: Any) -> Any:
        with locks.exclusive(tool.system):
            return function(**arguments)

    return lock


def requiring(function: Function, tool: "Tool") -> Function:
    """The tool's backend is there, else its check says how to get it."""
    check = tool.requires
    if check is None:
        return function

    def require(**arguments: Any) -> Any:
        check()
        return function(**arguments)

    return require


def catching(function: Function, tool: "Tool") -> Function:
    """Every failure becomes an answer with a hint; what was not foreseen goes to the log, not to the client."""

    def catch(**arguments: Any) -> Any:
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
