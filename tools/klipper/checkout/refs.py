"""The refs of a repository, read without git: a person's configuration may name programs for it to run."""

import re
from contextlib import suppress
from pathlib import Path

COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
UPSTREAM = ("refs/remotes/", "refs/pi-mcp/seen/")
"""Where what came from the upstream is noted; version 0.1 wrote the second."""


def head(git_dir: Path) -> str:
    """The commit that is checked out; empty if that cannot be told."""
    return _refs(git_dir).get("HEAD", "")


def commits_made_here(git_dir: Path) -> set[str]:
    """The commits that HEAD, branches and stashes are at and that are not the upstream's."""
    refs = _refs(git_dir)
    return set(refs.values()) - {commit for ref, commit in refs.items() if ref.startswith(UPSTREAM)}


def _refs(git_dir: Path) -> dict[str, str]:
    refs: dict[str, str] = {}
    for file in (git_dir / "packed-refs", *(git_dir / "refs").rglob("*"), git_dir / "HEAD"):
        with suppress(OSError, UnicodeDecodeError):
            for line in file.read_text(encoding="utf-8").splitlines():
                target, _, name = line.partition(" ")
                if target == "ref:":
                    target = refs.get(name.strip(), "")
                if COMMIT.fullmatch(target):
                    refs[name if file.name == "packed-refs" else str(file.relative_to(git_dir))] = target
    return refs
