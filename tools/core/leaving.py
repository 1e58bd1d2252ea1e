"""The end of this process, on every way out; the caller of a session that was handed over."""

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from socket import socket

# Signals that end a process.
ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Action = Callable[[], None]

AT_LEAVING: list[Action] = []
# True once the end has begun: a worker thread must not send anything any more.
is_leaving = False
# In a session of the resident service: the connection to its caller, readable once the caller is gone.
handover_connection: "socket | None" = None


def signal_pipe(*numbers: int) -> int:
    """A pipe that receives the numbers of these signals. A handler is not enough: Python runs it between two
    instructions of the main thread, which may just have begun to wait."""
    reader, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    for number in numbers:
        signal.signal(number, lambda *_: None)
    return reader


def at_leaving(function: Action) -> Action:
    """Register a function to be called when this process ends; the last one is called first."""
    AT_LEAVING.append(function)
    return function


def run_at_leaving() -> None:
    """Call every function; one that fails does not keep the others from running."""
    while AT_LEAVING:
        function = AT_LEAVING.pop()
        try:
            function()
        except Exception as error:
            sys.stderr.write(f"pi-mcp: {function.__qualname__} failed: {error!r}\n")


def leave(status: int = 0) -> NoReturn:
    """End this process now, with its child processes, then report its exit status to the caller of a
    session. What is being written survives that: sqlite, git and atomic renames are made for it, while a
    worker thread might never end by itself."""
    global is_leaving
    is_leaving = True
    try:
        run_at_leaving()
        if handover_connection is not None:
            handover_connection.setblocking(False)
            with suppress(OSError):
                handover_connection.send(b"%d\n" % status)
    finally:
        os._exit(status)
