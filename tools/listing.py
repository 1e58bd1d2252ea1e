"""A cache of tools/list: one JSON file per set of sources and settings.

Building a listing imports every toolset; reading one imports nothing. It also says which toolset has a tool,
so that a call imports only that one. A file that cannot be read, or does not match its checksum, is built
again.
"""

import json
import os
from binascii import crc32
from contextlib import suppress
from functools import cache
from pathlib import Path

from tools.core.calls import remote_caller
from tools.core.json_types import JsonObject, compact_json
from tools.core.settings import current, fingerprint
from tools.resident import handover

MOST_KEPT = 4  # files in the state folder: one for each set of settings that clients come with

identity = cache(handover.identity)  # of the sources that are imported now


def build() -> JsonObject:
    """Build the listing: tools/list for clients with pages, the names that other clients are not shown, and
    the toolset of each tool. Imports every toolset, and saves the listing unless a remote caller asks."""
    from tools.core import registry, results

    tools = registry.listed_tools(pages=True)
    toolsets: dict[str, str] = {}
    for tool in tools.values():
        toolsets |= dict.fromkeys(tool.names, tool.toolset)
    listing = {
        "tools": [results.describe(name, tool) for name, tool in tools.items()],
        "for pages": [name for name, tool in tools.items() if tool.app_only],
        "toolsets": toolsets,
    }
    if not remote_caller():
        save(listing)
    return listing


def load() -> JsonObject:
    """The listing saved for these sources and settings; empty if there is none, or for a remote caller."""
    from tools.core.files import plain_file

    if remote_caller():
        return {}
    with suppress(OSError, ValueError), plain_file(_path(), of_this_user=True) as file:
        checksum, text = file.read().split(b"\n", 1)
        if checksum == b"%08x" % crc32(text):
            return json.loads(text)  # type: ignore[no-any-return]
    return {}


def save(listing: JsonObject) -> None:
    """Save a listing for later sessions. Failing is not an error, since nothing depends on it."""
    from tools.core.files import replace_file

    with suppress(OSError):
        text = compact_json(listing).encode()
        replace_file(_path(), b"%08x\n%b" % (crc32(text), text))
    forget(MOST_KEPT)


def forget(most_kept: int = 0) -> None:
    """Remove the saved listings except the newest ones; all of them once a tool's description changed."""
    with suppress(OSError):
        files = current().state_dir.glob("listing-*")
        for path in sorted(files, key=os.path.getmtime, reverse=True)[most_kept:]:
            path.unlink(missing_ok=True)


def _path() -> Path:
    """The file of a listing, named after a checksum of the sources and settings."""
    checksum = crc32(f"{identity()} {fingerprint()}".encode())
    return current().state_dir / f"listing-{checksum:08x}.json"
