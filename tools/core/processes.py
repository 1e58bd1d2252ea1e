"""Child processes that end in time: at a timeout, when the call is withdrawn, or when the server ends."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from . import calls, leaving
from .errors import Cancelled

if TYPE_CHECKING:
    from subprocess import CompletedProcess, Popen

POLL_S = 0.1
# Time between SIGTERM and SIGKILL for a child to clean up; less when the server ends.
GRACE_S = 1.0
LAST_GRACE_S = 0.5
ERRORS_KEPT_BYTES = 64 * 1024

_children: set[Popen[bytes]] = set()
# Held while a child is being started: the end of the server waits until the child is listed.
_starting = threading.RLock()
_is_ending = False


# The child's output is read as it comes; every POLL_S this looks at the clock, the client and the server.
# Ending a child ends its whole process group: git leaves the transport to helpers, which may outlive it.
def run(
    command: Sequence[str], environ: Mapping[str, str], timeout_s: float
) -> CompletedProcess[bytes]:
    """Run a command to its end, in a process group of its own, in `/`, without input or a terminal. Only the
    end of its stderr is kept. Withdrawing the call ends it.

    Raises OSError if it cannot be started, TimeoutError, Cancelled; then its whole group is gone.
    """
    from subprocess import DEVNULL, PIPE, CompletedProcess, Popen, TimeoutExpired

    # Start it, unless the server is on its way out.
    with _starting:
        if _is_ending:
            raise Cancelled()
        child = Popen(
            command,
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            cwd="/",
            env=environ,
            start_new_session=True,
        )
        _children.add(child)
    # Wait for its end, the deadline, or the withdrawal of the call.
    deadline = time.monotonic() + timeout_s
    with child:
        try:
            while True:
                if time.monotonic() >= deadline:
                    raise TimeoutError
                calls.checkpoint()
                with suppress(TimeoutExpired):
                    output, errors = child.communicate(timeout=POLL_S)
                    break
        except BaseException:
            _end([child], GRACE_S)
            raise
        finally:
            _children.discard(child)
    if _is_ending:
        raise Cancelled()
    return CompletedProcess(command, child.returncode, output, errors[-ERRORS_KEPT_BYTES:])


@leaving.at_leaving
def end_all() -> None:
    """End every child, and start no more. Called when the server ends."""
    global _is_ending
    _is_ending = True
    is_held = _starting.acquire(timeout=1)
    _end(list(_children), LAST_GRACE_S)
    if is_held:
        _starting.release()


def _end(children: list[Popen[bytes]], grace_s: float) -> None:
    """Ask the process groups of `children` to end, and kill them `grace_s` later."""
    from subprocess import TimeoutExpired

    deadline = time.monotonic() + grace_s
    for ending_signal in (signal.SIGTERM, signal.SIGKILL):
        for child in children:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, ending_signal)
        for child in children:
            with suppress(TimeoutExpired):
                child.wait(max(0, deadline - time.monotonic()))
        deadline = time.monotonic() + 1
