"""What a sync tells: how far it is, what it changed."""

import os
import re
from dataclasses import dataclass

from tools.core import calls
from tools.core.json_types import JsonObject
from tools.klipper.checkout import git
from tools.klipper.checkout.generations import Generation
from tools.klipper.errors import failure
from tools.klipper.sources import Source

STEP = 10
"""Per cent of one source between two reports."""
RECEIVING = re.compile(rb"Receiving objects: +(\d+)%")
"""A line of git's progress: `Receiving objects:  42% (5/12)`."""
RENAMES = ("diff", "--no-index", "--no-ext-diff", "--name-status", "-z", "-M50%", "-l50", "--diff-filter=R")
"""Two folders compared by contents: `R<likeness> NUL old path NUL new path NUL` for each file that is renamed. Of more
than 50 files gone or come only those with the same contents count."""


@dataclass
class Progress:
    """The part that one of `count` sources has in the whole call, told in steps that only grow."""

    label: str
    index: int
    count: int
    percent: float = 0

    def at(self, percent: float, step: str) -> None:
        """This source is `percent` done and now at `step`."""
        self.percent = percent
        calls.report(round(100 * self.index + percent), 100 * self.count, f"{self.label}: {step}")

    def hear(self, start: float, end: float, errors: bytes) -> None:
        """Read what git writes to stderr while it takes this source from `start` to `end` per cent."""
        for match in RECEIVING.finditer(errors):
            percent = start + (end - start) * int(match[1]) / 100
            if percent >= self.percent + STEP:
                self.at(percent, "receiving objects")


def answer(source: Source, old: Generation, new: Generation) -> JsonObject:
    """The answer about one source: commits, pages by what became of them with their change of size in bytes."""
    files = old.files_now()
    restored = [path for path, blob in old.files.items() if new.files.get(path) == blob != files.get(path)]
    pages = sorted(page for path in restored if (page := _page(source, path)))
    rest = {"new": new.title, **_changes(source, old, new), **({"restored": pages} if pages else {})}
    if not old.commit:
        return {"status": "cloned", "old": None, **rest}
    if (old.commit, old.docs) != (new.commit, new.docs):
        return {"status": "updated", "old": old.title, **rest}
    return {"status": "restored" if restored else "already up to date", **rest}


def only_read(source: Source) -> JsonObject:
    """The answer about a checkout that sync_docs did not make.

    Raises ToolError NOT_A_CHECKOUT if there are no pages in it.
    """
    if not source.root.is_dir():
        raise failure("NOT_A_CHECKOUT", f"{source.checkout} is there, but there is no documentation in it")
    note = (
        "sync_docs did not make this checkout and only reads it: nothing was changed. Its owner keeps it up to date: "
        "Moonraker's update manager for the printer's own ~/klipper, git for others."
    )
    return {"status": "only read", "folder": str(source.checkout), "note": note}


def _changes(source: Source, old: Generation, new: Generation) -> JsonObject:
    kinds: dict[str, dict[str, int]] = {"added": {}, "changed": {}, "removed": {}, "renamed": {}}
    renamed, other_files = _renamed(source, old, new), 0
    for path in sorted(path for path in {*old.files, *new.files} if old.files.get(path) != new.files.get(path)):
        page, origin = _page(source, path), renamed.get(path, path)
        change = new.size(path) - (old.size(origin) if origin in old.files else 0)
        if not page:
            other_files += 1
        elif path in renamed:
            kinds["renamed"][f"{_page(source, origin)} → {page}"] = change
        elif path not in renamed.values():
            kind = "added" if path not in old.files else "changed" if path in new.files else "removed"
            kinds[kind][page] = change
    return {name: value for name, value in {**kinds, "other_files": other_files}.items() if value}


def _renamed(source: Source, old: Generation, new: Generation) -> dict[str, str]:
    """The old path of each page that is renamed. Pages gone and come without being alike are not among them."""
    folders = [str(generation.folder / generation.docs) for generation in (old, new)]
    # 1: they differ; 128: there is no old one
    rows = git.run(*RENAMES, "--", *folders, statuses=(0, 1, 128)).split("\0")
    pairs = zip(rows[2::3], rows[1::3], strict=False)
    paths = {os.path.relpath(after, new.folder): os.path.relpath(before, old.folder) for after, before in pairs}
    return {after: before for after, before in paths.items() if _page(source, after) and before in old.files}


def _page(source: Source, path: str) -> str:
    """The path that read_doc takes; empty for what is not a page."""
    inside = path[len(source.docs) + 1 :]
    if any(part.startswith(".") for part in inside.split("/")) or not inside.lower().endswith(".md"):
        return ""
    return source.prefix + os.fsencode(inside).decode("utf-8", "replace")
