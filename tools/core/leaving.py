"""The end of this process, however it comes about, and the functions that run then."""

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

Callback = Callable[[], None]

CALLBACKS: list[Callback] = []
# True once the end has begun: from then on worker threads send nothing.
is_leaving = False
# In a session of the resident service: the connection to its caller, readable once the caller is gone.
handover_connection: "socket | None" = None


def signal_pipe(*numbers: int) -> int:
    """A pipe that becomes readable when one of these signals comes. A handler is not enough: Python runs it
    between two instructions of the main thread, which may have just begun to wait."""
    reader, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    for number in numbers:
        signal.signal(number, lambda *_: None)
    return reader


def at_leaving(callback: Callback) -> Callback:
    """Register a function to be called when this process ends; the one registered last is called first."""
    CALLBACKS.append(callback)
    return callback


def run_at_leaving() -> None:
    """Call every registered function, also after one that fails."""
    while CALLBACKS:
        callback = CALLBACKS.pop()
        try:
            callback()
        except Exception as error:
            sys.stderr.write(f"pi-mcp: {callback.__qualname__} failed: {error!r}\n")


def leave(status: int = 0) -> NoReturn:
    """End this process and its child processes now, and report the exit status to the caller that handed this
    session over. Threads are not waited for, since one might never end; sqlite, git and atomic renames are
    made for being cut off."""
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
