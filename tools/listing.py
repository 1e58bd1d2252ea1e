"""The answers that clients ask for first, as a session keeps it for the next: all lists, by the settings that
shape them.

To make it, every toolset is imported; to read it, nothing is. Each answer is kept as it is sent, for it is
not read: a line of JSON, behind a first line with the checksum of all.
"""

import os
import threading
import time
from binascii import crc32
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

from tools import results
from tools.core import prompts, registry, resources
from tools.core.files import replace_file
from tools.core.json_types import JsonObject, encodable
from tools.core.settings import Settings, current, sections
from tools.resident import handover

LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")
WITH_PAGES = "tools/list with pages"  # of clients that show them
TOOLSETS = "the toolset of each tool"
DAY_S = 86400
NAMES = (*LISTS, WITH_PAGES, TOOLSETS)
MOST_KEPT = 4  # listings in the state folder: one for each set of settings that clients come with

identity = cache(handover.identity)  # of the sources that are imported now


def make(settings: Settings) -> dict[str, bytes]:
    """All lists as these settings have them, and the toolset of each tool, as JSON. Imports every toolset."""
    answers: JsonObject = {
        name: {"tools": [results.describe(*tool) for tool in registry.listed(settings, shown).items()]}
        for name, shown in (("tools/list", False), (WITH_PAGES, True))
    }
    answers["prompts/list"] = prompts.list_prompts(settings, None)
    answers["resources/list"] = resources.list_resources(settings, None)
    answers["resources/templates/list"] = resources.list_templates(settings, None)
    tools = registry.listed(settings, True).values()
    answers[TOOLSETS] = {name: tool.toolset for tool in tools for name in tool.names}
    return {name: encodable(answers[name])[1].encode() for name in NAMES}


def kept(settings: Settings) -> dict[str, bytes]:
    """The listing that an earlier session kept for the same sources, packages and settings; empty if none is
    whole."""
    with suppress(OSError, ValueError):
        checksum, _, text = _path(settings).read_bytes().partition(b"\n")
        if int(checksum, 16) == crc32(text):
            return dict(zip(NAMES, text.split(b"\n"), strict=True))
    return {}


def keep(settings: Settings, lists: dict[str, bytes]) -> None:
    """Keep a listing for the sessions to come. Nothing depends on it: failing is not an error."""
    text = b"\n".join(lists.values())
    with suppress(OSError):
        replace_file(_path(settings), b"%08x\n" % crc32(text) + text)
        for path in _kept_files(settings)[:-MOST_KEPT]:
            path.unlink()


def keep_beside(settings: Settings) -> Callable[[], object]:
    """Have a child make and keep the listing: on another processor, while this one imports the SDK. Gives
    what waits for its end."""
    pid = os.fork()
    if not pid:
        os.closerange(3, 256)  # the client's ends of its pipes, which would outlive this process
        try:
            keep(settings, make(settings))
        finally:
            os._exit(0)
    waiting = threading.Thread(
        target=os.waitpid, args=(pid, 0), daemon=True
    )  # also if nobody asks for a list
    waiting.start()
    return waiting.join


def keep_later(settings: Settings) -> Callable[[], object]:
    """The making of the listing once it is asked for: in the service, where all is imported."""
    return lambda: keep(settings, make(settings))


def refresh(settings: Settings) -> None:
    """Keep what the lists are now if it is something else, and tell the client that they changed."""
    before, after = kept(settings), make(settings)
    if before and before != after:
        registry.tools_changed()  # which also forgets what was kept
    if before != after:
        keep(settings, after)


def refresh_daily(settings: Settings) -> None:
    """The same, unless that was done in the last day: to make a listing takes a megabyte of a session of the
    service."""
    file = _path(settings)
    if not file.exists() or time.time() - file.stat().st_mtime > DAY_S:
        refresh(settings)
        with suppress(OSError):
            os.utime(file)


def forget() -> None:
    """Have the next session make its lists anew: a tool's description changed."""
    with suppress(OSError):
        for path in _kept_files(current()):
            path.unlink(missing_ok=True)


def _kept_files(settings: Settings) -> list[Path]:
    return sorted(settings.state_dir.glob("listing-*"), key=os.path.getmtime)


def _path(settings: Settings) -> Path:
    """The file of a listing is named by a number of the sources, the packages and the values of all
    settings."""
    key = crc32(repr((identity(), [current(section) for section in sections()])).encode())
    return settings.state_dir / f"listing-{key:08x}"
