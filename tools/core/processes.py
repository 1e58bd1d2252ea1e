"""Processes that end in time: children at a timeout, when the call is withdrawn, when the server goes; this one, at last."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tools.core import calls
from tools.core.errors import Cancelled

if TYPE_CHECKING:
    from subprocess import Popen

POLL_S = 0.1
# Time that a child has to clean up after SIGTERM before SIGKILL.
GRACE_S = 1.0
ERRORS_KEPT_BYTES = 64 * 1024

_live: set[Popen[bytes]] = set()
# Held while a child is being started: until it is among the live ones, the end of the server waits for it.
_starting = threading.RLock()
_ending = False


class Ended(NamedTuple):
    """The end of a child: `status` is its exit status, or minus the signal; `errors` the last of its stderr."""

    status: int
    output: bytes
    errors: bytes


def run(
    words: Sequence[str], *, environ: Mapping[str, str], folder: Path, timeout_s: float, stdin: bytes = b""
) -> Ended:
    """Run a command to its end in a process group of its own, without a terminal. A call that is withdrawn ends it.

    Raises OSError if it cannot be started, TimeoutError, Cancelled; the whole group is gone by then.
    """
    from subprocess import DEVNULL, PIPE, Popen

    with _starting:
        if _ending:
            raise Cancelled("The server is ending")
        child = Popen(
            words, stdin=PIPE if stdin else DEVNULL, stdout=PIPE, stderr=PIPE, cwd=folder, env=environ,
            start_new_session=True,
        )  # fmt: skip
        _live.add(child)
    try:
        return _follow(child, stdin, time.monotonic() + timeout_s)
    except BaseException:
        _end([child], GRACE_S)
        raise
    finally:
        _live.discard(child)


# A thread feeds and reads the child (communicate()); this loop looks at the clock, the client and the server every POLL_S.
# Whatever ends it early ends the whole process group: git leaves the transport to helpers.
def _follow(child: Popen[bytes], stdin: bytes, deadline: float) -> Ended:
    """Look at clock, client and server while a thread talks to the child."""
    said: list[tuple[bytes, bytes]] = []
    talk = threading.Thread(target=lambda: said.append(child.communicate(stdin or None)), daemon=True)
    talk.start()
    while talk.is_alive():
        if time.monotonic() >= deadline:
            raise TimeoutError
        calls.checkpoint()
        talk.join(POLL_S)
    if _ending:
        raise Cancelled("The server is ending")
    output, errors = said[0]
    return Ended(child.returncode, output, errors[-ERRORS_KEPT_BYTES:])


def end_all(grace_s: float = 0.5) -> None:
    """End every child and start none any more. For the server on its way out."""
    global _ending
    _ending = True
    started = _starting.acquire(timeout=1)
    _end(list(_live), grace_s)
    if started:
        _starting.release()


AT_LEAVING: list[Callable[[int], None]] = [lambda status: end_all()]
# In a session that was handed over: its caller. Readable once the caller is gone.
caller: socket.socket | None = None


def at_leaving(function: Callable[[int], None]) -> Callable[[int], None]:
    """Have `function` called with the exit status when this process ends; the last registered first."""
    AT_LEAVING.append(function)
    return function


def run_at_leaving(status: int) -> None:
    """Call every function; one that fails does not keep the others from running. To be called on every way out."""
    while AT_LEAVING:
        function = AT_LEAVING.pop()
        try:
            function(status)
        except Exception:
            logging.exception("%s failed", function.__qualname__)


def _end(children: list[Popen[bytes]], grace_s: float) -> None:
    """Ask the children's process groups to end, then kill them: git leaves the transport to helpers, which may outlive
    it."""
    from subprocess import TimeoutExpired

    deadline = time.monotonic() + grace_s
    for number in (signal.SIGTERM, signal.SIGKILL):
        for child in children:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, number)
        for child in children:
            with suppress(TimeoutExpired):
                child.wait(max(0, deadline - time.monotonic()))
        deadline = time.monotonic() + 1
