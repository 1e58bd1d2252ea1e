"""Small files, written whole or not at all."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def replacing(path: Path, mode: int = 0o600, put: Callable[[Path, Path], None] = os.replace) -> Iterator[Path]:
    """Give an empty file beside `path`, which takes its place at the end: whoever reads it, at any moment and after a
    power cut, finds the old content or the new one. When anything is raised, the old file is unchanged. Raises OSError."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode))
    try:
        yield temporary
        _sync(temporary)
        put(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    # The new name is on the disk once the folder is: else a power cut brings back a token that was revoked.
    with suppress(OSError):  # some file systems have no such call
        _sync(path.parent)


def replace_file(path: Path, data: bytes | str, mode: int = 0o600) -> None:
    """Write `path` whole, and its folder if there is none. Raises OSError; the old file is unchanged then."""
    _write(path, data, mode, os.replace)


def make_file(path: Path, data: bytes | str, mode: int = 0o600) -> None:
    """Write `path` whole unless it is there: what another process made first stays. Raises OSError; there is no file of
    ours then."""
    _write(path, data, mode, _link)


def _link(new: Path, path: Path) -> None:
    with suppress(FileExistsError):  # unlike a renamed file, a link takes no other's place
        os.link(new, path)


def _write(path: Path, data: bytes | str, mode: int, put: Callable[[Path, Path], None]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with replacing(path, mode, put) as part:
        part.write_bytes(data.encode() if isinstance(data, str) else data)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
