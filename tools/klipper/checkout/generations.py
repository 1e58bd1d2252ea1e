"""The generations of pages in a checkout: each has the files of one commit.

`.pi-mcp/generations/<time made>_<day of the commit>_<commit>` is one. `.pi-mcp/current` leads to the one to read, and
the checkout's `docs` and `.git` lead there for people.
"""

# The contract, which lets a sync be killed, or the power go, between any two steps:
# - A generation is made beside the others, under a name of its own, and written to the disk before the switch.
# - The switch is one rename of a link. Before it everybody reads the old generation, after it the new one.
# - A call looks at the link once (sources.py). The generation before the current one stays until the next sync, so that
#   a call which began before the switch ends with the pages it began with.
# - Every page and folder of a generation has the day of its commit as its time. What has another time was changed by a
#   person: such a generation is not removed but moved, whole, into `local-edits`.
# - `tidy` does all the rest and may be repeated: a sync that was killed before it leaves it to the next one.

import errno
import os
import time
from calendar import timegm
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.core.files import exclusive_lock
from tools.klipper.settings import STATE
from tools.klipper.sources import CURRENT, Source, failure

GENERATIONS = "generations"


@contextmanager
def locked(source: Source) -> Iterator[None]:
    """Hold the lock of a checkout. It lies in it, so that sessions of any home share it.

    Raises ToolError: BUSY; NOT_WRITABLE or DISK_FULL for what the file system refuses inside.
    """
    path = source.checkout / STATE / "lock"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        with exclusive_lock(f"the checkout of {source.label}", path=path):
            yield
    except OSError as error:
        code = "DISK_FULL" if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) else "NOT_WRITABLE"
        message = f"The checkout of {source.label} cannot be written: {error.strerror or error}: {error.filename}"
        raise failure(code, message) from error


def title(generation: Path) -> str:
    """The commit, shortened, and its day."""
    *_, day, commit = generation.name.split("_")
    return f"{commit[:9]} {day}"


def switch(source: Source, made: Path, commit: str, day: str) -> Path:
    """Make the new folder a generation and let readers see it from that moment on."""
    folder = source.checkout / STATE / GENERATIONS / f"{time.time_ns()}_{day}_{commit}"
    stamp = _stamp(folder)
    for path, _ in _walk(made / source.docs):
        os.utime(path, ns=(stamp, stamp), follow_symlinks=False)
    os.sync()  # a power cut leaves no empty pages
    folder.parent.mkdir(exist_ok=True)
    made.rename(folder)
    _link(source.checkout / STATE / CURRENT, f"{GENERATIONS}/{folder.name}")
    return folder


def changed(generation: Path, docs: str) -> list[Path]:
    """Everything in a generation that a person changed, and the folders that they added to or removed from."""
    return [path for path, status in _walk(generation / docs) if status.st_mtime_ns != _stamp(generation)]


def tidy(source: Source, current: Path) -> tuple[list[str], Path]:
    """Lead people's paths to the current generation; remove those before, but the last one.

    Gives back the paths that a person edited in them, and the folder that they were moved to.
    """
    aside = source.checkout / "local-edits" / f"edits-{time.strftime('%Y%m%d-%H%M%S')}-{os.urandom(4).hex()}"
    edited: list[str] = []
    for name in (source.docs.partition("/")[0], ".git"):
        path, target = source.checkout / name, f"{STATE}/{CURRENT}/{name}"
        if not path.is_symlink() or os.readlink(path) != target:
            if os.path.lexists(path):
                aside.mkdir(parents=True, exist_ok=True)
                path.rename(aside / name)
                edited.append(name)
            _link(path, target)
    others = sorted(path for path in current.parent.iterdir() if path != current)
    for folder in others:
        files = [path for path in changed(folder, source.docs) if path.is_symlink() or not path.is_dir()]
        if files:
            aside.mkdir(parents=True, exist_ok=True)
            folder.rename(aside / folder.name)
            edited += [str(path.relative_to(folder.parent)) for path in files]
        elif folder != others[-1]:
            remove(folder)
    return edited, aside


def remove(folder: Path) -> None:
    """Remove a folder, as far as that is possible."""
    from shutil import rmtree

    rmtree(folder, ignore_errors=True)


def _stamp(generation: Path) -> int:
    """The time of all files of a generation, in nanoseconds: the day of its commit; an earlier version's names have none."""
    day = generation.name.split("_")[-2]
    return timegm(time.strptime(day, "%Y-%m-%d")) * 10**9 if "-" in day else 0


def _walk(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Everything in a folder and the folder itself, each after what it holds."""
    for parent, folders, files in os.walk(folder, topdown=False):
        links = (name for name in folders if os.path.islink(os.path.join(parent, name)))
        for path in (*(Path(parent, name) for name in (*files, *links)), Path(parent)):
            yield path, path.lstat()


def _link(path: Path, target: str) -> None:
    link = path.with_name(f"{path.name}.new")
    link.unlink(missing_ok=True)
    link.symlink_to(target)
    link.replace(path)
