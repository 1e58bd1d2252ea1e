"""What has to happen when this process ends, also in the middle of work.

A module that leaves something behind registers a function here; `server.py` runs them on every way out. So a module
that was not imported costs nothing, and one that moves is not forgotten.
"""

import logging
import socket
from collections.abc import Callable

Function = Callable[[int], None]

FUNCTIONS: list[Function] = []
caller: socket.socket | None = None
"""In a session that was handed over: its caller. Readable once the caller is gone."""

logger = logging.getLogger(__name__)


def at_leaving(function: Function) -> Function:
    """Have `function` called with the exit status when the process ends; the last registered first."""
    FUNCTIONS.append(function)
    return function


def run(status: int) -> None:
    """Call every function; one that fails does not keep the others from running."""
    while FUNCTIONS:
        function = FUNCTIONS.pop()
        try:
            function(status)
        except Exception:
            logger.exception("%s failed", function.__qualname__)
