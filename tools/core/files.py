"""Files that several processes share: written whole or not at all, or locked."""

import errno
import fcntl
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from . import calls
from .errors import ToolError
from .settings import current

POLL_S = 0.05
# The temporary file of a write: `.NAME.PROCESS.RANDOM.pi-mcp`. A folder may be a person's: nothing else is
# ours.
TEMPORARY = r"\..+\.(\d+)\.[0-9a-f]{8}\.pi-mcp"


@contextmanager
def plain_file(path: Path, *, of_this_user: bool = False) -> Iterator[BinaryIO]:
    """Open a plain file for reading. Never waits for a pipe, opens no device; a file that this server wrote
    belongs to its user. Raises OSError."""
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a plain file")
        if of_this_user and status.st_uid != os.geteuid():
            raise PermissionError(errno.EPERM, "it belongs to another user")
        yield file


@contextmanager
def replacing(path: Path, put: Callable[[Path, Path], None] = os.replace) -> Iterator[Path]:
    """Yield an empty file beside `path`, for the owner alone; it replaces `path` at the end. A reader always
    finds the old content or the new one, even after a power cut. If anything is raised before that, the old
    file is unchanged. Raises OSError."""
    _forget_killed_writes(path.parent)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}.pi-mcp")
    temporary.touch(0o600, exist_ok=False)
    try:
        yield temporary
        sync(temporary)
        put(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    # The new name is on the disk only once the folder is: before that a power cut brings back the old file.
    with suppress(OSError):  # some file systems have no such call
        sync(path.parent)


def _forget_killed_writes(folder: Path) -> None:
    """Remove the temporary files of processes that are gone."""
    for name in os.listdir(folder):
        if (match := re.fullmatch(TEMPORARY, name)) and not os.path.exists(f"/proc/{match[1]}"):
            with suppress(OSError):
                os.unlink(folder / name)


def make_folder_of(path: Path) -> None:
    """Make the folder of `path`, for the owner alone, if there is none. Raises OSError."""
    os.makedirs(path.parent, 0o700, exist_ok=True)


def replace_file(
    path: Path, data: bytes | str, put: Callable[[Path, Path], None] = os.replace
) -> None:
    """Write `path` whole, and its folder if there is none. Raises OSError; the old file is unchanged then."""
    make_folder_of(path)
    with replacing(path, put) as part:
        part.write_bytes(data.encode() if isinstance(data, str) else data)


def make_file(path: Path, data: bytes | str) -> None:
    """Write `path` whole unless it exists: a file that another process made first stays. Raises OSError; then
    nothing is left behind."""
    replace_file(path, data, _link)


def _link(new: Path, path: Path) -> None:
    with suppress(FileExistsError):  # unlike a renamed file, a link takes no other's place
        os.link(new, path)


def sync(path: Path) -> None:
    """Write a file or folder through to the disk. Raises OSError."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def exclusive_lock(
    name: str, *, timeout_s: float = 120, path: Path | None = None
) -> Iterator[None]:
    """Hold the lock `name`; wait for another holder up to `timeout_s`, stopping when the call is cancelled.

    The lock is flock on a file of the state directory (or `path`): the kernel gives it back when the holder
    dies.

    Raises ToolError BUSY when it is still held at the end, STATE_NOT_WRITABLE if no lock file can be made.
    """
    # Open the lock's file.
    path = path or current().state_dir / f"{name}.lock"
    try:
        make_folder_of(path)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise ToolError(
            f"Cannot write {path}: {error.strerror}",
            "Make the folder writable, or point MCP_STATE_DIR at one that is.",
            "STATE_NOT_WRITABLE",
        ) from error
    # Try to lock it until it is free: flock itself would wait without end, and not be cancelled.
    deadline = time.monotonic() + timeout_s
    try:
        while True:
            with suppress(BlockingIOError):
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            if time.monotonic() >= deadline:
                raise ToolError(
                    f"Another session is working on {name} right now",
                    "Nothing was changed. Try again in a moment.",
                    "BUSY",
                )
            calls.checkpoint()
            time.sleep(POLL_S)
        # Hold it while the caller works; closing the file gives it back.
        yield
    finally:
        os.close(handle)
