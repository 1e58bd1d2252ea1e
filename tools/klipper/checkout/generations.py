"""The generations of pages in a checkout, each with the files of one commit: how the newest is made, and what
it changed.

`.pi-mcp/generations/<time made>_<day of the commit>_<commit>` is one. `.pi-mcp/current` leads to the one to
read, and the checkout's `docs` and `.git` lead there for people.
"""

# The contract, which lets a sync be killed, or the power go, between any two steps:
# - A generation is made beside the others, under a name of its own, and written to the disk before the
#   switch.
# - The switch is one rename of a link. Before it everybody reads the old generation, after it the new one.
# - A call looks at the link once (`sources` in settings.py). The generation before the current one stays
#   until the next sync, so that a call which began before the switch ends with the pages it began with.
# - Every page and folder of a generation has the day of its commit as its time. What has another time was
#   changed by a person: such a generation is not removed but moved, whole, into `local-edits`.
# - `tidy` does all the rest and may be repeated: a sync that was killed before it leaves it to the next one.

import os
import re
import time
from binascii import crc32
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from tools.toolkit import JsonObject, exclusive_lock, filled

from .. import pages
from ..settings import CURRENT, STATE_FOLDER, Source, generation_of
from . import freshness, git

# A report of progress: percent and step.
ReportStage = Callable[[int, str], None]
GENERATIONS = "generations"
# One commit without contents, in a repository that has seen nothing before: no history, lost object or
# configuration of an older one can be in the way. A person's own git finds a sparse checkout there.
CLONE_ARGUMENTS = (
    "clone --depth=1 --filter=blob:none --no-checkout --single-branch --no-tags --no-local --template= "
    "--origin=origin --config=core.worktree=.. --config=core.sparseCheckout=true "
    "--config=core.sparseCheckoutCone=false"
).split()


@contextmanager
def checkout_lock(source: Source) -> Iterator[None]:
    """Hold the lock of a checkout. It lies in it, so that sessions of any home share it.

    Raises ToolError: BUSY; NOT_WRITABLE or DISK_FULL for what the file system refuses inside.
    """
    path = source.checkout / STATE_FOLDER / "lock"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        with exclusive_lock(f"the checkout of {source.label}", path=path):
            yield
    except OSError as error:
        reason = f"{error.strerror or error}: {error.filename}"
        is_full = re.search(git.FAILURE_PATTERNS["DISK_FULL"], reason)
        raise git.failure(
            "DISK_FULL" if is_full else "NOT_WRITABLE",
            f"The checkout of {source.label} cannot be written: {reason}",
        ) from error


def commit_title(generation: Path) -> str:
    """Name a generation by its commit, shortened, and the commit's day."""
    *_, day, commit = generation.name.split("_")
    return f"{commit[:9]} {day}"


def update_checkout(source: Source, report: ReportStage) -> JsonObject:
    """Bring a checkout, whose lock the caller holds, to its upstream's tip; return what changed. Readers have
    the pages of one generation whatever happens. Raises ToolError, OSError.
    """
    report(1, "asking the upstream")
    branch, tip = freshness.branch_and_tip(source)
    old = generation_of(source.checkout)
    if old and not (old / source.docs).is_dir():
        old = None
    if old and old.name.endswith(f"_{tip}") and not _edited_paths(old, source.docs):
        new = old
        answer: JsonObject = {"status": "already up to date", "new": commit_title(new)}
    else:
        new = _renewed(source, branch, report)
        before, after = old and commit_title(old), commit_title(new)
        status = "updated" if old else "cloned"
        answer = {"status": "restored" if before == after else status, "old": before, "new": after}
        # The pages added, changed and removed.
        old_sums = _checksums(source, old) if old else {}
        new_sums = _checksums(source, new)
        common = old_sums.keys() & new_sums.keys()
        answer |= filled(
            added=sorted(new_sums.keys() - common),
            changed=sorted(page for page in common if old_sums[page] != new_sums[page]),
            removed=sorted(old_sums.keys() - common),
        )
    if edits := tidy(source, new):
        answer["local_edits"] = edits
    report(100, "done")
    return answer


def _renewed(source: Source, branch: str, report: ReportStage) -> Path:
    """Make a generation beside the old one and switch to it. Its temporary folder is removed, and so are
    those of a sync that was killed."""
    folder = source.checkout / STATE_FOLDER
    for unfinished in folder.glob("new-*"):
        _remove(unfinished)
    # A new name: git of a killed sync may still be writing to an older one.
    new_folder = folder / f"new-{os.urandom(4).hex()}"
    try:
        return switch(source, new_folder, _fetch(source, branch, new_folder, report))
    finally:
        _remove(new_folder)


def _fetch(source: Source, branch: str, new_folder: Path, report: ReportStage) -> str:
    """Fetch the pages of a branch's newest commit into a folder; return the commit and its day."""
    run = partial(git.run, git_dir=new_folder / ".git")
    report(10, "fetching the newest commit")
    run(*CLONE_ARGUMENTS, f"--branch={branch}", "--", source.url, str(new_folder))
    info_folder = new_folder / ".git/info"
    info_folder.mkdir(exist_ok=True)
    # Overrides the upstream's `.gitattributes`: files are written as they are, not through a program.
    (info_folder / "attributes").write_text(
        "* -text -eol -filter -ident -working-tree-encoding\n", "utf-8"
    )
    # Characters with a meaning in a pattern are escaped.
    pattern = re.sub(r"[*?[\\]", r"\\\g<0>", f"/{source.docs}/\n")
    (info_folder / "sparse-checkout").write_text(pattern, "utf-8")
    report(40, "fetching the pages")
    # Makes the index, asks for the contents of all files that the sparse checkout has in one go,
    # writes them.
    run("read-tree", "-m", "-u", "HEAD")
    commit = run("log", "-1", "--format=%cs_%H").strip()
    if not (new_folder / source.docs).is_dir():
        raise git.failure(
            "NO_DOCS", f"The upstream of {source.label} has no folder {source.docs!r} at {commit}"
        )
    return commit


def switch(source: Source, new_folder: Path, commit: str) -> Path:
    """Make the new folder a generation and let readers see it from that moment on."""
    folder = new_folder.parent / GENERATIONS / f"{time.time_ns()}_{commit}"
    day_ns = _commit_day_ns(folder)
    for path in _paths_in(new_folder / source.docs):
        os.utime(path, ns=(day_ns, day_ns), follow_symlinks=False)
    os.sync()  # a power cut leaves no empty pages
    folder.parent.mkdir(exist_ok=True)
    new_folder.rename(folder)
    replace_link(new_folder.parent / CURRENT, f"{GENERATIONS}/{folder.name}")
    return folder


def _edited_paths(generation: Path, docs: str) -> list[Path]:
    """List the files that a person changed in a generation, and the folders in which they added or removed
    any."""
    day_ns = _commit_day_ns(generation)
    return [path for path in _paths_in(generation / docs) if path.lstat().st_mtime_ns != day_ns]


def tidy(source: Source, current: Path) -> JsonObject:
    """Point docs and .git at the current generation; delete older ones except the previous.

    Returns the paths that a person edited in them and the folder they were moved to; {} if there are none.
    """
    edits_folder = (
        source.checkout
        / f"local-edits/edits-{time.strftime('%Y%m%d-%H%M%S')}-{os.urandom(4).hex()}"
    )
    edited = []
    for name in (source.docs.partition("/")[0], ".git"):
        path = source.checkout / name
        if path.exists() and not path.is_symlink():
            _move(path, edits_folder)
            edited.append(name)
        replace_link(path, f"{STATE_FOLDER}/{CURRENT}/{name}")
    old_generations = sorted(path for path in current.parent.iterdir() if path != current)
    for folder in old_generations:
        files = [
            path
            for path in _edited_paths(folder, source.docs)
            if path.is_symlink() or not path.is_dir()
        ]
        if files:
            _move(folder, edits_folder)
            edited += [str(path.relative_to(folder.parent)) for path in files]
        elif folder != old_generations[-1]:
            _remove(folder)
    return {"pages": edited, "moved_to": str(edits_folder)} if edited else {}


def _move(path: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    path.rename(folder / path.name)


def _remove(folder: Path) -> None:
    """Remove a folder, as far as that is possible."""
    from shutil import rmtree

    rmtree(folder, ignore_errors=True)


def _commit_day_ns(generation: Path) -> int:
    """Compute the time that all files of a generation have: the day of its commit; 0 for one of an earlier
    version, whose name has no day."""
    from calendar import timegm

    day = generation.name.split("_")[-2]
    return timegm(time.strptime(day, "%Y-%m-%d")) * 10**9 if "-" in day else 0


def _paths_in(folder: Path) -> list[Path]:
    """List a folder and all that is in it, if it is there. Links are not followed."""
    return [folder, *folder.rglob("*")] if folder.is_dir() else []


def replace_link(path: Path, target: str) -> None:
    """Replace a link by one rename: readers have the old target or the new one."""
    link = path.with_name(f"{path.name}.new")
    link.unlink(missing_ok=True)
    link.symlink_to(target)
    link.replace(path)


def _checksums(source: Source, generation: Path) -> dict[str, int]:
    """Compute the checksum of each page, by the path that read_doc takes."""
    checksums = {}
    for page in pages.pages(source._replace(generation=generation)):
        with suppress(OSError):  # a link to itself
            checksums[page.path] = crc32(Path(page.location).read_bytes())
    return checksums
