"""Files that several processes share: written whole or not at all, or locked."""

import errno
import fcntl
import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from . import calls
from .errors import ToolError
from .settings import current

POLL_S = 0.05
# The temporary file of a write: `.NAME.PROCESS.RANDOM.pi-mcp`. In a person's folder nothing else is ours.
TEMPORARY = r"\..+\.(\d+)\.[0-9a-f]{8}\.pi-mcp"


@contextmanager
def plain_file(path: Path, *, of_this_user: bool = False) -> Iterator[BinaryIO]:
    """Open a plain file for reading, but no pipe or device. `of_this_user`: the file must belong to the user
    of this process, as those that the server wrote do. Raises OSError."""
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a plain file")
        if of_this_user and status.st_uid != os.geteuid():
            raise PermissionError(errno.EPERM, "it belongs to another user")
        yield file


@contextmanager
def replacing(path: Path, keeps_existing: bool = False) -> Iterator[Path]:
    """Yield an empty file beside `path`, readable only by its owner, which replaces `path` at the end. A
    reader always finds the old content or the new one, even after a power cut. If anything is raised before
    the end, the old file is unchanged. `keeps_existing`: a file that exists at the end stays. Raises
    OSError."""
    _forget_killed_writes(path.parent)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}.pi-mcp")
    temporary.touch(0o600, exist_ok=False)
    try:
        yield temporary
        sync(temporary)
        if keeps_existing:
            with suppress(FileExistsError):  # unlike a rename, a link replaces no file
                os.link(temporary, path)
        else:
            os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    # The new name is on the disk once the folder is; until then a power cut brings back the old file.
    with suppress(OSError):  # some file systems have no such call
        sync(path.parent)


def _forget_killed_writes(folder: Path) -> None:
    """Remove the temporary files that killed processes left in a folder."""
    for name in os.listdir(folder):
        if (match := re.fullmatch(TEMPORARY, name)) and not os.path.exists(f"/proc/{match[1]}"):
            with suppress(OSError):
                os.unlink(folder / name)


def make_folder_of(path: Path) -> None:
    """Make the folder of `path`, open only to its owner, if there is none. Raises OSError."""
    os.makedirs(path.parent, 0o700, exist_ok=True)


def replace_file(path: Path, data: bytes | str, keeps_existing: bool = False) -> None:
    """Write `path` whole, and make its folder if there is none. `keeps_existing`: a file that another process
    made first stays. Raises OSError; then the old file is unchanged, or no file is left behind."""
    make_folder_of(path)
    with replacing(path, keeps_existing) as temporary:
        temporary.write_bytes(data.encode() if isinstance(data, str) else data)


def sync(path: Path) -> None:
    """Flush a file or folder to the disk. Raises OSError."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def exclusive_lock(
    name: str, *, timeout_s: float = 120, path: Path | None = None
) -> Iterator[None]:
    """Hold the lock `name`, after waiting up to `timeout_s` for another holder, or until the call is
    withdrawn.

    The lock is a flock on a file of the state folder (or on `path`): the kernel releases it when the holder
    dies.

    Raises ToolError BUSY if it is still held after that, STATE_NOT_WRITABLE if no lock file can be made.
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
    # Try to lock it until it is free: flock itself would wait without end, and could not be cancelled.
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
        # Hold it while the caller works; closing the file releases it.
        yield
    finally:
        os.close(handle)
