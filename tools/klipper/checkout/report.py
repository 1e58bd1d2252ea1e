"""What a sync changed, as its answer tells it."""

import os
from pathlib import Path

from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.klipper.checkout.folder import Outcome
from tools.klipper.checkout.generation import Generation
from tools.klipper.sources import Source

MAX_PAIRS = 2500
"""So many pages gone and come are compared with each other; beyond it only equal ones count as renamed."""


def answer(source: Source, outcome: Outcome) -> JsonObject:
    """The answer about one source: commits, pages by what became of them with their change of size in bytes."""
    old, new, aside = outcome.old, outcome.new, outcome.aside
    result: JsonObject = {"status": _status(outcome)}
    if old is None or old.commit != new.commit:
        result["old"] = old.title if old else None
    result["new"] = new.title
    result |= {name: pages for name, pages in _changes(source, outcome).items() if pages}
    if aside.paths:
        result["local_edits"] = {"pages": [_shown(path) for path in aside.paths], "moved_to": str(aside.folder)}
    return result


def only_read(source: Source) -> JsonObject:
    """The answer about a checkout that sync_docs did not make.

    Raises ToolError NOT_A_CHECKOUT if there are no pages in it.
    """
    if not source.root.is_dir():
        raise ToolError(
            f"{source.checkout} is there, but there is no documentation in it",
            "Move it away, or let KLIPPER_DOCS_DIR name a folder that does not exist yet; then call sync_docs again.",
            code="NOT_A_CHECKOUT",
        )
    note = "sync_docs did not make this checkout and only reads it: nothing was changed. Its owner keeps it up to date"
    return {
        "status": "only read",
        "folder": str(source.checkout),
        "note": f"{note}: Moonraker's update manager for the printer's own ~/klipper, git for others.",
    }


def _status(outcome: Outcome) -> str:
    if outcome.old is None:
        return "cloned"
    if (outcome.old.commit, outcome.old.docs) != (outcome.new.commit, outcome.new.docs):
        return "updated"
    return "restored" if outcome.restored else "already up to date"


def _changes(source: Source, outcome: Outcome) -> JsonObject:
    old, new = outcome.old.files if outcome.old else {}, outcome.new.files
    paths = {path for path in {*old, *new} if old.get(path) != new.get(path)}
    pages = {path: page for path in {*paths, *outcome.restored} if (page := _page(source, path))}
    renamed = {path: before for path, before in outcome.renamed.items() if path in pages and before in pages}
    added = {pages[path]: new[path].size for path in pages if path not in old and path not in renamed}
    removed = {pages[path]: -old[path].size for path in pages.keys() - new.keys() - set(renamed.values())}
    changed = {pages[path]: new[path].size - old[path].size for path in paths & pages.keys() & old.keys() & new.keys()}
    return {
        "added": dict(sorted(added.items())),
        "changed": dict(sorted(changed.items())),
        "removed": dict(sorted(removed.items())),
        "renamed": {
            f"{pages[before]} → {pages[path]}": new[path].size - old[before].size
            for path, before in sorted(renamed.items())
        },
        "restored": sorted(pages[path] for path in outcome.restored if path in pages and path not in paths),
        "other_files": sum(path not in pages for path in paths),
    }


def _page(source: Source, path: str) -> str:
    """The path that read_doc takes; empty for what is not a page."""
    inside = path[len(source.docs) + 1 :]
    is_hidden = any(part.startswith(".") for part in inside.split("/"))
    return "" if is_hidden or not inside.lower().endswith(".md") else source.prefix + _shown(inside)


def _shown(path: str) -> str:
    return os.fsencode(path).decode("utf-8", "replace")


def renames(old: Generation, new: Generation) -> dict[str, str]:
    """The old path of each new page whose contents are those of one that is gone, or at least half alike."""
    from difflib import SequenceMatcher

    gone = [path for path in old.files if path not in new.files]
    come = [path for path in new.files if path not in old.files]
    lines = {
        path: _lines(generation.folder / path) for generation, paths in ((old, gone), (new, come)) for path in paths
    }
    pairs = []
    for after in come:
        matcher = SequenceMatcher(None, [], lines[after], autojunk=False)
        for before in gone if len(gone) * len(come) <= MAX_PAIRS else ():
            matcher.set_seq1(lines[before])
            pairs.append((matcher.quick_ratio(), after, before))  # of the lines in common, in any order
        pairs += [(1.0, after, before) for before in gone if old.files[before].blob == new.files[after].blob]
    renamed: dict[str, str] = {}
    for likeness, after, before in sorted(pairs, reverse=True):
        if likeness >= 0.5 and after not in renamed and before not in renamed.values():
            renamed[after] = before
    return renamed


def _lines(file: Path) -> list[bytes]:
    try:
        return file.read_bytes().splitlines()
    except OSError:
        return []
