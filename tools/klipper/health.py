"""The state of the documentation, for `server.py --check`."""

from tools.core.health import Health, check
from tools.klipper.checkout import freshness, generations, git
from tools.klipper.pages import pages
from tools.klipper.settings import folders_to_write, is_foreign, sources

CALL = "Call sync_docs once: python3 -m tools call sync_docs"
STATES = {True: "behind its upstream", False: "up to date at the last look", None: "not yet compared with its upstream"}


@check
def health() -> Health:
    """The pages that are here, their commit and whether it is the newest. No network.

    Raises ToolError if git is missing or a folder to write to cannot be one.
    """
    git.require_git()
    folders_to_write()
    counts = {source: len(list(pages([source]))) for source in sources()}
    if not any(counts.values()):
        return Health("unset", "the documentation is not here yet", CALL)
    parts = []
    for source, count in counts.items():
        if is_foreign(source.checkout):
            state = f" of {source.checkout}, which is only read: its owner updates it"
        elif not source.generation:
            state = f", not fetched into {source.checkout} yet"
        else:
            state = f", {generations.title(source.generation)}, {STATES[freshness.is_behind(source)]}"
        parts.append(f"{source.label}: {count} pages{state}")
    return Health(
        "ok", "; ".join(parts), CALL if not all(counts.values()) else "Call sync_docs" if freshness.note() else ""
    )
