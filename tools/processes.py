"""Child processes that end in time: at a timeout, when the call is withdrawn, when the server goes."""

import os
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from tools import calls
from tools.errors import Cancelled

POLL_S = 0.1
GRACE_S = 1.0
"""How long a child may take to clean up after SIGTERM before SIGKILL."""
ENDING = "The server is ending"
ERRORS_KEPT = 64 * 1024

START_S = 1.0
"""How long the end waits for what is being started at that moment."""

_live: set[Any] = set()
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
    stdin: IO[bytes] | None = None,
    stdout: IO[bytes] | None = None,
    heard: Callable[[bytes], None] | None = None,
    interruptible: bool = True,
    handles: Sequence[int] = (),
) -> Ended:
    """Run a command to its end in a process group of its own, without a terminal.

    What it writes to stderr goes to `heard` as it comes. `handles` stay open in it. A call that is withdrawn
    ends it unless it is not `interruptible`.

    Raises OSError where it cannot be started, TimeoutError, Cancelled; the whole group is gone by then.
    """
    child = _start(words, environ, folder, stdin, stdout, handles)
    try:
        output, errors = _follow(child, time.monotonic() + timeout_s, heard, interruptible)
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


def _start(words, environ, folder, stdin, stdout, handles):
    import subprocess

    _starting.add(threading.get_ident())
    try:
        if _ending:
            raise Cancelled(ENDING)
        child = subprocess.Popen(
            list(words),
            env=dict(environ),
            cwd=folder,
            stdin=stdin or subprocess.DEVNULL,
            stdout=stdout or subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            pass_fds=handles,
        )
        _live.add(child)
        return child
    finally:
        _starting.discard(threading.get_ident())


def _follow(child, deadline: float, heard, interruptible: bool) -> tuple[bytes, bytes]:
    import selectors

    written = {pipe: bytearray() for pipe in (child.stdout, child.stderr) if pipe}
    with selectors.DefaultSelector() as selector:
        for pipe in written:
            selector.register(pipe, selectors.EVENT_READ)
        while selector.get_map():
            _look_up(deadline, interruptible)
            for key, _ in selector.select(POLL_S):
                data = os.read(key.fd, 65536)
                if not data:
                    selector.unregister(key.fileobj)
                    continue
                written[key.fileobj] += data
                if key.fileobj is child.stderr:
                    del written[key.fileobj][:-ERRORS_KEPT]
                    if heard:
                        heard(data)
    while not _reaped(child, POLL_S):
        _look_up(deadline, interruptible)
    if _ending:
        raise Cancelled(ENDING)
    return bytes(written.get(child.stdout, b"")), bytes(written[child.stderr])


def _look_up(deadline: float, interruptible: bool) -> None:
    if _ending:
        raise Cancelled(ENDING)
    if time.monotonic() >= deadline:
        raise TimeoutError
    if interruptible:
        calls.checkpoint()


def _end(children: list, grace_s: float) -> None:
    for child in children:
        _signal(child, signal.SIGTERM)
    deadline = time.monotonic() + grace_s
    for child in children:
        _reaped(child, max(0, deadline - time.monotonic()))
    for child in children:
        _signal(child, signal.SIGKILL)
    for child in children:
        _reaped(child, 1)


def _reaped(child, timeout_s: float) -> bool:
    from subprocess import TimeoutExpired

    with suppress(TimeoutExpired):
        child.wait(timeout_s)
    return child.returncode is not None


def _signal(child, number: int) -> None:
    """To its whole group, which may outlive it: git leaves the transport to helpers."""
    try:
        os.killpg(child.pid, number)
    except (ProcessLookupError, PermissionError):
        return
