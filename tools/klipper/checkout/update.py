"""Bringing a checkout to its upstream's tip, as a new generation of pages, and the answer about one source."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from zlib import crc32

from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.settings import masked
from tools.klipper.checkout import generations, git
from tools.klipper.settings import STATE
from tools.klipper.sources import Source, failure, generation_of

# A login in a web address: git would show it in the list of processes and keep it in `.git/config`.
LOGIN = re.compile(r"https?://[^/]*@", re.IGNORECASE)
CLONE = (
    *("clone", "--depth=1", "--filter=blob:none", "--no-checkout", "--single-branch", "--no-tags"),
    *("--no-local", "--template=", "--origin=origin", "--config=core.worktree=.."),
    *("--config=core.sparseCheckout=true", "--config=core.sparseCheckoutCone=false"),
)
"""One commit without contents, in a repository that has seen nothing before: no history, lost object or configuration
of an older one can be in the way. A person's own git finds a sparse checkout there."""
ATTRIBUTES = "* -text -eol -filter -ident -working-tree-encoding\n"
"""Over the upstream's `.gitattributes`: files are written as they are, and through no program."""
ROOM_BYTES = 1 << 20


def ask(source: Source) -> tuple[str, str]:
    """The branch that a source follows, that of the settings or the default one, and its tip. Fetches nothing.

    Raises ToolError: unreachable, no such branch, an address with a password.
    """
    if LOGIN.match(source.url):
        message = f"The address {masked(source.url)!r} holds a login: store it for git instead (git credential)"
        raise failure("INVALID_UPSTREAM", message)
    name = f"refs/heads/{source.branch}" if source.branch else "HEAD"
    # Rows of `commit<tab>name`; --symref adds `ref: refs/heads/main<tab>HEAD`, which names the default branch.
    listed = git.run("ls-remote", "--symref", "--", source.url, name, timeout_s=git.CONTACT_TIMEOUT_S)
    values = [value for value, _, ref in (row.partition("\t") for row in listed.splitlines()) if ref == name]
    branch = source.branch or "".join(value[16:] for value in values if value.startswith("ref: refs/heads/"))
    if not values or not branch:
        missing = f"has no branch {source.branch!r}" if source.branch else "is empty or names no default branch"
        raise failure("INVALID_UPSTREAM", f"The upstream of {source.label} {missing}")
    return branch, values[-1]


def update(source: Source, report: Callable[[int, str], None]) -> JsonObject:
    """Bring a checkout to its upstream's tip, and answer what changed. Under its lock. `report` gets per cent and step.

    Raises ToolError, OSError; the pages are those of one generation whatever happens.
    """
    report(1, "asking the upstream")
    branch, tip = ask(source)
    old = generation_of(source.checkout)
    if old and not (old / source.docs).is_dir():
        old = None
    is_whole = old and not generations.changed(old, source.docs)
    new = old if old and is_whole and old.name.endswith(f"_{tip}") else _renewed(source, branch, report)
    before, after = generations.title(old) if old else None, generations.title(new)
    answer: JsonObject = {"status": "updated" if old else "cloned", "old": before, "new": after}
    if before == after:
        answer = {"status": "already up to date" if old == new else "restored", "new": after}
    if old != new:
        answer |= _changes(source, old, new)
    edited, folder = generations.tidy(source, new)
    report(100, "done")
    if edited:
        answer["local_edits"] = {"pages": [readable(path) for path in edited], "moved_to": str(folder)}
    return answer


@contextmanager
def _place(source: Source) -> Iterator[Path]:
    """A folder for one sync, gone afterwards; those of a sync that was killed go, too."""
    for left in (source.checkout / STATE).glob("new-*"):
        generations.remove(left)
    place = source.checkout / STATE / f"new-{os.urandom(4).hex()}"  # git of a killed sync may still write in another
    try:
        yield place
    finally:
        generations.remove(place)


def _renewed(source: Source, branch: str, report: Callable[[int, str], None]) -> Path:
    """Make a generation beside the old one and switch to it."""
    with _place(source) as place:
        run = partial(git.run, git_dir=place / ".git", timeout_s=git.FETCH_TIMEOUT_S)
        try:
            report(10, "fetching the newest commit")
            run(*CLONE, f"--branch={branch}", "--", source.url, str(place))
            info = place / ".git/info"
            info.mkdir(exist_ok=True)
            (info / "attributes").write_text(ATTRIBUTES, encoding="utf-8")
            # Characters that a pattern takes for others are escaped.
            pattern = re.sub(r"[*?[\\]", r"\\\g<0>", f"/{source.docs}/\n")
            (info / "sparse-checkout").write_text(pattern, encoding="utf-8")
            report(40, "fetching the pages")
            # Makes the index, asks for the contents of all files that the sparse checkout has in one go, writes them.
            run("read-tree", "-m", "-u", "HEAD", environ={"GIT_NO_LAZY_FETCH": "0"})
            commit, day = run("log", "-1", "--format=%H %cs").split()
            if not (place / source.docs).is_dir():
                message = f"The upstream of {source.label} has no folder {source.docs!r} at {commit[:9]} {day}"
                raise failure("NO_DOCS", message)
            report(90, "switching to them")
            return generations.switch(source, place, commit, day)
        except ToolError as error:
            disk = os.statvfs(source.checkout)
            if error.code == "GIT_FAILED" and disk.f_bavail * disk.f_frsize < ROOM_BYTES:  # git often does not say so
                raise failure("DISK_FULL", error.message) from error
            raise


def pages_since(source: Source, day: str) -> list[str]:
    """The pages that commits since a day changed, asked of the upstream: a checkout has no history. Under its lock."""
    branch, _ = ask(source)
    with _place(source) as place:
        run = partial(git.run, git_dir=place, timeout_s=git.FETCH_TIMEOUT_S)
        words = ("--bare", "--filter=blob:none", "--single-branch", "--no-tags", "--no-local", "--template=")
        try:
            run("clone", *words, f"--shallow-since={day}", f"--branch={branch}", "--", source.url, str(place))
        except ToolError as error:
            if "shallow" in error.message:  # no commit is as new as that
                return []
            raise
        run("fetch", "--deepen=1", "origin")  # or the oldest commit would seem to have made every page
        since = ("--format=", "--name-only", "-z", f"--since={day}T00:00:00Z", branch, "--", f"{source.docs}/")
        names = run("log", *since).replace("\n", "\0").split("\0")
        return sorted({_path(source, name) for name in names if _is_page(name)})


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


def _changes(source: Source, old: Path | None, new: Path) -> JsonObject:
    """The pages by what became of them, with their change of size in bytes; other files are counted."""
    before, after = _sums(old, source.docs) if old else {}, _sums(new, source.docs)
    come = sorted(after.keys() - before.keys())
    rows = [("changed", path, path) for path in sorted(after) if before.get(path, after[path]) != after[path]]
    for path in sorted(before.keys() - after.keys()):  # a file of the same name or contents is the same one
        alike = (
            other for other in come if os.path.basename(other) == os.path.basename(path) or after[other] == before[path]
        )
        moved = next(alike, "")
        rows.append(("renamed" if moved else "removed", path, moved))
        come = [other for other in come if other != moved]
    rows += [("added", "", path) for path in come]
    answer: JsonObject = {"added": {}, "changed": {}, "removed": {}, "renamed": {}, "other_files": 0}
    for kind, was, now in rows:
        paths = list(filter(None, dict.fromkeys((was, now))))
        if all(map(_is_page, paths)):
            size = after.get(now, (0, 0))[0] - before.get(was, (0, 0))[0]
            answer[kind][" → ".join(_path(source, path) for path in paths)] = size
        else:
            answer["other_files"] += 1
    return {name: value for name, value in answer.items() if value}


def _sums(generation: Path, docs: str) -> dict[str, tuple[int, int]]:
    """Size and checksum of each file, by its path; of a link those of the path that it leads to."""
    sums = {}
    for folder, _, names in os.walk(generation / docs):
        for path in (os.path.join(folder, name) for name in names):
            data = os.readlink(path).encode() if os.path.islink(path) else Path(path).read_bytes()
            sums[os.path.relpath(path, generation)] = len(data), crc32(data)
    return sums


def _is_page(path: str) -> bool:
    return path.lower().endswith(".md") and "/." not in path


def _path(source: Source, path: str) -> str:
    """The path that read_doc takes."""
    return source.prefix + readable(path.removeprefix(source.docs + "/"))


def readable(path: str) -> str:
    """A path that can be written as JSON, whatever bytes it has."""
    return os.fsencode(path).decode("utf-8", "replace")
