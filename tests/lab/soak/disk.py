"""A disk that can be full: a small one of our own, where that is allowed."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SIZE_MB = 192
INSIDE = "SOAK_DISK"
"""Set once this process has, or cannot have, mounts of its own."""


def enter() -> None:
    """Start over where mounts are our own business, which end with this process, if that is allowed."""
    if INSIDE in os.environ:
        return
    words = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--map-root-user"]
    try:
        allowed = subprocess.run([*words, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True).returncode == 0
    except FileNotFoundError:
        allowed = False
    os.environ[INSIDE] = "own" if allowed else "none"
    start = [*(words if allowed else ()), sys.executable, *sys.argv]
    os.execvp(start[0], start)


class OwnDisk:
    """A tmpfs at `folder`."""

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
