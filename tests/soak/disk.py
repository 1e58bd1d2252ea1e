"""A disk that can be full: a small one of our own, or where that is not allowed a limit on the size of files."""

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

SIZE_MB = 192
INSIDE = "SOAK_DISK"
"""Set once this process has, or cannot have, mounts of its own."""
LIMIT_BYTES = 16 * 1024


def enter(python: str) -> None:
    """Start over as `python` where mounts are our own business, which end with this process, if that is allowed."""
    if INSIDE in os.environ:
        return
    words = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--map-root-user"]
    try:
        allowed = subprocess.run([*words, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True).returncode == 0
    except FileNotFoundError:
        allowed = False
    os.environ[INSIDE] = "own" if allowed else "limit"
    start = [python, *sys.argv] if not allowed else [*words, python, *sys.argv]
    os.execvp(start[0], start)


class OwnDisk:
    """A tmpfs at `folder`."""

    is_own = True
    how = f"a disk of {SIZE_MB} MB of its own"

    def __init__(self, folder: Path):
        self.folder = folder
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE_MB}m,mode=700", "tmpfs", folder], check=True)

    @contextmanager
    def full(self) -> Iterator[None]:
        """Not one block left."""
        with open(self.folder / "filling", "wb", buffering=0) as file:
            try:
                chunk = bytes(2**16)
                while file.write(chunk) == len(chunk):
                    """until a write is cut short, or refused"""
            except OSError:
                pass
            try:
                yield
            finally:
                file.truncate(0)  # whoever is just being started may have the file open for a moment longer
                os.unlink(file.name)

    def close(self) -> None:
        subprocess.run(["umount", "--lazy", self.folder], check=True)


class Limit:
    """Files of the service and its sessions cannot grow beyond LIMIT_BYTES."""

    is_own = False
    how = "RLIMIT_FSIZE: no disk of its own is allowed here"

    def __init__(self, pids: Callable[[], Iterator[int]]):
        self.pids = pids

    @contextmanager
    def full(self) -> Iterator[None]:
        self._set(LIMIT_BYTES)
        try:
            yield
        finally:
            self._set(resource.RLIM_INFINITY)

    def _set(self, most: int) -> None:
        for pid in self.pids():
            try:
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
            except ProcessLookupError:
                """gone"""

    def close(self) -> None:
        """Nothing to give back."""
