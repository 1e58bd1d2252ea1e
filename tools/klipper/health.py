"""How the documentation is, for `server.py --check`."""

from tools.klipper import changes, checkout, freshness, git
from tools.klipper.pages import pages
from tools.klipper.repository import looked_at
from tools.klipper.sources import Source, sources
from tools.registry import Health, check

CALL = "Call sync_docs once: python3 -m tools call sync_docs"
STATES = {True: "behind its upstream", False: "up to date at the last look", None: "not yet compared with its upstream"}


@check
def health() -> Health:
    """The pages that are here, their commit and whether it is the newest. No network.

    Raises ToolError where git is missing or a checkout is damaged.
    """
    git.require_git()
    every = sources()
    if not any(checkout.is_there(one) or _count(one) for one in every):
        return Health("unset", "the documentation is not here yet", CALL)
    summary = "; ".join(_summary(one) for one in every)
    if not all(checkout.is_there(one) for one in every):
        return Health("ok", summary, CALL)
    return Health("ok", summary, "Call sync_docs" if freshness.note() else "")


def _summary(source: Source) -> str:
    count = f"{source.label}: {_count(source)} pages"
    git_dir = source.checkout / ".git"
    if not checkout.is_there(source):
        return f"{count}, no git checkout in {source.checkout}"
    with looked_at(git_dir) as repository:
        head = repository.refs().checked_out
        about = changes.commit(repository, head) if head else "no commit"
    return f"{count}, {about}, {STATES[freshness.known(source)]}"


def _count(source: Source) -> int:
    return sum(page.file.is_relative_to(source.root) for page in pages())
