"""Locks that hold across threads and processes."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.core import calls
from tools.core.errors import ToolError
from tools.core.settings import current

POLL_S = 0.05


@contextmanager
def exclusive(name: str, *, timeout_s: float = 120, path: Path | None = None) -> Iterator[int]:
    """Hold the lock `name`; wait for another holder up to `timeout_s`, stopping when the call is cancelled.

    The lock is flock on a file of the state directory (or `path`): the kernel gives it back when the holder dies,
    however it dies. The handle that comes back may be left to a child process: then the lock holds until the child is
    gone too.

    Raises ToolError BUSY when it is still held at the end, STATE_NOT_WRITABLE if no lock file can be made.
    """
    path = path or current().state_dir / f"{name}.lock"
    handle = _open(path)
    try:
        _acquire(handle, name, time.monotonic() + timeout_s)
        yield handle
    finally:
        os.close(handle)


def _open(path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise ToolError(
            f"Cannot write {path}: {error.strerror}",
            "Make the folder writable, or point MCP_STATE_DIR at one that is.",
            code="STATE_NOT_WRITABLE",
        ) from error


def _acquire(handle: int, name: str, deadline: float) -> None:
    while True:
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise ToolError(
                    f"Another session is working on {name} right now",
                    "Nothing was changed. Try again in a moment.",
                    code="BUSY",
                ) from None
        calls.checkpoint()
        time.sleep(POLL_S)
