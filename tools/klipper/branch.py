"""The branch of a checkout: where HEAD, the branch and its upstream are, and what was committed here."""

from tools.klipper.repository import Refs, Repository, write_config
from tools.klipper.sources import Source
from tools.klipper.upstream import REMOTES, SEEN, Tip

LOCAL = "refs/pi-mcp/local-"
"""Commits made here that no branch holds any more."""


def keep_commits(repository: Repository, refs: Refs, tip: Tip) -> dict[str, str]:
    """Commits made here that would be out of reach once the branch moves, each with the ref that holds it from now."""
    moving = {refs.commits.get(f"refs/heads/{tip.branch}", "")}
    if not refs.head.startswith("refs/heads/"):
        moving.add(refs.checked_out)
    return {commit: _kept(repository, commit) for commit in moving if commit and _is_local(repository, refs, commit)}


def _kept(repository: Repository, commit: str) -> str:
    ref = f"{LOCAL}{commit[:12]}"
    repository.run("update-ref", ref, commit)
    return ref


def _is_local(repository: Repository, refs: Refs, commit: str) -> bool:
    """Whether `commit` is neither one of the upstream's that are known here nor before one."""
    known = set(refs.below(REMOTES, SEEN).values())
    if commit in known:
        return False
    return bool(repository.text("rev-list", "--max-count=1", commit, "--not", *known))


def follow(repository: Repository, tip: Tip) -> None:
    """HEAD is the branch again, and the branch at the tip, which is all that the checkout has seen.

    HEAD stands at the commit itself meanwhile, so that it is valid whenever this ends.
    """
    branch, refs = f"refs/heads/{tip.branch}", repository.refs()
    done = {branch: tip.commit, f"{SEEN}{tip.commit}": tip.commit}
    others = {commit for ref, commit in refs.below("refs/heads/").items() if ref != branch}
    old = [ref for ref, commit in refs.below(SEEN).items() if ref not in done and commit not in others]
    if refs.head == branch and not old and done.items() <= refs.commits.items():
        return
    point_head(repository, tip.commit)
    _drop_branches_in_the_way(repository, refs, branch)
    changes = [f"update {ref} {commit}\n" for ref, commit in done.items()]
    changes += [f"delete {ref}\n" for ref in old]
    repository.run("update-ref", "--stdin", lines=changes, interruptible=False)
    point_head(repository, f"ref: {branch}")


def _drop_branches_in_the_way(repository: Repository, refs: Refs, branch: str) -> None:
    for ref, commit in refs.below("refs/heads/").items():
        if ref.startswith(f"{branch}/") or branch.startswith(f"{ref}/"):
            if _is_local(repository, refs, commit):
                _kept(repository, commit)
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
