"""Child processes that end in time: at a timeout, when the call is withdrawn, when the server ends."""

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

_live: set[Popen[bytes]] = set()
# Held while a child is being started: the end of the server waits until the child is listed.
_starting = threading.RLock()
_ending = False


# The child's output is read as it comes; every POLL_S this looks at the clock, the client and the server.
# Ending a child ends its whole process group: git leaves the transport to helpers, which may outlive it.
def run(
    words: Sequence[str], environ: Mapping[str, str], timeout_s: float
) -> CompletedProcess[bytes]:
    """Run a command to its end, in a process group of its own, in `/` and without input or a terminal; of its
    stderr the last is kept. A call that is withdrawn ends it.

    Raises OSError if it cannot be started, TimeoutError, Cancelled; the whole group is gone by then.
    """
    from subprocess import DEVNULL, PIPE, CompletedProcess, Popen, TimeoutExpired

    # Start it, unless the server is on its way out.
    with _starting:
        if _ending:
            raise Cancelled()
        child = Popen(
            words,
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            cwd="/",
            env=environ,
            start_new_session=True,
        )
        _live.add(child)
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
            _live.discard(child)
    if _ending:
        raise Cancelled()
    return CompletedProcess(words, child.returncode, output, errors[-ERRORS_KEPT_BYTES:])


@leaving.at_leaving
def end_all() -> None:
    """End every child and start none any more. For the server on its way out."""
    global _ending
    _ending = True
    started = _starting.acquire(timeout=1)
    _end(list(_live), LAST_GRACE_S)
    if started:
        _starting.release()


def _end(children: list[Popen[bytes]], grace_s: float) -> None:
    """Ask the children's process groups to end, then kill them."""
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
