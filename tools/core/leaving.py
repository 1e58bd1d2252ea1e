"""The end of this process, on every way out; the caller of a session that was handed over."""

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from socket import socket

AT_LEAVING: list[Callable[[int], None]] = []
# True once the end has begun: a worker thread must not send anything any more.
is_leaving = False
# In a session of the resident service: the connection to its caller, readable once the caller is gone.
handover_connection: "socket | None" = None


def at_leaving(function: Callable[[int], None]) -> Callable[[int], None]:
    """Have `function` called with the exit status when this process ends; the last registered first."""
    AT_LEAVING.append(function)
    return function


def run_at_leaving(status: int) -> None:
    """Call every function; one that fails does not keep the others from running."""
    while AT_LEAVING:
        function = AT_LEAVING.pop()
        try:
            function(status)
        except Exception as error:
            sys.stderr.write(f"pi-mcp: {function.__qualname__} failed: {error!r}\n")


def leave(status: int = 0) -> NoReturn:
    """End this process now, with its child processes. What is being written survives that: sqlite, git and
    atomic renames are made for it, while a worker thread might never end by itself."""
    global is_leaving
    is_leaving = True
    try:
        run_at_leaving(status)
    finally:
        os._exit(status)
