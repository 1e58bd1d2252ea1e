"""The folder of a checkout: whose it is, the generations in it, what was edited here, who may write to it now."""

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tools.core import locks
from tools.core.errors import ToolError
from tools.core.settings import PROJECT
from tools.klipper.checkout import generation as generations
from tools.klipper.checkout import git, refs
from tools.klipper.checkout.generation import Generation
from tools.klipper.checkout.ownership import STATE, is_foreign, made_by_version_0_1
from tools.klipper.sources import CURRENT, Source, configured, extra_folder, generation_of

ASIDE = "local-edits"
"""The folder of a checkout for what was edited here."""
FIRST = "0"
"""The generation that a checkout of version 0.1 becomes."""


def is_there(source: Source) -> bool:
    """Whether a sync has fetched the pages."""
    return generation_of(source.checkout) is not None or made_by_version_0_1(source.checkout)


def head(source: Source) -> str:
    """The commit whose pages are here; empty if that is not known."""
    current = generation_of(source.checkout)
    return current.name.partition("-")[2] if current else refs.head(source.checkout / ".git")


def folders_to_write() -> list[Path]:
    """The folders that sync_docs writes to with these settings.

    Raises ToolError UNSAFE_FOLDER.
    """
    own, *more = (source.checkout for source in configured())
    check_place(own)
    folders = [own, *(extra_folder(own) if folder.parent == extra_folder(own) else folder for folder in more)]
    return [folder for folder in dict.fromkeys(folders) if not is_foreign(folder) or folder == extra_folder(own)]


def check_place(folder: Path) -> None:
    """Raises ToolError UNSAFE_FOLDER for a folder that nobody can have meant for documentation."""
    real = folder.resolve()
    if any(place.resolve().is_relative_to(real) for place in (Path.home(), PROJECT)):
        raise ToolError(
            f"The documentation cannot be kept in {folder}: that is, or holds, the home folder or the project",
            "Let KLIPPER_DOCS_DIR name a folder of its own, for example ~/klipper-docs.",
            code="UNSAFE_FOLDER",
        )


@contextmanager
def locked(source: Source, timeout_s: float = 120) -> Iterator[int]:
    """Hold the lock of a checkout. It lies in it, so that sessions of any home share it.

    Raises ToolError: BUSY, NOT_WRITABLE, DISK_FULL.
    """
    path = source.checkout / STATE / "lock"
    with writable(source):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    with locks.exclusive(f"the checkout of {source.label}", timeout_s=timeout_s, path=path) as handle, writable(source):
        yield handle


@contextmanager
def writable(source: Source) -> Iterator[None]:
    """What the file system refuses inside becomes ToolError DISK_FULL or NOT_WRITABLE."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        code = "DISK_FULL" if full else "NOT_WRITABLE"
        message = f"The checkout of {source.label} cannot be written: {error.strerror or error}: {error.filename}"
        raise ToolError(message, git.HINTS[code], code=code) from error


@dataclass
class Aside:
    """What was edited here and is put aside: made when the first file comes."""

    checkout: Path
    folder: Path | None = None
    paths: list[str] = field(default_factory=list)

    def take(self, file: Path, path: str) -> None:
        """Move a file, link or folder there. That needs no room on the disk."""
        from tempfile import mkdtemp

        if self.folder is None:
            (self.checkout / ASIDE).mkdir(exist_ok=True)
            self.folder = Path(mkdtemp(prefix=time.strftime("edits-%Y%m%d-%H%M%S-"), dir=self.checkout / ASIDE))
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        file.rename(target)
        self.paths.append(path)


@dataclass
class Outcome:
    """What became of a checkout. `old` is what it was at, None before the first sync; `renamed` has the old path of a
    new one; `restored` are files that were edited or missing here."""

    old: Generation | None
    new: Generation
    aside: Aside
    renamed: dict[str, str] = field(default_factory=dict)
    restored: list[str] = field(default_factory=list)


def switch(source: Source, generation: Generation) -> None:
    """Let readers see a generation from now on, by replacing one link."""
    state = source.checkout / STATE
    numbers = [int(name.partition("-")[0]) for name in os.listdir(_all(source)) if name[0].isdigit()]
    folder = _all(source) / f"{max(numbers, default=0) + 1}-{generation.commit}"
    generation.folder.rename(folder)
    generation.folder = folder
    _link(state / CURRENT, f"{folder.parent.name}/{folder.name}")


def _all(source: Source) -> Path:
    folder = source.checkout / STATE / "generations"
    folder.mkdir(exist_ok=True)
    return folder


def _link(path: Path, target: str) -> None:
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    new.symlink_to(target)
    new.replace(path)


def settle(source: Source, current: Generation, aside: Aside) -> None:
    """Lead people's paths to the generation; put aside what was edited in older ones, and remove those that nobody
    reads."""
    for name in (source.docs.partition("/")[0], ".git"):
        path, target = source.checkout / name, f"{STATE}/{CURRENT}/{name}"
        if path.is_symlink() and os.readlink(path) == target:
            continue
        first = _all(source) / FIRST / name
        if (first.parent / generations.MANIFEST).exists() and not os.path.lexists(first) and path.exists():
            path.rename(first)  # what version 0.1 left becomes a generation like others
        elif os.path.lexists(path):
            aside.take(path, name)
        _link(path, target)
    for folder in _all(source).iterdir():
        if folder != current.folder:
            _collect(folder, current, aside)


def _collect(folder: Path, current: Generation, aside: Aside) -> None:
    from shutil import rmtree

    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # refused while somebody reads it
        if generation := generations.load(folder):
            for path, blob in sorted(generation.differences().items()):
                if os.path.lexists(folder / path) and (path not in current.files or blob != current.files[path].blob):
                    aside.take(folder / path, path)
            if refs.commits_made_here(folder / ".git"):
                aside.take(folder / ".git", ".git")
        rmtree(folder)
    except BlockingIOError:
        return
    finally:
        os.close(handle)
