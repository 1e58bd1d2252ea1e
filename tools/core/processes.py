"""Child processes that end in time: at a timeout, when the call is withdrawn, when the server goes."""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tools.core import calls
from tools.core.errors import Cancelled
from tools.core.leaving import at_leaving

if TYPE_CHECKING:
    from subprocess import Popen

    Child = Popen[bytes]

POLL_S = 0.1
GRACE_S = 1.0
"""How long a child may take to clean up after SIGTERM before SIGKILL."""
ENDING = "The server is ending"
ERRORS_KEPT_BYTES = 64 * 1024
CHUNK_BYTES = 64 * 1024

OnStderr = Callable[[bytes], None]
"""Takes a piece of what a child writes to stderr."""

START_S = 1.0
"""How long the end waits for what is being started at that moment."""

_live: set[Child] = set()
_starting: set[int] = set()
"""The threads that are starting a child, which is not among the live ones yet."""
_ending = False


@dataclass(frozen=True)
class Ended:
    """How a child ended: `status` is its exit status, or minus the signal; the last of what it wrote to stderr."""

    status: int
    output: bytes
    errors: bytes


def run(
    words: Sequence[str],
    *,
    environ: Mapping[str, str],
    folder: Path,
    timeout_s: float,
    stdin: bytes = b"",
    on_stderr: OnStderr | None = None,
    interruptible: bool = True,
    handles: Sequence[int] = (),
) -> Ended:
    """Run a command to its end in a process group of its own, without a terminal.

    `stdin` is what it reads. What it writes to stderr goes to `on_stderr` as it comes. `handles` stay open in it. A call
    that is withdrawn ends it unless it is not `interruptible`.

    Raises OSError if it cannot be started, TimeoutError, Cancelled; the whole group is gone by then.
    """
    child = _start(words, environ, folder, stdin, handles)
    try:
        output, errors = _follow(child, time.monotonic() + timeout_s, on_stderr, interruptible)
        return Ended(child.wait(), output, errors)
    except BaseException:
        _end([child], GRACE_S)
        raise
    finally:
        _live.discard(child)
        for pipe in (child.stdout, child.stderr):
            if pipe:
                pipe.close()


def end_all(grace_s: float = 0.5) -> None:
    """End every child and start none any more. For the server on its way out; safe in a signal handler."""
    global _ending
    _ending = True
    deadline = time.monotonic() + START_S
    while _starting - {threading.get_ident()} and time.monotonic() < deadline:
        time.sleep(0.001)
    _end(list(_live), grace_s)


@at_leaving
def _at_leaving(status: int) -> None:
    end_all()


def _start(
    words: Sequence[str],
    environ: Mapping[str, str],
    folder: Path,
    stdin: bytes,
    handles: Sequence[int],
) -> Child:
    import subprocess
    from tempfile import TemporaryFile

    _starting.add(threading.get_ident())
    try:
        if _ending:
            raise Cancelled(ENDING)
        with TemporaryFile() as file:
            file.write(stdin)
            file.seek(0)
            child = subprocess.Popen(
                list(words),
                env=dict(environ),
                cwd=folder,
                stdin=file if stdin else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                pass_fds=handles,
            )
        _live.add(child)
        return child
    finally:
        _starting.discard(threading.get_ident())


class _Pipes:
    """What a child writes to stdout and stderr, read as it comes; of stderr only the end is kept."""

    def __init__(self, child: Child, on_stderr: OnStderr | None):
        self.child = child
        self.on_stderr = on_stderr
        self.output = bytearray()
        self.errors = bytearray()
        self.open = [pipe for pipe in (child.stdout, child.stderr) if pipe]

    def read(self, timeout_s: float) -> None:
        """Take what is there, or wait for it."""
        for pipe in select.select(self.open, (), (), timeout_s)[0]:
            data = os.read(pipe.fileno(), CHUNK_BYTES)
            if not data:
                self.open.remove(pipe)
            elif pipe is self.child.stdout:
                self.output += data
            else:
                self._take_errors(data)

    def _take_errors(self, data: bytes) -> None:
        self.errors += data
        del self.errors[:-ERRORS_KEPT_BYTES]
        if self.on_stderr:
            self.on_stderr(data)


def _follow(child: Child, deadline: float, on_stderr: OnStderr | None, interruptible: bool) -> tuple[bytes, bytes]:
    """Read what the child writes until it has closed both pipes and ended."""
    pipes = _Pipes(child, on_stderr)
    while pipes.open:
        _stop_if_due(deadline, interruptible)
        pipes.read(POLL_S)
    while not _reaped(child, POLL_S):
        _stop_if_due(deadline, interruptible)
    if _ending:
        raise Cancelled(ENDING)
    return bytes(pipes.output), bytes(pipes.errors)


def _stop_if_due(deadline: float, interruptible: bool) -> None:
    if _ending:
        raise Cancelled(ENDING)
    if time.monotonic() >= deadline:
        raise TimeoutError
    if interruptible:
        calls.checkpoint()


def _end(children: list[Child], grace_s: float) -> None:
    for child in children:
        _signal(child, signal.SIGTERM)
    deadline = time.monotonic() + grace_s
    for child in children:
        _reaped(child, max(0, deadline - time.monotonic()))
    for child in children:
        _signal(child, signal.SIGKILL)
    for child in children:
        _reaped(child, 1)


def _reaped(child: Child, timeout_s: float) -> bool:
    from subprocess import TimeoutExpired

    with suppress(TimeoutExpired):
        child.wait(timeout_s)
    return child.returncode is not None


def _signal(child: Child, number: int) -> None:
    """Send a signal to the child's whole process group, which may outlive it: git leaves the transport to helpers."""
    try:
        os.killpg(child.pid, number)
    except (ProcessLookupError, PermissionError):
        return
