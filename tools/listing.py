"""The answers that clients ask for first, as a session keeps it for the next: all lists, by the settings that shape them.

To make it, every toolset is imported; to read it, nothing is.
"""

import json
import os
import threading
from binascii import crc32
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from tools import results
from tools.core import prompts, registry, resources
from tools.core.files import replace_file
from tools.core.json_types import JsonObject, encodable
from tools.core.settings import Settings, current, sections
from tools.resident.handover import identity

LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")
WITH_PAGES = "tools/list with pages"  # of clients that show them
MOST_KEPT = 4  # listings in the state folder: one for each set of settings that clients come with


def make(settings: Settings) -> JsonObject:
    """All lists as these settings have them, and the toolset of each tool. Imports every toolset."""
    answers = {
        name: {"tools": [results.describe(*tool) for tool in registry.listed(settings, shown).items()]}
        for name, shown in (("tools/list", False), (WITH_PAGES, True))
    }
    answers["prompts/list"] = prompts.list_prompts(settings, None)
    answers["resources/list"] = resources.list_resources(settings, None)
    answers["resources/templates/list"] = resources.list_templates(settings, None)
    toolsets = {name: tool.toolset for tool in registry.listed(settings, True).values() for name in tool.names}
    return {"answers": encodable(answers)[0], "toolsets": toolsets}


def kept(settings: Settings) -> Any:
    """The listing that an earlier session kept for the same sources, packages and settings; None if none is whole."""
    try:
        lists = json.loads(_path(settings).read_bytes())
        return lists if lists["answers"].keys() == {*LISTS, WITH_PAGES} and lists["toolsets"] else None
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def keep(settings: Settings, lists: JsonObject) -> None:
    """Keep a listing for the sessions to come. Nothing depends on it: failing is not an error."""
    with suppress(OSError):
        replace_file(_path(settings), json.dumps(lists, ensure_ascii=False))
        for path in _kept_files(settings)[:-MOST_KEPT]:
            path.unlink()


def keep_beside(settings: Settings) -> Callable[[], object]:
    """Have a child make and keep the listing: on another processor, while this one imports the SDK. Gives what waits for
    its end."""
    pid = os.fork()
    if not pid:
        os.closerange(3, 256)  # the client's ends of its pipes, which would outlive this process
        try:
            keep(settings, make(settings))
        finally:
            os._exit(0)
    waiting = threading.Thread(target=os.waitpid, args=(pid, 0), daemon=True)  # also if nobody asks for a list
    waiting.start()
    return waiting.join


def refresh(settings: Settings) -> None:
    """Keep what the lists are now if it is something else, and tell the client that they changed."""
    before, after = kept(settings), make(settings)
    if before != after:
        keep(settings, after)
    if before and before["answers"] != after["answers"]:
        registry.tools_changed()


def forget() -> None:
    """Have the next session make its lists anew: a tool's description changed."""
    with suppress(OSError):
        for path in _kept_files(current()):
            path.unlink(missing_ok=True)


def _kept_files(settings: Settings) -> list[Path]:
    return sorted(settings.state_dir.glob("listing-*.json"), key=os.path.getmtime)


def _path(settings: Settings) -> Path:
    """The file of a listing is named by a number of the sources, the packages and the values of all settings."""
    key = crc32(repr((identity(), [current(section) for section in sections()])).encode())
    return settings.state_dir / f"listing-{key:08x}.json"
