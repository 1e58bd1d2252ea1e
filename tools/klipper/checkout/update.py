"""Bringing one checkout to its upstream's tip, as a new generation of its pages."""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import IO

from tools.core.errors import ToolError
from tools.klipper.checkout import folder, generation, refs, report, upstream
from tools.klipper.checkout.folder import Aside, Outcome
from tools.klipper.checkout.generation import CHUNK_BYTES, LINK, Entry, Generation
from tools.klipper.checkout.ownership import STATE, made_by_version_0_1
from tools.klipper.checkout.progress import Progress
from tools.klipper.checkout.upstream import Repository, Tip
from tools.klipper.sources import Source, generation_of

SUBMODULE = "160000"
EXECUTABLE = "100755"
LS_TREE = ("ls-tree", "-r", "-z", "--full-tree")


def update(source: Source, handle: int, progress: Progress) -> Outcome:
    """Bring a checkout to its upstream's tip. Under its lock.

    Raises ToolError, OSError; the pages are those of one generation whatever happens.
    """
    progress.at(1, "asking the upstream")
    tip = upstream.ask(source)
    current = generation_of(source.checkout)
    old = generation.load(current) if current else None
    if old and (old.commit, old.docs) == (tip.commit, source.docs) and not old.differences():
        outcome = Outcome(old, old, Aside(source.checkout))
    else:
        outcome = _renewed(source, tip, old, handle, progress)
    folder.settle(source, outcome.new, outcome.aside)
    progress.at(100, "done")
    return outcome


def _renewed(source: Source, tip: Tip, old: Generation | None, handle: int, progress: Progress) -> Outcome:
    """Make a generation beside the old one and switch to it."""
    from shutil import rmtree

    repository = Repository(source.checkout / STATE / "new", source.url, [handle])
    rmtree(repository.folder, ignore_errors=True)
    try:
        repository.create(tip)
        tip = repository.fetch(tip, progress)
        old = old or _version_0_1(source, repository)
        new = _build(repository, source, tip, old, progress)
        outcome = Outcome(old, new, Aside(source.checkout))
        if old:
            outcome.renamed = report.renames(old, new)
            outcome.restored = [
                path for path in old.differences() if path in new.files and new.files[path] == old.files.get(path)
            ]
        folder.switch(source, new)
        return outcome
    finally:
        rmtree(repository.folder, ignore_errors=True)


def _version_0_1(source: Source, repository: Repository) -> Generation | None:
    """The pages that version 0.1 checked out, as a generation, and noted as one for when they are moved away."""
    if not made_by_version_0_1(source.checkout):
        return None
    # Its objects in the new repository: a person may have named programs in the old configuration.
    objects = {"GIT_OBJECT_DIRECTORY": str(source.checkout / ".git/objects")}
    commit, files, title = refs.head(source.checkout / ".git"), {}, "unknown"
    with suppress(ToolError):  # damaged: then all that is not the upstream's is put aside
        files = _files(repository.run(*LS_TREE, commit, environ=objects), source.docs)
        title = repository.title(commit, environ=objects)
    for path, entry in files.items():
        with suppress(OSError):
            files[path] = entry._replace(size=(source.checkout / path).lstat().st_size)
    first = source.checkout / STATE / "generations" / folder.FIRST
    first.mkdir(parents=True, exist_ok=True)
    old = Generation(source.checkout, commit, title, source.docs, files)
    old.save(first)
    return old


def _build(repository: Repository, source: Source, tip: Tip, old: Generation | None, progress: Progress) -> Generation:
    """The files of the tip: those that are here already as links, the others from the upstream."""
    files = _files(repository.run(*LS_TREE, tip.commit), source.docs)
    if not files:
        raise ToolError(
            f"The upstream of {source.label} has no folder {source.docs!r} at {tip.commit[:9]} of {tip.branch}",
            "The old pages stay. Correct the address, the branch or the folder's path in the settings.",
            code="NO_DOCS",
        )
    edited = old.differences() if old else {}
    here = {entry[:2]: path for path, entry in old.files.items() if path not in edited} if old else {}
    wanted = {entry.blob: None for entry in files.values() if entry[:2] not in here}
    repository.fetch_contents(wanted, progress)
    progress.at(85, "writing the pages")
    with (repository.folder / "contents").open("wb+") as contents:
        if wanted:
            repository.run("cat-file", "--batch", lines=[f"{blob}\n" for blob in wanted], stdout=contents)
        places = _places(contents)
        # Links last: nothing is ever written through one.
        for path in sorted(files, key=lambda path: files[path].mode == LINK):
            entry, target = files[path], repository.folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if old and entry[:2] in here:
                _link_or_copy(old.folder / here[entry[:2]], target)
            else:
                _write(contents, places[entry.blob], target, entry.mode)
            files[path] = entry._replace(size=target.lstat().st_size)
    (repository.folder / "contents").unlink()
    repository.finish(tip, source.docs)
    new = Generation(repository.folder, tip.commit, repository.title(tip.commit), source.docs, files)
    new.save(new.folder)
    return new


def _files(listed: bytes, docs: str) -> dict[str, Entry]:
    """The files below `docs` of what `git ls-tree` lists.

    Raises ToolError UNSAFE_TREE for a path that could leave the checkout or lead through a link.
    """
    files = {}
    for row in filter(None, os.fsdecode(listed).split("\0")):
        about, _, path = row.partition("\t")
        mode, _, blob = about.split(" ")
        if path.startswith(f"{docs}/") and mode != SUBMODULE:
            files[path] = Entry(mode, blob)
    for path in files:
        through = [str(parent) for parent in PurePosixPath(path).parents if str(parent) in files]
        if through or {"", ".", "..", ".git"} & set(path.lower().split("/")):
            raise ToolError(
                f"The upstream has a file at a path that leads out of the checkout: {path[:200]!r}",
                "Nothing was changed. Do not use this upstream.",
                code="UNSAFE_TREE",
            )
    return files


def _places(contents: IO[bytes]) -> Mapping[str, tuple[int, int]]:
    """Where each object's contents begin in what `git cat-file --batch` wrote, and their size."""
    places = {}
    contents.seek(0)
    while header := contents.readline().split():
        if len(header) != 3:
            hint = "The old pages stay. Call sync_docs again; if it stays so, the upstream is damaged."
            raise ToolError(f"The upstream did not give {header[0].decode()[:10]}", hint, code="INCOMPLETE")
        places[header[0].decode()] = (contents.tell(), int(header[2]))
        contents.seek(int(header[2]) + 1, os.SEEK_CUR)
    return places


def _link_or_copy(file: Path, target: Path) -> None:
    from shutil import copy2

    try:
        os.link(file, target, follow_symlinks=False)
    except OSError:  # a file system without hard links
        copy2(file, target, follow_symlinks=False)


def _write(contents: IO[bytes], place: tuple[int, int], target: Path, mode: str) -> None:
    start, size = place
    contents.seek(start)
    if mode == LINK:
        return target.symlink_to(os.fsdecode(contents.read(size)))
    permissions = 0o777 if mode == EXECUTABLE else 0o666
    with open(target, "xb", opener=lambda path, flags: os.open(path, flags, permissions)) as file:
        while size:
            chunk = contents.read(min(size, CHUNK_BYTES))
            file.write(chunk)
            size -= len(chunk)
        file.flush()
        os.fsync(file.fileno())
