"""What a sync changed, as its answer tells it."""

import os
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from tools.errors import ToolError
from tools.klipper.renewal import Moved
from tools.klipper.repository import Repository
from tools.klipper.sources import Source
from tools.klipper.worktree import Entry


def told(repository: Repository, source: Source, moved: Moved) -> dict[str, Any]:
    """The answer about one source: commits, pages by what became of them with their change of size in bytes."""
    groups = _pages(repository, source, moved)
    found: dict[str, Any] = {"status": _status(moved)}
    if moved.old != moved.new:
        found["old"] = commit(repository, moved.old) if moved.old else None
    found["new"] = commit(repository, moved.new)
    found |= {name: group for name, group in groups.items() if group}
    if moved.put_aside:
        folder = str(source.checkout / moved.aside)
        found["local_edits"] = {"pages": [_shown(path) for path in moved.put_aside], "moved_to": folder}
    if moved.damaged:
        found["damaged_moved_to"] = moved.damaged
    if moved.left:
        found["edited_here"] = [_shown(path) for path in moved.left]
    if moved.commits:
        found["local_commits"] = {name[:9]: ref for name, ref in moved.commits.items()}
    return found


def commit(repository: Repository, name: str) -> str:
    """A commit for people: `84104bbbd 2026-08-07`."""
    return repository.text("log", "-1", "--no-show-signature", "--format=%h %cs", "--abbrev=9", name, "--")


def _status(moved: Moved) -> str:
    if not moved.old:
        return "cloned"
    if moved.old != moved.new:
        return "updated"
    return "restored" if moved.written else "already up to date"


def _pages(repository: Repository, source: Source, moved: Moved) -> dict[str, Any]:
    before, after = _named(source, moved.before), _named(source, moved.after)
    written = set(_named(source, {path: moved.after[path] for path in moved.written}))
    renamed = {new: old for new, old in _renames(repository, source, moved).items() if new in after and old in before}
    removed = before.keys() - after.keys() - set(renamed.values())
    added = after.keys() - before.keys() - renamed.keys()
    changed = {page for page in after.keys() & before.keys() if after[page].blob != before[page].blob}
    restored = (written & before.keys()) - changed - renamed.keys()
    then = _sizes(repository, [before[page].blob for page in (*removed, *changed, *renamed.values())])
    now = _sizes(repository, [after[page].blob for page in (*added, *changed, *renamed)])
    return {
        "added": {page: now[after[page].blob] for page in sorted(added)},
        "changed": {page: now[after[page].blob] - then[before[page].blob] for page in sorted(changed)},
        "removed": {page: -then[before[page].blob] for page in sorted(removed)},
        "renamed": {
            f"{old} → {new}": now[after[new].blob] - then[before[old].blob] for new, old in sorted(renamed.items())
        },
        "restored": sorted(restored),
        "other_files": _count_others(source, moved),
    }


def _named(source: Source, files: Mapping[str, Entry]) -> dict[str, Entry]:
    """The pages among these files, by the path that read_doc takes."""
    return {page: entry for path, entry in files.items() if (page := _page(source, path))}


def _count_others(source: Source, moved: Moved) -> int:
    paths = {p for p in (*moved.before, *moved.after) if moved.before.get(p) != moved.after.get(p)} | set(moved.written)
    return sum(not _page(source, path) for path in paths)


def _page(source: Source, path: str) -> str:
    """The path that read_doc takes; empty for what is no page."""
    inside = path.removeprefix(f"{source.docs}/")
    hidden = any(part.startswith(".") for part in inside.split("/"))
    return "" if inside == path or hidden or not path.lower().endswith(".md") else source.prefix + _shown(inside)


def _shown(path: str) -> str:
    return os.fsencode(path).decode("utf-8", "replace")


def _renames(repository: Repository, source: Source, moved: Moved) -> dict[str, str]:
    """new page → old page, where the contents are the same or much alike."""
    if not moved.old or moved.old == moved.new:
        return {}
    words = ["-r", "-z", "--name-status", "--diff-filter=R", moved.old, moved.new, "--", source.docs]
    try:
        listed = repository.run("diff-tree", "--find-renames", *words)
    except ToolError as error:
        if error.code in ("CANCELLED", "TIMEOUT"):
            raise
        listed = repository.run("diff-tree", "--find-renames=100%", *words)
    parts = os.fsdecode(listed).split("\0")
    return {_page(source, new): _page(source, old) for old, new in zip(parts[1::3], parts[2::3], strict=False)}


def _sizes(repository: Repository, blobs: list[str]) -> defaultdict[str, int]:
    """The size in bytes of each; 0 for one that is not here any more."""
    found = defaultdict(int)
    if blobs:
        listed = repository.text("cat-file", "--batch-check", lines=[f"{blob}\n" for blob in blobs])
        rows = [row.split() for row in listed.splitlines()]
        found.update((row[0], int(row[2])) for row in rows if len(row) == 3)
    return found
