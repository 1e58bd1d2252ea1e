"""A file that is read again when it changed."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

Content = TypeVar("Content")


class Watched(Generic[Content]):
    """What `read` makes of the file at `path`, by a call; read again once the file is another one or was changed."""

    def __init__(self, path: Path, read: Callable[[Path], Content]):
        self.path = path
        self.read = read
        self._stamp: tuple[int, ...] | None = None

    def __call__(self) -> Content:
        stamp = self._look()
        if stamp != self._stamp:
            self._content = self.read(self.path)
            self._stamp = stamp
        return self._content

    def _look(self) -> tuple[int, ...]:
        try:
            status = os.stat(self.path)
        except FileNotFoundError:
            return ()
        return status.st_ino, status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_mode
