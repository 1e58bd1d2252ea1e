"""The check whether the documentation is behind its upstream: in the background, shared by all sessions
through stamps."""

import json
import logging
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tools.core import settings, toolsets
from tools.toolkit import Cancelled, JsonObject, ToolError, exclusive_lock, replace_file

from ..settings import Source, current, is_foreign_checkout, sources
from . import git

logger = logging.getLogger(__name__)
STALE_NOTE = "(РЕКОМЕНДУЕТСЯ: база устарела)"
# The hint if only checkouts that this server may not change are behind.
NOTE_OF_OWNER = "(база устарела; Moonraker or git pull updates it, not this tool)"


def branch_and_tip(source: Source) -> tuple[str, str]:
    """Ask the upstream of a source for the branch that it follows, the default one if the settings name none,
    and the commit at its tip. Fetches nothing.

    Raises ToolError: unreachable, no such branch, an address with a password.
    """
    # git would show a login in the list of processes and keep it in `.git/config`.
    if re.match(r"(?i)https?://[^/]*@", source.url):
        raise git.failure(
            "INVALID_UPSTREAM",
            f"{settings.masked(source.url)!r} holds a login: store it for git instead (git credential)",
        )
    name = f"refs/heads/{source.branch}" if source.branch else "HEAD"
    rows = git.run("ls-remote", "--symref", "--", source.url, name, timeout_s=git.CONTACT_TIMEOUT_S)
    # A row `commit<tab>name`; before that of HEAD one that says which branch it is.
    row = re.search(rf"(?m)^(?:ref: refs/heads/(.+)\tHEAD\n)?(\w+)\t{re.escape(name)}$", rows)
    branch = source.branch or (row and row[1])
    if not row or not branch:
        missing = f"has no branch {source.branch!r}" if source.branch else "names no default branch"
        raise git.failure("INVALID_UPSTREAM", f"The upstream of {source.label} {missing}")
    return branch, row[2]


def note() -> str:
    """Write the note for the description of sync_docs; "" unless a source is known to be behind. Reads only
    stamps and links."""
    behind = [source for source in sources() if is_behind(source)]
    if not behind:
        return ""
    are_only_read = all(is_foreign_checkout(source.checkout) for source in behind)
    return NOTE_OF_OWNER if are_only_read else STALE_NOTE


def is_behind(source: Source) -> bool | None:
    """True if the last check found the source behind its upstream; None if it is not known."""
    head, tip = source.head, _read_stamp(source).get("upstream")
    return head != tip if head and tip else None


@contextmanager
def announcing() -> Iterator[None]:
    """Tell the session if the note appears or goes inside, or if the pages change, which are resources."""
    before = note(), sources()
    yield
    if (note(), sources()) != before:
        toolsets.tools_changed()


def at_start() -> None:
    """Ask the upstream of every source whose check is due; warn on stderr if one is behind. One session asks
    for all: those that start meanwhile wait for its result.
    """
    if settings.current().read_only:
        return
    try:
        with announcing(), exclusive_lock("klipper-docs-check"):
            for source in sources():
                _check_if_due(source)
    except (ToolError, OSError) as error:
        logger.warning("The Klipper docs were not checked for updates: %s", error)
    if suffix := note():
        remedy = (
            "sync_docs brings them up to date"
            if suffix == STALE_NOTE
            else "their owner updates them"
        )
        logger.warning("The Klipper docs are behind their upstream; %s", remedy)


def _check_if_due(source: Source) -> None:
    """Ask for the upstream's tip if the interval since the last check is over; nothing is fetched."""
    stamp = _read_stamp(source)
    age_s = time.time() - stamp.get("checked", 0)
    if not source.head or 0 <= age_s < current().klipper_docs_check_interval_s:
        return
    tip = stamp.get("upstream", "")
    try:
        _, tip = branch_and_tip(source)
    except Cancelled:
        return
    except (ToolError, OSError) as error:
        # The attempt counts too: without a network not every session should try again.
        logger.warning(
            "The upstream of the %s docs was not asked for updates: %s", source.label, error
        )
    remember(source, tip)


def remember(source: Source, tip: str) -> None:
    """Write a stamp that the source's upstream is at `tip` now. Nothing depends on it: failing is not an
    error."""
    file, identity = _stamp_file(source)
    with suppress(OSError):
        replace_file(
            file, json.dumps({"source": identity, "checked": time.time(), "upstream": tip})
        )


def _read_stamp(source: Source) -> JsonObject:
    """Read the stamp of a source's last check; empty if its address or branch changed since, or if the file
    is broken."""
    file, identity = _stamp_file(source)
    with suppress(OSError, ValueError, LookupError):
        stamp = json.loads(file.read_bytes())
        if stamp["source"] == identity:
            return stamp
    return {}


def _stamp_file(source: Source) -> tuple[Path, list[str]]:
    """Name the file of a source's stamp, and the checkout, address and branch that the stamp must name."""
    file = settings.state_path(f"{source.label}-docs.json")
    return file, [str(source.checkout), settings.masked(source.url), source.branch]
