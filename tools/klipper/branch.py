"""The branch of a checkout: where HEAD, the branch and its upstream are, and what was committed here."""

from collections.abc import Sequence

from tools.klipper.repository import Repository, head_of, write_config
from tools.klipper.sources import Source
from tools.klipper.upstream import BASE, REMOTES, Tip

BEGUN = "refs/pi-mcp/begun/"
"""The commits that a sync began to bring the files to; gone once it is done."""
LOCAL = "refs/pi-mcp/local-"
"""Commits made here that no branch holds any more."""


def keep_commits(repository: Repository, tip: Tip) -> dict[str, str]:
    """Commits made here that would be out of reach once the branch moves, each with the ref that holds it from now."""
    said = head_of(repository.git_dir)
    moving = {repository.commit(f"refs/heads/{tip.branch}")}
    if not said.startswith("refs/heads/"):
        moving.add(repository.head())
    known = [*_known(repository), tip.commit]
    kept = {}
    for commit in filter(None, moving):
        if not _reaches(repository, commit, known):
            kept[commit] = f"{LOCAL}{commit[:12]}"
            repository.run("update-ref", kept[commit], commit)
    return kept


def _known(repository: Repository) -> list[str]:
    """The commits that are the upstream's."""
    return list(dict.fromkeys(repository.refs(REMOTES, BASE, BEGUN).values()))


def _reaches(repository: Repository, commit: str, known: Sequence[str]) -> bool:
    """Whether `commit` is one of those that are known, or before one."""
    return commit in known or not repository.text("rev-list", "--max-count=1", commit, "--not", *known)


def follow(repository: Repository, tip: Tip) -> None:
    """HEAD is the branch again, the branch is at the tip, and nothing is begun any more.

    HEAD stands at the commit itself meanwhile, so that it is valid whenever this ends.
    """
    branch = f"refs/heads/{tip.branch}"
    said = head_of(repository.git_dir)
    if said != branch or repository.commit(branch) != tip.commit:
        point_head(repository, tip.commit)
        _drop_branches_in_the_way(repository, branch)
        repository.run("update-ref", branch, tip.commit, interruptible=False)
        point_head(repository, f"ref: {branch}")
    repository.run("update-ref", BASE, tip.commit, interruptible=False)
    for ref in repository.refs(BEGUN):
        repository.run("update-ref", "-d", ref, interruptible=False)


def _drop_branches_in_the_way(repository: Repository, branch: str) -> None:
    known = _known(repository)
    for ref, commit in repository.refs("refs/heads/").items():
        if ref.startswith(f"{branch}/") or branch.startswith(f"{ref}/"):
            if not _reaches(repository, commit, known):
                repository.run("update-ref", f"{LOCAL}{commit[:12]}", commit, interruptible=False)
            repository.run("update-ref", "-d", ref, interruptible=False)


def point_head(repository: Repository, target: str) -> None:
    """Write `.git/HEAD` in one step; git's own command would go through the checkout's hooks."""
    new = repository.private / "HEAD.new"
    new.write_text(f"{target}\n", encoding="utf-8")
    new.replace(repository.git_dir / "HEAD")


def configure(repository: Repository, source: Source, tip: Tip) -> None:
    """Make `@{u}` and a person's own `git pull` go where the settings say."""
    now = repository.config
    everything = f"+refs/heads/*:{REMOTES}*"
    wanted = {
        "remote.origin.url": source.url,
        "remote.origin.fetch": f"+refs/heads/{tip.branch}:{tip.tracking}",
        f"branch.{tip.branch}.remote": "origin",
        f"branch.{tip.branch}.merge": f"refs/heads/{tip.branch}",
    }
    if everything in now.get("remote.origin.fetch", []):
        del wanted["remote.origin.fetch"]
    for name, value in wanted.items():
        if now.get(name) != [value]:
            write_config(repository.git_dir / "config", name, value)
