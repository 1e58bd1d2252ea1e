"""The files of a checkout against those of a commit."""

import os
import stat
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from tools.errors import ToolError
from tools.klipper.repository import Repository

LINK = "120000"
SUBMODULE = "160000"
FOLDER = "folder"
OTHER = "other"
CHUNK = 1 << 16

Scope = Callable[[str], bool]


@dataclass(frozen=True)
class Entry:
    """A file of a commit: its mode, and the object that holds its contents."""

    mode: str
    blob: str


@dataclass
class Plan:
    """What brings the files to a commit. `kept` and `replaced` differ from every commit they could come from:
    somebody edited them here."""

    write: dict[str, Entry] = field(default_factory=dict)
    remove: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    """Edited here and changed or removed upstream: to be put aside first."""
    kept: list[str] = field(default_factory=list)
    """Edited here, not changed upstream: left as they are."""

    def __bool__(self) -> bool:
        return bool(self.write or self.remove)


def tree(repository: Repository, commit: str, scope: Scope) -> dict[str, Entry]:
    """The files of a commit within `scope`, by path from the checkout's top.

    Raises ToolError UNSAFE_TREE for a path that could leave the checkout or lie in its `.git`.
    """
    if not commit:
        return {}
    listed = os.fsdecode(repository.run("ls-tree", "-r", "-z", "--full-tree", commit))
    found = {}
    for entry in filter(None, listed.split("\0")):
        about, _, path = entry.partition("\t")
        mode, _, blob = about.split(" ")
        if mode != SUBMODULE and scope(path):
            found[_safe(path)] = Entry(mode, blob)
    return found


def _safe(path: str) -> str:
    if any(part.lower() in ("", ".", "..", ".git") for part in path.split("/")):
        raise ToolError(
            f"The upstream has a file at a path that leaves the checkout: {path[:200]!r}",
            "Nothing was changed. Do not use this upstream.",
            code="UNSAFE_TREE",
        )
    return path


def compare(
    checkout: Path, wanted: Mapping[str, Entry], head: Mapping[str, Entry], begun: list[Mapping[str, Entry]]
) -> Plan:
    """What to do so that the files are `wanted`. They should be those of `head`, but some may already be those of the
    commits that a sync had `begun` to go to when it was killed."""
    plan = Plan()
    origins = [head, *begun]
    for path in dict.fromkeys(path for files in (wanted, *origins) for path in files):
        past = [files[path].blob for files in origins if path in files]
        _compare(plan, checkout, path, wanted.get(path), past, untouched=head.get(path) == wanted.get(path))
    return plan


def _compare(plan: Plan, checkout: Path, path: str, ours: Entry | None, past: list[str], untouched: bool) -> None:
    found = "" if _behind_link(checkout, path) else blob_of(checkout / path, len(ours.blob if ours else past[0]))
    if found == (ours.blob if ours else ""):
        return
    edited = found not in ("", FOLDER, *past)
    if edited and ours and untouched:
        plan.kept.append(path)
        return
    if edited:
        plan.replaced.append(path)
    if ours:
        plan.write[path] = ours
    elif found != FOLDER:
        plan.remove.append(path)


def blob_of(path: Path, size: int) -> str:
    """The name of the object that holds what a file or link holds, of 40 or 64 digits as `size` says; empty where there
    is none, FOLDER or OTHER where it is neither."""
    try:
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            data = os.fsencode(path.readlink())
            return _named(len(data), [data], size)
        if stat.S_ISDIR(mode):
            return FOLDER
        if not stat.S_ISREG(mode):
            return OTHER
        with path.open("rb") as file:
            return _named(os.fstat(file.fileno()).st_size, iter(lambda: file.read(CHUNK), b""), size)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except PermissionError:
        return OTHER


def _named(length: int, chunks: Iterable[bytes], size: int) -> str:
    import hashlib

    found = hashlib.new("sha1" if size == 40 else "sha256", b"blob %d\0" % length, usedforsecurity=False)
    for chunk in chunks:
        found.update(chunk)
    return found.hexdigest()


def _behind_link(checkout: Path, path: str) -> bool:
    return any((checkout / parent).is_symlink() for parent in list(PurePosixPath(path).parents)[:-1])
