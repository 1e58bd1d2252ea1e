"""Locks that hold across threads and processes."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tools.core import calls
from tools.core.errors import ToolError
from tools.core.settings import current

POLL_S = 0.05


@contextmanager
def exclusive(name: str, *, timeout_s: float = 120, path: Path | None = None) -> Iterator[None]:
    """Hold the lock `name`; wait for another holder up to `timeout_s`, stopping when the call is cancelled.

    The lock is flock on a file of the state directory (or `path`): the kernel gives it back when the holder dies,
    however it dies.

    Raises ToolError BUSY when it is still held at the end, STATE_NOT_WRITABLE if no lock file can be made.
    """
    path = path or current().state_dir / f"{name}.lock"
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise ToolError(
            f"Cannot write {path}: {error.strerror}",
            "Make the folder writable, or point MCP_STATE_DIR at one that is.",
            code="STATE_NOT_WRITABLE",
        ) from error
    deadline = time.monotonic() + timeout_s
    try:
        while True:
            with suppress(BlockingIOError):
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            if time.monotonic() >= deadline:
                message = f"Another session is working on {name} right now"
                raise ToolError(message, "Nothing was changed. Try again in a moment.", code="BUSY")
            calls.checkpoint()
            time.sleep(POLL_S)
        yield
    finally:
        os.close(handle)
