"""Whether the documentation is behind its upstream: asked in the background, shared by all sessions through a stamp."""

import json
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tools.core import locks, registry
from tools.core import settings as core_settings
from tools.core.errors import ToolError
from tools.core.files import replace_file
from tools.core.json_types import JsonObject
from tools.klipper import settings
from tools.klipper.checkout import folder, upstream
from tools.klipper.checkout.address import validate, without_secrets
from tools.klipper.sources import Source, configured

logger = logging.getLogger(__name__)

NOTE = "(РЕКОМЕНДУЕТСЯ: база устарела)"
LOCK = "klipper-docs-stamp"
CHECK = "klipper-docs-check"
CHECK_TIMEOUT_S = 120


def note() -> str:
    """NOTE while a source is known to be behind. Reads the stamp and a link; no process."""
    stamps = _read()
    return NOTE if any(known(source, stamps) for source in configured()) else ""


def known(source: Source, stamps: JsonObject | None = None) -> bool | None:
    """Whether the source is behind, as far as the last check tells; None if it does not."""
    stamp = _stamp(source, _read() if stamps is None else stamps)
    head, tip = stamp.get("head"), stamp.get("upstream")
    if not head or not tip or head != folder.head(source):
        return None
    return head != tip


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
    if core_settings.current().read_only:
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
    """Those that a sync made, and whose last look was an interval ago."""
    interval_s, stamps = settings.current().klipper_docs_check_interval_s, _read()
    here = [source for source in configured() if folder.is_there(source)]
    return [source for source in here if not 0 <= time.time() - _stamp(source, stamps).get("checked", 0) < interval_s]


def _look(source: Source) -> None:
    """Compare what is here with the upstream's tip. That is asked for by name: nothing is fetched."""
    try:
        validate(source.label, source.url, source.branch)
        remember(source, folder.head(source), upstream.ask(source).commit)
    except (ToolError, OSError) as error:
        if getattr(error, "code", "") != "CANCELLED":
            logger.warning("The upstream of the %s docs was not asked for news: %s", source.label, error)
            last = _stamp(source, _read())  # the attempt counts: without a network not every session tries again
            remember(source, last.get("head", ""), last.get("upstream", ""))


def remember(source: Source, head: str, tip: str) -> None:
    """Note that the source is at `head` and its upstream at `tip`. Nothing depends on it: failing is not an error."""
    entry = {**_address(source), "checked": time.time(), "head": head, "upstream": tip}
    with suppress(ToolError, OSError), locks.exclusive(LOCK, timeout_s=5):
        stamps = {**_read(), str(source.checkout): entry}
        replace_file(core_settings.state_path("klipper-docs.json"), json.dumps(stamps))


def _address(source: Source) -> dict[str, str]:
    return {"url": without_secrets(source.url), "branch": source.branch}


def _stamp(source: Source, stamps: JsonObject) -> JsonObject:
    """What is known of a source; nothing once its address or branch is another."""
    stamp = stamps.get(str(source.checkout))
    if not isinstance(stamp, dict) or not _address(source).items() <= stamp.items():
        return {}
    return stamp if isinstance(stamp.get("checked"), int | float) else {}


def _read() -> JsonObject:
    """Every stamp; none if the file is missing or broken."""
    try:
        stamps = json.loads(core_settings.state_path("klipper-docs.json").read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return stamps if isinstance(stamps, dict) else {}
