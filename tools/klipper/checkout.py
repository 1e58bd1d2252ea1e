"""The folder of a checkout: whether it is there, whose turn it is, what was left in it, why it cannot be written."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tools import locks
from tools.errors import ToolError
from tools.klipper.sources import Source


def is_there(source: Source) -> bool:
    """Whether the source has been cloned."""
    return (source.checkout / ".git").is_dir()


@contextmanager
def locked(source: Source, timeout_s: float = 120) -> Iterator[int]:
    """Hold the lock of a checkout. It lies beside it, so that sessions of any home share it.

    Raises ToolError: BUSY, NOT_WRITABLE.
    """
    beside = source.checkout.parent
    inside = source.checkout / ".git"
    with writable(source):
        beside.mkdir(parents=True, exist_ok=True)
    path = beside / f".{source.checkout.name}.lock"
    if not os.access(beside, os.W_OK) and inside.is_dir():
        path = inside / "pi-mcp.lock"
    try:
        with locks.exclusive(f"the checkout of {source.label}", timeout_s=timeout_s, path=path) as handle:
            yield handle
    except ToolError as error:
        if error.code != "STATE_NOT_WRITABLE":
            raise
        raise _not_writable(source, error.message) from error


def clear_leftovers(git_dir: Path) -> None:
    """Remove what a killed git left: lock files, half-received packs. Under the lock of the checkout.

    Raises ToolError BUSY while somebody's own git is at work there.
    """
    locks_left = [*git_dir.glob("*.lock"), *(git_dir / "refs").rglob("*.lock")]
    left = [one for one in locks_left if one.name != "pi-mcp.lock"]
    left += [*(git_dir / "objects/pack").glob("tmp_*"), *(git_dir / "objects/pack").glob(".tmp-*")]
    if left and (number := _git_at_work(git_dir.parent)):
        raise ToolError(
            f"git (process {number}) is at work in {git_dir.parent}",
            "Nothing was changed. Call sync_docs again when it is done.",
            code="BUSY",
        )
    for one in left:
        with suppress(FileNotFoundError):
            one.unlink()


def _git_at_work(checkout: Path) -> str:
    inside = os.path.realpath(checkout)
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            folder = (process / "cwd").readlink()
            if (process / "comm").read_bytes().startswith(b"git") and os.path.commonpath([folder, inside]) == inside:
                return process.name
    return ""


@contextmanager
def writable(source: Source) -> Iterator[None]:
    """What the file system refuses inside becomes ToolError DISK_FULL or NOT_WRITABLE."""
    import errno

    try:
        yield
    except OSError as error:
        said = f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}"
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            hint = "Free some space, then call sync_docs again. The old pages stay."
            raise ToolError(said, hint, code="DISK_FULL") from error
        raise _not_writable(source, said) from error


def _not_writable(source: Source, said: str) -> ToolError:
    hint = f"Make {source.checkout.parent} and what is in it writable, or let KLIPPER_DOCS_DIR name another folder."
    return ToolError(f"The checkout of {source.label} cannot be written: {said}", hint, code="NOT_WRITABLE")
