"""Bringing one checkout to its upstream's newest commit."""

import os
import time
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path

from tools.errors import ToolError
from tools.klipper import branch, checkout, git, switch, upstream, worktree
from tools.klipper.progress import Progress
from tools.klipper.repository import Refs, Repository, opened, read_config
from tools.klipper.sources import Source
from tools.klipper.upstream import Tip
from tools.klipper.worktree import Entry, Scope

ASIDE = "local-edits"
"""The folder of the checkout, beside the pages, for what was edited here and then changed upstream."""
CONFIG = """\
[core]
	sparseCheckout = true
	sparseCheckoutCone = false
[extensions]
	partialClone = origin
[remote "origin"]
	promisor = true
	partialclonefilter = blob:none
"""
EXCLUDE = f"/{ASIDE}/\n"
MOST_PACKS = 40


@dataclass
class Moved:
    """What became of a checkout: the commits, its files then and now, and what was made here."""

    old: str
    new: str
    before: dict[str, Entry]
    after: dict[str, Entry]
    written: list[str] = field(default_factory=list)
    damaged: str = ""
    aside: str = ""
    put_aside: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    commits: dict[str, str] = field(default_factory=dict)


def synced(source: Source, handle: int, progress: Progress) -> Moved:
    """Bring a checkout to its upstream's tip, cloning it where it is not there. Under its lock.

    Raises ToolError; the pages that were there stay as they were then.
    """
    upstream.validate(source)
    with checkout.writable(source):
        if not checkout.is_there(source):
            return _cloned(source, handle, progress)
        try:
            return _updated(source, source.checkout, handle, progress)
        except ToolError as error:
            if error.code != "CHECKOUT_DAMAGED" or not _is_ours(source):
                raise
            return _cloned_anew(source, handle, progress)


def _cloned_anew(source: Source, handle: int, progress: Progress) -> Moved:
    """A clone in place of a checkout that power loss or a worn card has damaged, which is moved beside it."""
    damaged = _free(source.checkout.with_name(f"{source.checkout.name}.damaged"))
    moved = _cloned(source, handle, progress, damaged)
    moved.damaged = str(damaged)
    return moved


def _is_ours(source: Source) -> bool:
    exclude = source.checkout / ".git" / "info" / "exclude"
    return exclude.is_file() and exclude.read_bytes() == EXCLUDE.encode()


def _cloned(source: Source, handle: int, progress: Progress, damaged: Path | None = None) -> Moved:
    from shutil import rmtree

    made = source.checkout.parent / f".{source.checkout.name}.new"
    rmtree(made, ignore_errors=True)
    if not damaged and source.checkout.exists() and (not source.checkout.is_dir() or any(source.checkout.iterdir())):
        raise ToolError(
            f"{source.checkout} is there but no git checkout (a linked worktree is none either)",
            "Move it away, or let KLIPPER_DOCS_DIR name a folder that does not exist yet; then call sync_docs again.",
            code="NOT_A_CHECKOUT",
        )
    try:
        _initialize(source, made)
        moved = _updated(source, made, handle, progress)
        if damaged:
            source.checkout.replace(damaged)
        made.replace(source.checkout)
        return moved
    finally:
        rmtree(made, ignore_errors=True)


def _initialize(source: Source, folder: Path) -> None:
    """An empty repository that is shallow, sparse and takes blobs on demand, for a person's own git too."""
    folder.mkdir()
    git_dir = folder / ".git"
    git.run("init", "--quiet", "--template=", git_dir=git_dir, folder=folder)
    with (git_dir / "config").open("a", encoding="utf-8") as config:
        config.write(CONFIG)
    (git_dir / "info").mkdir(exist_ok=True)
    (git_dir / "info" / "sparse-checkout").write_text(f"/{source.docs}/\n", encoding="utf-8")
    (git_dir / "info" / "exclude").write_text(EXCLUDE, encoding="utf-8")


def _updated(source: Source, folder: Path, handle: int, progress: Progress) -> Moved:
    checkout.clear_leftovers(folder / ".git")
    with opened(folder / ".git", source.url, [handle]) as repository:
        progress.at(1, "asking the upstream")
        what = upstream.kind(repository)
        tip, refs = upstream.fetch(repository, upstream.ask(repository, source), what, progress)
        moved = _move(repository, source, refs, tip, progress)
        branch.configure(repository, source, tip)
        branch.follow(repository, tip)
        if what.partial:
            _tidy(repository)
        progress.at(100, "done")
        return moved


def _tidy(repository: Repository) -> None:
    """Every fetch leaves a pack. Many become one; nothing is dropped, reachable or not. The sync is done without it."""
    if len(list((repository.git_dir / "objects/pack").glob("*.pack"))) > MOST_PACKS:
        with suppress(ToolError):
            repository.run("repack", "-a", "-d", "-k", "-q", config=upstream.PARTIAL)


def _move(repository: Repository, source: Source, refs: Refs, tip: Tip, progress: Progress) -> Moved:
    """Bring the files, the index and HEAD to the tip."""
    old, scope = refs.checked_out, _scope(repository, source)
    after = worktree.tree(repository, tip.commit, scope)
    if not any(path.startswith(f"{source.docs}/") for path in after):
        raise ToolError(
            f"The upstream of {source.label} has no folder {source.docs!r} at {tip.commit[:9]} of {tip.branch}",
            "The old pages stay. Correct the address, the branch or the folder's path in the settings.",
            code="NO_DOCS",
        )
    before = worktree.tree(repository, old, scope) if old != tip.commit else after
    begun = set(refs.below(upstream.SEEN).values()) - {old, tip.commit}
    others = [worktree.tree(repository, commit, scope) for commit in begun]
    plan = worktree.compare(repository.checkout, after, before, others)
    moved = Moved(old, tip.commit, before, after, left=plan.kept)
    moved.commits = branch.keep_commits(repository, refs, tip)
    if not plan and old == tip.commit:
        return moved
    upstream.fetch_contents(repository, [entry.blob for entry in plan.write.values()], progress)
    progress.at(85, "writing the pages")
    staged = switch.stage(repository, plan) if plan.write else {}
    index = _index(repository, tip, scope)
    repository.run("update-ref", f"{upstream.SEEN}{tip.commit}", tip.commit)
    plan = worktree.compare(repository.checkout, after, before, others)  # the network took its time: edited meanwhile?
    staged = {path: file for path, file in staged.items() if path in plan.write}
    aside = _free(repository.checkout / ASIDE / "edits")
    moved.put_aside = switch.switch(repository.checkout, plan, staged, aside)
    moved.aside, moved.written, moved.left = f"{ASIDE}/{aside.name}", list(staged), plan.kept
    index.replace(repository.git_dir / "index")
    branch.point_head(repository, tip.commit)
    return moved


def _free(path: Path) -> Path:
    """`path` with the time and, where that is taken, a number."""
    first = path.with_name(f"{path.name}-{time.strftime('%Y%m%d-%H%M%S')}")
    numbered = (first.with_name(f"{first.name}.{number}") for number in count(2))
    return next(one for one in chain([first], numbered) if not one.exists())


def _scope(repository: Repository, source: Source) -> Scope:
    """Which files lie in the checkout: in a sparse one the pages, and what else a person checked out; else all."""
    prefix = f"{source.docs}/"
    if not _is_sparse(repository):
        return lambda path: True
    index, listed = repository.git_dir / "index", b""
    try:
        if index.is_file():
            listed = repository.run("ls-files", "-t", "-z", environ={"GIT_INDEX_FILE": str(index)})
    except ToolError as error:
        if error.code in ("CANCELLED", "TIMEOUT"):
            raise
    present = {os.fsdecode(entry[2:]) for entry in listed.split(b"\0") if entry[:2] == b"H "}
    return lambda path: path.startswith(prefix) or path in present


def _is_sparse(repository: Repository) -> bool:
    """`git sparse-checkout` writes to a configuration file of its own."""
    own = repository.git_dir / "config.worktree"
    said = repository.config | (read_config(own) if own.is_file() else {})
    return said.get("core.sparsecheckout") == ["true"]


def _index(repository: Repository, tip: Tip, scope: Scope) -> Path:
    """A new index of the tip; what is not in the checkout is marked so."""
    index = repository.private / "index"
    environ = {"GIT_INDEX_FILE": str(index)}
    repository.run("read-tree", tip.commit, environ=environ)
    paths = os.fsdecode(repository.run("ls-files", "-z", environ=environ)).split("\0")
    outside = [f"{path}\0" for path in paths if path and not scope(path)]
    if outside:
        repository.run("update-index", "--skip-worktree", "-z", "--stdin", lines=outside, environ=environ)
    return index
