"""Whether the documentation is behind its upstream: asked in the background, shared by all sessions through stamps."""

import json
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tools.core import locks, registry
from tools.core import settings as core_settings
from tools.core.errors import Cancelled, ToolError
from tools.core.files import replace_file
from tools.core.json_types import JsonObject
from tools.klipper import settings
from tools.klipper.checkout.update import ask
from tools.klipper.sources import Source, configured

logger = logging.getLogger(__name__)

NOTE = "(РЕКОМЕНДУЕТСЯ: база устарела)"


def note() -> str:
    """NOTE while a source is known to be behind. Reads the stamps and links; no process."""
    return NOTE if any(map(is_behind, configured())) else ""


def is_behind(source: Source) -> bool | None:
    """Whether the source is behind, as far as the last check tells; None if it does not."""
    head, tip = source.head, _stamp(source).get("upstream")
    return head != tip if head and tip else None


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

    One session does it for all: those that start meanwhile wait for what it learns.
    """
    if core_settings.current().read_only:
        return
    try:
        with announcing(), locks.exclusive("klipper-docs-check"):
            for source in configured():
                _compare(source)
    except (ToolError, OSError) as error:
        logger.warning("The Klipper docs were not checked for news: %s", error)
    if note():
        logger.warning("The Klipper docs are behind their upstream; sync_docs brings them up to date")


def _compare(source: Source) -> None:
    """Ask for the upstream's tip by its name, if an interval is over since the last look: nothing is fetched."""
    stamp, interval_s = _stamp(source), settings.current().klipper_docs_check_interval_s
    if not source.head or 0 <= time.time() - stamp.get("checked", 0) < interval_s:
        return
    tip = stamp.get("upstream", "")
    try:
        _, tip = ask(source)
    except Cancelled:
        return
    except (ToolError, OSError) as error:  # the attempt counts: without a network not every session tries again
        logger.warning("The upstream of the %s docs was not asked for news: %s", source.label, error)
    remember(source, tip)


def remember(source: Source, tip: str) -> None:
    """Note that the source's upstream is at `tip` now. Nothing depends on it: failing is not an error."""
    stamp = {"source": _identity(source), "checked": time.time(), "upstream": tip}
    with suppress(OSError):
        replace_file(core_settings.state_path(f"{source.label}-docs.json"), json.dumps(stamp))


def _identity(source: Source) -> list[str]:
    return [str(source.checkout), core_settings.masked(source.url), source.branch]


def _stamp(source: Source) -> JsonObject:
    """What is known of a source; nothing once its address or branch is another, or if the file is broken."""
    try:
        stamp: JsonObject = json.loads(core_settings.state_path(f"{source.label}-docs.json").read_bytes())
        is_valid = stamp["source"] == _identity(source) and isinstance(stamp["checked"], int | float)
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return {}
    return stamp if is_valid else {}
