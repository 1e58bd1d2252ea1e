"""Bringing the files of a checkout to a commit, one whole file at a time."""

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import IO

from tools.errors import ToolError
from tools.klipper.repository import Repository
from tools.klipper.worktree import CHUNK, LINK, Entry, Plan

EXECUTABLE = "100755"
ROOM_BYTES = 64 * 1024
"""More than one block, of which the last of a file may have some left."""


def stage(repository: Repository, plan: Plan) -> dict[str, Path]:
    """The new contents of every file to write, whole and on disk beside the old: path → where they lie.

    Raises ToolError; OSError when the disk is full. No file of the checkout is touched.
    """
    folder = repository.private / "stage"
    folder.mkdir()
    staged = {path: folder / str(number) for number, path in enumerate(plan.write)}
    with (folder / "contents").open("wb+") as contents:
        lines = [f"{entry.blob}\n" for entry in plan.write.values()]
        try:
            repository.run("cat-file", "--batch", lines=lines, stdout=contents)
        except ToolError:
            _check_room(contents)
            raise
        contents.seek(0)
        for path, entry in plan.write.items():
            _stage_one(contents, entry, staged[path])
    return staged


def _check_room(file: IO[bytes]) -> None:
    """Raises OSError when the disk is full: git says only that it is "unable to stream to stdout"."""
    file.seek(0, os.SEEK_END)
    file.write(bytes(ROOM_BYTES))
    file.flush()


def _stage_one(contents: IO[bytes], entry: Entry, file: Path) -> None:
    said = contents.readline().split()
    if len(said) != 3 or said[0].decode() != entry.blob:
        raise ToolError(
            f"The upstream did not give the contents of {entry.blob[:10]}",
            "The old pages stay. Call sync_docs again; if it stays so, move the checkout's folder away first.",
            code="INCOMPLETE",
        )
    size = int(said[2])
    if entry.mode == LINK:
        file.symlink_to(os.fsdecode(contents.read(size)))
    else:
        _write(contents, size, file, 0o777 if entry.mode == EXECUTABLE else 0o666)
    contents.read(1)


def _write(contents: IO[bytes], size: int, file: Path, mode: int) -> None:
    with open(file, "xb", opener=lambda path, flags: os.open(path, flags, mode)) as target:
        while size:
            chunk = contents.read(min(size, CHUNK))
            if not chunk:
                raise OSError(f"{file} ends early")
            target.write(chunk)
            size -= len(chunk)
        target.flush()
        os.fsync(target.fileno())


def switch(checkout: Path, plan: Plan, staged: Mapping[str, Path], aside: Path) -> list[str]:
    """Put every staged file in place and remove what is gone; what was made here goes to `aside` before.

    Gives the paths of that. Killed at any moment it leaves each file whole, old or new.
    """
    put_aside = list(plan.replaced)
    for path in plan.replaced:
        _copy(checkout / path, aside / path)
    first = set(_in_the_way(plan))
    for path in first:
        _remove(checkout, path)
    for path, file in staged.items():
        put_aside += _make_room(checkout, path, aside)
        file.replace(checkout / path)
    for path in plan.remove:
        if path not in first:
            _remove(checkout, path)
    return put_aside


def _in_the_way(plan: Plan) -> Iterator[str]:
    """Old files where a new folder comes, and the other way round."""
    folders = {parent for path in plan.write for parent in _parents(path)}
    for path in plan.remove:
        if path in folders or any(parent in plan.write for parent in _parents(path)):
            yield path


def _parents(path: str) -> list[str]:
    """The folders that lead to a path, nearest first, without the checkout itself."""
    return [str(parent) for parent in PurePosixPath(path).parents][:-1]


def _remove(checkout: Path, path: str) -> None:
    with suppress(FileNotFoundError, NotADirectoryError):
        (checkout / path).unlink()
    with suppress(OSError):
        for parent in _parents(path):
            (checkout / parent).rmdir()


def _make_room(checkout: Path, path: str, aside: Path) -> Iterator[str]:
    for parent in reversed(_parents(path)):
        folder = checkout / parent
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            _move(folder, aside / parent)
            yield parent
        folder.mkdir(exist_ok=True)
    if (checkout / path).is_dir() and not (checkout / path).is_symlink():
        _move(checkout / path, aside / path)
        yield path


def _copy(source: Path, target: Path) -> None:
    from shutil import copy2

    mode = source.lstat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISLNK(mode):
        return _move(source, target)
    target.parent.mkdir(parents=True, exist_ok=True)
    copy2(source, target, follow_symlinks=False)


def _move(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    source.replace(target)
