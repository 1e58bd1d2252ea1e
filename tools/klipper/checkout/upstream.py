"""The upstream of a checkout: what its tip is, and fetching that into a new repository."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tools.core.errors import ToolError
from tools.klipper.checkout import git
from tools.klipper.checkout.address import BRANCH, address, invalid
from tools.klipper.checkout.progress import Progress
from tools.klipper.sources import Source

ROOM_BYTES = 64 * 1024
PARTIAL = {"remote.origin.promisor": "true", "remote.origin.partialclonefilter": "blob:none"}
"""Given to fetches only: other commands on a repository that says so would fetch each object they miss."""
FETCH = ("fetch", "--progress", "--filter=blob:none", "--no-tags", "--no-write-fetch-head")
CONFIG = """\
[core]
	repositoryformatversion = 1
	worktree = ..
	sparseCheckout = true
[extensions]
	partialClone = origin
	objectFormat = {format}
[remote "origin"]
	url = "{url}"
	fetch = "+refs/heads/{branch}:refs/remotes/origin/{branch}"
	promisor = true
	partialclonefilter = blob:none
[branch "{branch}"]
	remote = origin
	merge = "refs/heads/{branch}"
"""
"""For a person's own git, so that `git log` and `git rev-parse HEAD @{u}` work in the checkout."""


class Tip(NamedTuple):
    """The newest commit of the branch that a source follows."""

    branch: str
    commit: str

    @property
    def hash_name(self) -> str:
        """The hash that names its objects."""
        return "sha256" if len(self.commit) == 64 else "sha1"


def ask(source: Source) -> Tip:
    """The upstream's tip: of the branch in the settings, else of its default branch. Fetches nothing.

    Raises ToolError: unreachable, no such branch.
    """
    wanted = f"refs/heads/{source.branch}" if source.branch else "HEAD"
    url, environ = address(source.url)
    words = ("ls-remote", "--symref", "--", url, wanted)
    listed = git.run(*words, git_dir=Path(os.devnull), environ=environ, timeout_s=git.CONTACT_TIMEOUT_S)
    rows = [line.split("\t") for line in os.fsdecode(listed).splitlines()]
    commit = next((value for value, name in rows if name == wanted and not value.startswith("ref: ")), "")
    target = next((value.removeprefix("ref: ") for value, name in rows if name == wanted and value != commit), wanted)
    branch = target.removeprefix("refs/heads/")
    if not commit or branch == target or not BRANCH.fullmatch(branch):
        missing = f"has no branch {source.branch!r}" if source.branch else "is empty or names no default branch"
        raise invalid(f"The upstream of {source.label} {missing}")
    return Tip(branch, commit)


@dataclass(frozen=True)
class Repository:
    """A new repository in `folder`, into which one commit is fetched. It has seen nothing before, so no history, no
    lost object and no configuration of an older one can be in the way."""

    folder: Path
    url: str
    handles: Sequence[int]
    """They stay open in every git: the lock they belong to holds until a git that outlived its server is gone too."""

    def run(self, *words: str, **options: Any) -> bytes:
        """What git writes to stdout. Raises ToolError with git's own last words."""
        try:
            return git.run(*words, git_dir=self.folder / ".git", folder=self.folder, handles=self.handles, **options)
        except ToolError as error:
            if error.code == "GIT_FAILED":  # it often does not say that the disk is full: then this raises OSError
                (self.folder / "room").write_bytes(bytes(ROOM_BYTES))
                (self.folder / "room").unlink()
            raise

    def create(self, tip: Tip) -> None:
        """Make it, empty."""
        self.folder.mkdir()
        self.run("init", "--quiet", "--template=", f"--object-format={tip.hash_name}")

    def fetch(self, tip: Tip, progress: Progress) -> Tip:
        """Bring the tip here, without contents. Gives the tip that came, which may be newer."""
        tracking = f"refs/remotes/origin/{tip.branch}"
        self._fetch("--depth=1", "origin", f"+refs/heads/{tip.branch}:{tracking}", heard=progress.listener(5, 40))
        return Tip(tip.branch, os.fsdecode(self.run("rev-parse", "--verify", tracking)).strip())

    def fetch_contents(self, blobs: Iterable[str], progress: Progress) -> None:
        """Bring the contents of these objects, all at once, unless an upstream without filters sent them already."""
        if lines := [f"{blob}\n" for blob in blobs]:
            self._fetch("--stdin", "origin", lines=lines, heard=progress.listener(40, 85))

    def _fetch(self, *words: str, **options: Any) -> None:
        url, environ = address(self.url)
        # No negotiation: there is nothing here yet that the upstream could know.
        config = {**PARTIAL, "remote.origin.url": url, "fetch.negotiationAlgorithm": "noop"}
        self.run(*FETCH, *words, config=config, environ=environ, timeout_s=git.FETCH_TIMEOUT_S, **options)

    def title(self, commit: str, **options: Any) -> str:
        """A commit for people: `84104bbbd 2026-08-07`."""
        words = ("log", "-1", "--no-walk", "--no-show-signature", "--format=%h %cs", "--abbrev=9", commit, "--")
        return os.fsdecode(self.run(*words, **options)).strip()

    def finish(self, tip: Tip, docs: str) -> None:
        """Make it a sparse checkout of the tip for a person's own git: the branch, an index, a configuration."""
        git_dir = self.folder / ".git"
        self.run("update-ref", f"refs/heads/{tip.branch}", tip.commit)
        self.run("read-tree", tip.commit)
        paths = os.fsdecode(self.run("ls-files", "-z")).split("\0")
        outside = [f"{path}\0" for path in paths if path and not path.startswith(f"{docs}/")]
        self.run("update-index", "--skip-worktree", "-z", "--stdin", lines=outside)
        (git_dir / "info").mkdir(exist_ok=True)
        (git_dir / "info/exclude").write_text("/manifest.json\n", encoding="utf-8")
        (git_dir / "info/sparse-checkout").write_text(f"/{docs}/\n", encoding="utf-8")
        url, branch = (text.replace("\\", "\\\\").replace('"', '\\"') for text in (address(self.url).url, tip.branch))
        config = CONFIG.format(format=tip.hash_name, url=url, branch=branch)
        (git_dir / "config").write_text(config, encoding="utf-8")
        (git_dir / "HEAD").write_text(f"ref: refs/heads/{tip.branch}\n", encoding="utf-8")
