"""The upstream of a checkout: where it is now, and bringing that here."""

import re
from dataclasses import dataclass

from tools.errors import ToolError
from tools.klipper import git
from tools.klipper.progress import Progress
from tools.klipper.repository import Refs, Repository
from tools.klipper.sources import Source

REMOTES = "refs/remotes/origin/"
SEEN = "refs/pi-mcp/seen/"
"""The commits of the upstream's that the checkout is at, or a killed sync began to go to: files may be theirs, and what
is none of them, nor before one, was committed here. After a sync there is that of each branch."""

BRANCH = re.compile(r"(?!-)(?!.*(\.\.|@\{|//|/\.|\.lock(/|$)))[^\x00-\x20\x7f~^:?*\[\\]+(?<![./])")

PARTIAL = {"remote.origin.promisor": "true", "remote.origin.partialclonefilter": "blob:none"}
BLOBLESS = "--filter=blob:none"
FETCH = ("fetch", "--progress", "--no-tags", "--no-write-fetch-head", "--no-auto-gc", "--no-show-forced-updates")


@dataclass(frozen=True)
class Tip:
    """The newest commit of the branch that a source follows."""

    branch: str
    commit: str

    @property
    def tracking(self) -> str:
        """The ref here that stands for it."""
        return REMOTES + self.branch


@dataclass(frozen=True)
class Kind:
    """How much of the upstream a checkout holds: `shallow` without history, `partial` blobs on demand."""

    shallow: bool
    partial: bool


def kind(repository: Repository) -> Kind:
    """What the checkout is; one that a person cloned in full stays so."""
    partial = repository.config.get("remote.origin.promisor", []) == ["true"]
    shallow = repository.git_dir / "shallow"
    return Kind(partial or (shallow.is_file() and shallow.stat().st_size > 0), partial)


def validate(source: Source) -> None:
    """Raises ToolError INVALID_UPSTREAM where address or branch could be taken for something else."""
    if not source.url or source.url.startswith("-") or any(ord(char) < 32 for char in source.url):
        raise _invalid(f"The address of {source.label} cannot be: {git.without_secrets(source.url)!r}")
    if source.branch and not BRANCH.fullmatch(source.branch):
        raise _invalid(f"The branch of {source.label} cannot be: {source.branch!r}")


def ask(repository: Repository, source: Source) -> Tip:
    """Where the upstream is: its branch by the settings, else its default. Fetches nothing.

    Raises ToolError: unreachable, no such branch.
    """
    wanted = f"refs/heads/{source.branch}" if source.branch else "HEAD"
    listed = repository.text("ls-remote", "--symref", "origin", wanted, timeout_s=git.CONTACT_TIMEOUT_S)
    rows = [line.split("\t") for line in listed.splitlines()]
    commit = next((value for value, name in rows if name == wanted and not value.startswith("ref: ")), "")
    target = next((value.removeprefix("ref: ") for value, name in rows if name == wanted and value != commit), wanted)
    branch = target.removeprefix("refs/heads/")
    if not commit or branch == target or not BRANCH.fullmatch(branch):
        raise _nothing_there(source)
    return Tip(branch, commit)


def fetch(
    repository: Repository, tip: Tip, what: Kind, progress: Progress | None = None, timeout_s: float = 0
) -> tuple[Tip, Refs]:
    """Bring the tip here, without file contents in a partial checkout. Gives the tip that came, which may be newer,
    and where the refs are then."""
    refs = repository.refs()
    if refs.commits.get(tip.tracking) == tip.commit:
        return tip, refs
    _note_seen(repository, refs)
    _make_room(repository, refs, tip)
    repository.run(
        *FETCH,
        *(["--depth=1"] if what.shallow else ["--update-shallow"]),
        *([BLOBLESS] if what.partial else []),
        "origin",
        f"+refs/heads/{tip.branch}:{tip.tracking}",
        config=PARTIAL if what.partial else None,
        timeout_s=timeout_s or git.FETCH_TIMEOUT_S,
        heard=progress and progress.listener(5, 40),
    )
    refs = repository.refs()
    return Tip(tip.branch, refs.commits[tip.tracking]), refs


def fetch_contents(repository: Repository, objects: list[str], progress: Progress) -> None:
    """Bring the contents that are not here yet of these blobs, all at once."""
    found = repository.text("cat-file", "--batch-check", lines=[f"{one}\n" for one in objects])
    absent = [line.split()[0] for line in found.splitlines() if line.endswith(" missing")]
    if not absent:
        return
    repository.run(
        *FETCH,
        BLOBLESS,
        "--stdin",
        "origin",
        config={**PARTIAL, "fetch.negotiationAlgorithm": "noop"},
        lines=[f"{one}\n" for one in absent],
        timeout_s=git.FETCH_TIMEOUT_S,
        heard=progress.listener(40, 85),
    )


def _note_seen(repository: Repository, refs: Refs) -> None:
    head = refs.checked_out
    if head in refs.below(REMOTES).values() and f"{SEEN}{head}" not in refs.commits:
        repository.run("update-ref", f"{SEEN}{head}", head)


def _make_room(repository: Repository, refs: Refs, tip: Tip) -> None:
    """The upstream's old branch `a` would stand in the way of its new `a/b`."""
    for ref in refs.below(REMOTES):
        if ref.startswith(f"{tip.tracking}/") or tip.tracking.startswith(f"{ref}/"):
            repository.run("update-ref", "--no-deref", "-d", ref)


def _nothing_there(source: Source) -> ToolError:
    if source.branch:
        return _invalid(f"The upstream of {source.label} has no branch {source.branch!r}")
    return _invalid(f"The upstream of {source.label} is empty or names no default branch")


def _invalid(message: str) -> ToolError:
    hint = "Correct KLIPPER_DOCS_URL and KLIPPER_DOCS_BRANCH (or KLIPPER_DOCS_EXTRA). The pages that are here stay."
    return ToolError(message, hint, code="INVALID_UPSTREAM")
