"""The repository of a checkout, used through a git directory of our own.

git reads the configuration, hooks and attributes of the repository it works on, and several of these name programs. So
it is never pointed at a checkout's `.git` but at a private git directory that shares only objects and refs with it;
and pages are written from raw objects, which no filter touches.
"""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools.errors import ToolError
from tools.klipper import git

PRIVATE = "pi-mcp"
SHARED = ("objects", "refs", "packed-refs", "shallow")
PLACES = ("refs/heads", "refs/remotes/origin", "refs/pi-mcp")
HASHES = ("sha1", "sha256")
HEAD = re.compile(r"(ref: +refs/[^\x00-\x20]+)|[0-9a-f]{40,64}")


@dataclass(frozen=True)
class Refs:
    """Where HEAD and the refs were at one moment: `head` is what HEAD says, a ref or a commit."""

    head: str
    commits: dict[str, str]

    @property
    def checked_out(self) -> str:
        """The commit that is checked out; empty before the first."""
        return self.commits.get(self.head, "") if self.head.startswith("refs/") else self.head

    def below(self, *prefixes: str) -> dict[str, str]:
        """Those whose names begin so, each with its commit."""
        return {name: commit for name, commit in self.commits.items() if name.startswith(prefixes)}


@dataclass(frozen=True)
class Repository:
    """The repository of a checkout: its `.git`, and the private git directory through which it is used.

    `config` is what the configuration in `.git` said. `handles` stay open in every git: the lock they belong to holds
    until a git that outlived its server is gone too.
    """

    git_dir: Path
    private: Path
    config: dict[str, list[str]]
    handles: Sequence[int] = ()

    @property
    def checkout(self) -> Path:
        return self.git_dir.parent

    def run(self, *words: str, **how) -> bytes:
        """What git writes to stdout. Raises ToolError with git's own last words."""
        return git.run(*words, git_dir=self.private, folder=self.checkout, handles=self.handles, **how)

    def text(self, *words: str, **how) -> str:
        """The same as text, without the line's end."""
        return os.fsdecode(self.run(*words, **how)).strip()

    def refs(self) -> Refs:
        """Where everything is now."""
        listed = self.text("for-each-ref", "--format=%(objectname) %(refname)", *PLACES)
        commits = {name: commit for commit, _, name in (line.partition(" ") for line in listed.splitlines())}
        return Refs(head_of(self.git_dir), commits)


@contextmanager
def opened(git_dir: Path, url: str = "", handles: Sequence[int] = ()) -> Iterator[Repository]:
    """The repository in `git_dir`, its remote `origin` being `url`. Under the lock of its checkout only."""
    from shutil import rmtree

    private = git_dir / PRIVATE
    rmtree(private, ignore_errors=True)
    private.mkdir()
    try:
        yield _prepared(git_dir, private, url, handles)
    finally:
        rmtree(private, ignore_errors=True)


@contextmanager
def looked_at(git_dir: Path) -> Iterator[Repository]:
    """The repository in `git_dir` for reading only, without its lock; nothing is written into it."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="pi-mcp-") as folder:
        yield _prepared(git_dir, Path(folder), "", ())


def _prepared(git_dir: Path, private: Path, url: str, handles: Sequence[int]) -> Repository:
    for name in SHARED:
        (private / name).symlink_to(git_dir.absolute() / name)
    (private / "HEAD").write_text("ref: refs/heads/pi-mcp\n", encoding="ascii")
    said = read_config(git_dir / "config")
    if "core.repositoryformatversion" not in said:
        raise _damaged(git_dir / "config")
    if said.get("extensions.refstorage", ["files"]) != ["files"]:
        raise ToolError(
            f"{git_dir.parent} keeps its refs in a form that sync_docs does not know",
            "Move it away, or update it with git itself; sync_docs fetches a new one where there is none.",
            code="UNKNOWN_FORMAT",
        )
    kind = said.get("extensions.objectformat", [""])[0]
    quoted = url.replace("\\", "\\\\").replace('"', '\\"')
    config = f"""
[core]
    repositoryformatversion = {int(bool(kind))}
    bare = false
{f"[extensions]{chr(10)}    objectFormat = {kind}" if kind in HASHES else ""}
[remote "origin"]
    url = "{quoted}"
"""
    (private / "config").touch(0o600)
    (private / "config").write_text(config, encoding="utf-8")
    return Repository(git_dir, private, said, handles)


def head_of(git_dir: Path) -> str:
    """What `HEAD` says: a ref, or a commit.

    Raises ToolError CHECKOUT_DAMAGED.
    """
    try:
        said = (git_dir / "HEAD").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        said = ""
    if not HEAD.fullmatch(said):
        raise _damaged(git_dir / "HEAD")
    return said.removeprefix("ref: ").strip()


def _damaged(file: Path) -> ToolError:
    return ToolError(f"The checkout is damaged: {file} cannot be read", git.DAMAGED, code="CHECKOUT_DAMAGED")


def checked_out(git_dir: Path) -> str:
    """The commit that is checked out, read without git; empty where that cannot be said."""
    try:
        name = head_of(git_dir)
        if not name.startswith("refs/"):
            return name
        loose = git_dir / name
        if loose.is_file():
            return loose.read_text(encoding="ascii").strip()
        packed = (git_dir / "packed-refs").read_text(encoding="utf-8").splitlines()
        return next((line.partition(" ")[0] for line in packed if line.endswith(f" {name}")), "")
    except (ToolError, OSError, UnicodeDecodeError):
        return ""


def read_config(file: Path) -> dict[str, list[str]]:
    """What a configuration file says, without what it includes. git runs nothing of it."""
    listed = _config("--list", "-z", file=file)
    found: dict[str, list[str]] = {}
    for entry in filter(None, os.fsdecode(listed).split("\0")):
        name, _, value = entry.partition("\n")
        found.setdefault(name, []).append(value)
    return found


def write_config(file: Path, name: str, value: str) -> None:
    """Set a name in a configuration file to one value."""
    _config("--replace-all", name, value, file=file)


def _config(*words: str, file: Path) -> bytes:
    return git.run(
        "config", "--file", str(file), *words, git_dir=Path(os.devnull), folder=Path("/"), interruptible=False
    )
