"""How the documentation is, for `server.py --check`."""

from tools.core.health import Health, check
from tools.klipper.checkout import freshness, generations, git
from tools.klipper.ownership import is_foreign
from tools.klipper.pages import pages
from tools.klipper.sources import Source, folders_to_write, generation_of, sources

CALL = "Call sync_docs once: python3 -m tools call sync_docs"
STATES = {True: "behind its upstream", False: "up to date at the last look", None: "not yet compared with its upstream"}


@check
def health() -> Health:
    """The pages that are here, their commit and whether it is the newest. No network.

    Raises ToolError if git is missing or a folder to write to cannot be one.
    """
    git.require_git()
    folders_to_write()
    every = sources()
    if not any(map(_count, every)):
        return Health("unset", "the documentation is not here yet", CALL)
    summary = "; ".join(_summary(source) for source in every)
    if not all(map(_count, every)) or "damaged" in summary:
        return Health("ok", summary, CALL)
    return Health("ok", summary, "Call sync_docs" if freshness.note() else "")


def _summary(source: Source) -> str:
    count = f"{source.label}: {_count(source)} pages"
    if is_foreign(source.checkout):
        return f"{count} of {source.checkout}, which is only read: its owner updates it"
    if not source.head:
        return f"{count}, not fetched into {source.checkout} yet"
    return f"{count}, {_commit(source)}, {STATES[freshness.is_behind(source)]}"


def _commit(source: Source) -> str:
    current = generation_of(source.checkout)
    if current is None:
        return "checked out by version 0.1"
    return generations.load(current, source.docs).title


def _count(source: Source) -> int:
    return sum(page.file.is_relative_to(source.root) for page in pages())
