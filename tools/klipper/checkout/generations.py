"""The generations of pages in the folder of a checkout: each has the files of one commit, and is never written to."""

import errno
import fcntl
import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tools.core import locks
from tools.core.files import replace_file
from tools.klipper.errors import failure
from tools.klipper.ownership import STATE, made_by_version_0_1
from tools.klipper.sources import CURRENT, Source

GENERATIONS = "generations"
MANIFEST = ".git/pi-mcp.json"
COMMIT = re.compile(rb"^([0-9a-f]{40,64})(?:$| refs/heads/| refs/stash)", re.MULTILINE)
"""The commit in a file below `.git/refs`, or of a branch or stash in a row of `packed-refs`."""


@dataclass
class Generation:
    """`files` are the upstream's below `docs`: the name of git's object with the contents, by path from `folder`."""

    folder: Path
    commit: str
    title: str
    docs: str
    files: dict[str, str]

    def save(self) -> None:
        """Write the manifest."""
        content = {name: value for name, value in vars(self).items() if name != "folder"}
        replace_file(self.folder / MANIFEST, json.dumps(content))  # ASCII: file names may be any bytes

    def files_now(self) -> dict[str, str]:
        """The files as they are: some may have been edited, added or removed by hand."""
        paths = []
        for folder, folders, files in os.walk(self.folder / self.docs):
            links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
            paths += [os.path.join(folder, name) for name in (*files, *links)]
        return {os.path.relpath(path, self.folder): _blob(Path(path), len(self.commit)) for path in paths}

    def size(self, path: str) -> int:
        """The bytes of a file; 0 if it is not there."""
        file = self.folder / path
        return file.lstat().st_size if os.path.lexists(file) else 0


def load(folder: Path, docs: str) -> Generation:
    """The generation in `folder`. Without a whole manifest none of its files counts as the upstream's."""
    try:
        return Generation(folder, **json.loads((folder / MANIFEST).read_bytes()))
    except (OSError, ValueError, TypeError):
        return Generation(folder, "", "damaged", docs, {})


@contextmanager
def locked(source: Source) -> Iterator[int]:
    """Hold the lock of a checkout. It lies in it, so that sessions of any home share it.

    Raises ToolError: BUSY; NOT_WRITABLE or DISK_FULL for what the file system refuses inside.
    """
    path = source.checkout / STATE / "lock"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        with locks.exclusive(f"the checkout of {source.label}", path=path) as handle:
            yield handle
    except OSError as error:
        code = "DISK_FULL" if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) else "NOT_WRITABLE"
        message = f"The checkout of {source.label} cannot be written: {error.strerror or error}: {error.filename}"
        raise failure(code, message) from error


def switch(source: Source, new: Generation) -> None:
    """Let readers see a generation from that moment on, by replacing one link."""
    folder = source.checkout / STATE / GENERATIONS / f"{time.time_ns()}-{new.commit}"
    folder.parent.mkdir(exist_ok=True)
    new.folder = new.folder.rename(folder)
    _link(source.checkout / STATE / CURRENT, f"{GENERATIONS}/{folder.name}")


def _link(path: Path, target: str) -> None:
    link = path.with_name(f"{path.name}.new")
    link.unlink(missing_ok=True)
    link.symlink_to(target)
    link.replace(path)


@dataclass
class Aside:
    """The folder for what was edited here, made when the first file comes, and what came."""

    folder: Path
    paths: list[str] = field(default_factory=list)

    def take(self, file: Path, path: str) -> None:
        """Move a file, link or folder there. That needs no room on the disk."""
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        file.rename(self.folder / path)
        self.paths.append(os.fsencode(path).decode("utf-8", "replace"))


def settle(source: Source, current: Generation) -> Aside:
    """Lead people's paths to the generation, put aside what was edited in others, remove those that nobody reads."""
    aside = Aside(source.checkout / "local-edits" / f"{time.strftime('edits-%Y%m%d-%H%M%S')}-{os.urandom(4).hex()}")
    if made_by_version_0_1(source.checkout):
        _empty(load(source.checkout, source.docs), current, aside)
    for name in (source.docs.partition("/")[0], ".git"):
        path, target = source.checkout / name, f"{STATE}/{CURRENT}/{name}"
        if not path.is_symlink() or os.readlink(path) != target:
            if os.path.lexists(path):
                aside.take(path, name)
            _link(path, target)
    for folder in (source.checkout / STATE / GENERATIONS).iterdir():
        if folder != current.folder:
            _collect(load(folder, source.docs), current, aside)
    return aside


def _collect(old: Generation, current: Generation, aside: Aside) -> None:
    handle = os.open(old.folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # refused while somebody reads it
        _empty(old, current, aside)
        remove(old.folder)
    except BlockingIOError:
        return
    finally:
        os.close(handle)


def _empty(old: Generation, current: Generation, aside: Aside) -> None:
    """Take the pages and the repository away, aside if they were edited. The manifest, which tells that, goes last."""
    for path, blob in sorted(old.files_now().items()):
        if blob not in (old.files.get(path), current.files.get(path)):
            aside.take(old.folder / path, path)
    remove(old.folder / old.docs)
    if _has_commits(old):
        aside.take(old.folder / ".git", ".git")
    remove(old.folder / ".git")


def _has_commits(old: Generation) -> bool:
    """Whether HEAD, a branch or a stash is at another commit. Without git: the repository may name programs."""
    git_dir = old.folder / ".git"
    files = [*(git_dir / name for name in ("HEAD", "packed-refs", "refs/stash")), *(git_dir / "refs/heads").rglob("*")]
    text = b"\n".join(file.read_bytes() for file in files if file.is_file())
    return not {*COMMIT.findall(text)} <= {old.commit.encode()}


def remove(folder: Path) -> None:
    """Remove a folder, as far as that is possible."""
    from shutil import rmtree

    rmtree(folder, ignore_errors=True)


def _blob(file: Path, digits: int) -> str:
    """The name of git's object with what a file or link holds, in as many digits; empty for anything else."""
    import hashlib

    if not file.is_symlink() and not file.is_file():
        return ""
    try:
        data = os.fsencode(os.readlink(file)) if file.is_symlink() else file.read_bytes()
    except OSError:
        return ""
    digest = hashlib.new("sha256" if digits == 64 else "sha1", b"blob %d\0" % len(data))
    digest.update(data)
    return digest.hexdigest()
