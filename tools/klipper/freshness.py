"""Whether the documentation is behind its upstream: asked in the background, shared by all sessions through a stamp."""

import json
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tools import locks, registry, settings
from tools.errors import ToolError
from tools.klipper import checkout, upstream
from tools.klipper.git import without_secrets
from tools.klipper.repository import checked_out, opened
from tools.klipper.sources import Source, sources

logger = logging.getLogger(__name__)

NOTE = "(РЕКОМЕНДУЕТСЯ: база устарела)"
LOCK = "klipper-docs-stamp"
CHECK = "klipper-docs-check"
CHECK_TIMEOUT_S = 120
FETCH_TIMEOUT_S = 50
"""With the time to ask it is less than a sync waits for the lock of the checkout, which the check holds meanwhile."""


def note() -> str:
    """NOTE while a source is known to be behind. Reads the stamp and HEAD, no git: a checkout that somebody brought up
    to date by hand is not behind any more."""
    stamps = _read()
    return NOTE if any(_is_behind(one, stamps) for one in sources()) else ""


def known(source: Source) -> bool | None:
    """Whether the source is behind, as far as the last check tells; None where it does not."""
    stamp = _stamp(source, _read())
    if not stamp.get("upstream") or stamp.get("head") != checked_out(source.checkout / ".git"):
        return None
    return stamp["head"] != stamp["upstream"]


@contextmanager
def announcing() -> Iterator[None]:
    """Tell who serves the tools if the note came or went inside."""
    before = note()
    try:
        yield
    finally:
        if note() != before:
            registry.tools_changed()


@registry.at_start
def check() -> None:
    """Ask the upstream of every source that is here and due; say so on stderr if one is behind.

    One session does it for all: those that start meanwhile wait for what it finds.
    """
    if settings.current().read_only:
        return
    try:
        with announcing(), locks.exclusive(CHECK, timeout_s=CHECK_TIMEOUT_S):
            for source in _due():
                _look(source)
    except (ToolError, OSError) as error:
        logger.warning("The Klipper docs were not checked for news: %s", error)
    if note():
        logger.warning("The Klipper docs are behind their upstream; sync_docs brings them up to date")


def _due() -> list[Source]:
    interval_s, stamps = settings.current().klipper_docs_check_interval_s, _read()
    here = [one for one in sources() if checkout.is_there(one)]
    return [one for one in here if not 0 <= time.time() - _stamp(one, stamps).get("checked", 0) < interval_s]


def _look(source: Source) -> None:
    git_dir = source.checkout / ".git"
    try:
        upstream.validate(source)
        with checkout.locked(source, timeout_s=0) as handle, opened(git_dir, source.url, [handle]) as repository:
            checkout.clear_leftovers(git_dir)
            tip = upstream.ask(repository, source)
            what = upstream.kind(repository)
            if what.partial:
                tip, _ = upstream.fetch(repository, tip, what, timeout_s=FETCH_TIMEOUT_S)
            remember(source, checked_out(git_dir), tip.commit)
    except (ToolError, OSError) as error:
        if getattr(error, "code", "") not in ("BUSY", "CANCELLED"):
            logger.warning("The upstream of the %s docs was not asked for news: %s", source.label, error)
            last = _stamp(source, _read())  # the attempt counts: without a network not every session tries again
            remember(source, last.get("head", ""), last.get("upstream", ""))


def remember(source: Source, head: str, tip: str) -> None:
    """Note that the source is at `head` and its upstream at `tip`. Nothing depends on it: failing is no error."""
    with suppress(ToolError, OSError), locks.exclusive(LOCK, timeout_s=5):
        _write({**_read(), str(source.checkout): _entry(source, head, tip)})


def _entry(source: Source, head: str, tip: str) -> dict[str, Any]:
    return {**_address(source), "checked": time.time(), "head": head, "upstream": tip}


def _address(source: Source) -> dict[str, str]:
    return {"url": without_secrets(source.url), "branch": source.branch}


def _stamp(source: Source, stamps: dict[str, Any]) -> dict[str, Any]:
    """What is known of a source; nothing once its address or branch is another."""
    found = stamps.get(str(source.checkout))
    if not isinstance(found, dict) or not _address(source).items() <= found.items():
        return {}
    return found if isinstance(found.get("checked"), int | float) else {}


def _is_behind(source: Source, stamps: dict[str, Any]) -> bool:
    stamp = _stamp(source, stamps)
    head = stamp.get("head")
    if not head or head == stamp.get("upstream") or not stamp.get("upstream"):
        return False
    return checked_out(source.checkout / ".git") == head


def _file() -> Path:
    return settings.current().state_dir / "klipper-docs.json"


def _read() -> dict[str, Any]:
    """Every stamp; none where the file is missing or broken."""
    try:
        found = json.loads(_file().read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(stamps: dict[str, Any]) -> None:
    file = _file()
    new = file.with_suffix(".new")
    new.write_text(json.dumps(stamps), encoding="utf-8")
    new.replace(file)
