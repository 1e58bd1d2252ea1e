"""A client's first requests, answered without the SDK: while it is still being imported, or to leave it
alone.

Clients do not wait: some begin their first turn a second after they started a server, without its tools if it
has not listed them. What they ask first (initialize or server/discover, then the lists) lies in our own
registry; only serving needs the SDK, whose import takes most of a cold start. And the lists need not be made:
a session before kept them.

Nor do most clients ask for more: of the sessions that a person has open, few call a tool. Such a one of the
resident service never uses the SDK, which would make its own what it shares with the others.
"""

import json
import os
import select
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from tools import listing, results
from tools.core import mcp_apps, prompts, registry
from tools.core.json_types import JsonObject, compact_json
from tools.core.settings import Settings
from tools.starting import VERSION
from tools.stdio import ACKNOWLEDGED, LISTEN, SUBSCRIPTION_ID, Lines

# Every answer given here equals the SDK's own, which tests/test_early.py asks for each version, capability,
# setting and odd request. A line that is not surely answered alike is left to the SDK, with all that follow
# it, in their order. The SDK's session then begins with the handshake's lines (`replay`); its answers to
# those are not written again. Nothing of tools/ is imported here while the other thread imports the SDK: a
# listing that nobody kept is made by a child.

MOST_BYTES = 2**16  # a longer line is left to the SDK
HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"
EXTENSIONS: JsonObject = {mcp_apps.EXTENSION: {}, prompts.SKILLS: {}}
SERVER_INFO = {"name": "pi-mcp", "version": VERSION}

# Shapes of what clients send: types, or an object's members with theirs; `*` is any other name.
TEXT = (str,)
NAMES = {"name", "version"}  # what a client must say of itself
CLIENT_INFO = dict.fromkeys(("name", "version", "title", "websiteUrl", "description"), TEXT)
NAMED = {"*": {"*": (str, bool, list)}}
CAPABILITIES = {
    "roots": {"listChanged": (bool,)},
    "sampling": {"context": {}, "tools": {}},
    "elicitation": {"form": {}, "url": {}},
    "extensions": NAMED,
    "experimental": NAMED,
}
INITIALIZE = {"protocolVersion": TEXT, "capabilities": CAPABILITIES, "clientInfo": CLIENT_INFO}
CHANGES = dict.fromkeys(("toolsListChanged", "promptsListChanged", "resourcesListChanged"), (bool,))
PROGRESS = {"progressToken": (str, int)}
ENVELOPE = {
    f"{META}protocolVersion": TEXT,
    f"{META}clientInfo": CLIENT_INFO,
    f"{META}clientCapabilities": CAPABILITIES,
}
MESSAGE = {"jsonrpc": TEXT, "id": (str, int), "method": TEXT, "params": (dict,)}


class LeftToSdk(Exception):
    """A line that the SDK answers."""


def serve(lines: Lines, settings: Settings, import_sdk: Callable[[], None]) -> bool:
    """Answer what can be answered early, until the SDK is imported and `lines` can go on with it.

    False if the client left before it asked for anything else. Raises what the import raised.
    """
    opening = Opening(settings, listing.keep_beside)
    ended, end = os.pipe()
    failures: list[BaseException] = []

    def run() -> None:
        try:
            import_sdk()
        except BaseException as error:
            failures.append(error)
        finally:
            os.close(end)

    importing = threading.Thread(target=run, daemon=True)

    def answered() -> None:
        # On a single processor a listing that a child is making comes first.
        if not importing.ident and (opening.listing or (os.cpu_count() or 1) > 1):
            importing.start()

    is_there = opening.answer_all(lines, ended, answered)
    if is_there:
        if not importing.ident:
            importing.start()
        importing.join()
        os.close(ended)
    if failures:
        raise failures[0]
    return is_there


def serve_idle(lines: Lines, settings: Settings, caller: int) -> bool:
    """Answer a client of the resident service as long as it only lists; False if it left, or the `caller` did
    who handed its session over."""
    opening = Opening(settings, listing.keep_later)
    return opening.answer_all(lines, caller) and not select.select([caller], [], [], 0)[0]


class Opening:
    """The beginning of one session: what it answered, and what the SDK has to be told of it."""

    def __init__(self, settings: Settings, keep: Callable[[Settings], Callable[[], object]]):
        self.settings = settings
        self.listing = listing.kept(settings)
        self.finish_listing = keep(settings) if not self.listing else None
        self.replay: list[bytes] = []
        self.answered: list[str | int] = []
        self.era = ""
        self.is_initialized = self.shows_pages = False

    def answer_all(self, lines: Lines, until: int, answered: Callable[[], None] = lambda: None) -> bool:
        """Answer line after line, until one is left to the SDK or the descriptor `until` can be read; `lines`
        go on from there. False if the client left before."""
        begun = b""
        # One turn of the loop answers a whole line, or reads until there is one.
        with suppress(LeftToSdk):
            while len(begun) <= MOST_BYTES:
                line, newline, rest = begun.partition(b"\n")
                if not newline:
                    if until in select.select([lines.stdin.fileno(), until], [], [])[0]:
                        break
                    chunk = b""
                    with suppress(OSError):  # a connection was reset, a terminal hung up
                        chunk = os.read(lines.stdin.fileno(), MOST_BYTES)
                    if not chunk and not begun.strip():
                        return False
                    if not chunk:
                        break
                    begun += chunk
                    continue
                try:
                    if answer := self.answer(line) if line.strip() else None:
                        lines.write(answer)
                except OSError:
                    return False
                begun = rest
                answered()
        *whole, rest = begun.split(b"\n")
        lines.ahead += [*self.replay, *(line + b"\n" for line in whole), *filter(None, [rest])]
        lines.answered.update(self.answered)
        return True

    def answer(self, line: bytes) -> bytes:
        """The line that answers `line`; empty for the notification that ends the handshake.

        Raises LeftToSdk.
        """
        message = _message(line)
        method, params = message["method"], message.get("params", {})
        if "id" not in message:
            if (
                method != "notifications/initialized"
                or params
                or self.era != "handshake"
                or self.is_initialized
            ):
                raise LeftToSdk
            self.is_initialized = True
            self.replay.append(line + b"\n")
            return b""
        if method == "initialize":
            result = _joined(self._initialize(params))
        elif self.era == "handshake":
            if not _fits(params, {"_meta": PROGRESS}) or (method != "ping" and not self.is_initialized):
                raise LeftToSdk
            result = b"{}" if method == "ping" else self._list(method)
        else:
            result = self._modern(method, params)
        answer = _joined({"jsonrpc": "2.0", "id": message["id"]}, b'{"result":%b}' % result)
        if method == LISTEN:  # Claude Code lists nothing before its stream of changes is acknowledged
            params = _joined({"_meta": {SUBSCRIPTION_ID: message["id"]}}, result)
            answer = _joined({"jsonrpc": "2.0", "method": ACKNOWLEDGED}, b'{"params":%b}' % params)
        if method in ("initialize", "server/discover", LISTEN):
            self.replay.append(line + b"\n")
            self.answered.append(message["id"])
        return answer + b"\n"

    def _initialize(self, params: JsonObject) -> JsonObject:
        if self.era or not _fits(params, INITIALIZE, INITIALIZE) or not params["clientInfo"].keys() >= NAMES:
            raise LeftToSdk
        self.shows_pages = mcp_apps.announced(params["capabilities"])
        self.era, version = "handshake", params["protocolVersion"]
        return {
            "protocolVersion": version if version in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1],
            "capabilities": _server_capabilities(changes=False),
            "serverInfo": SERVER_INFO,
            "instructions": registry.instructions(self.settings),
        }

    def _modern(self, method: str, params: JsonObject) -> bytes:
        shape = {"_meta": ENVELOPE | PROGRESS} | ({"notifications": CHANGES} if method == LISTEN else {})
        if not _fits(params, shape, shape) or not _fits(params["_meta"], shape["_meta"], ENVELOPE):
            raise LeftToSdk
        version, info, capabilities = map(params["_meta"].get, ENVELOPE)
        if version != MODERN or not info.keys() >= NAMES:
            raise LeftToSdk
        self.shows_pages, self.era = mcp_apps.announced(capabilities), "modern"
        if method == LISTEN:
            return _joined(
                {"notifications": {name: True for name, wanted in params["notifications"].items() if wanted}}
            )
        if method == "server/discover":
            result: JsonObject | bytes = {
                "supportedVersions": [MODERN],
                "capabilities": {**_server_capabilities(changes=True), "extensions": EXTENSIONS},
                "instructions": registry.instructions(self.settings),
            }
        else:
            result = self._list(method)
        about = {"ttlMs": 0, "cacheScope": "private", "_meta": {f"{META}serverInfo": SERVER_INFO}}
        return _joined(results.COMPLETE, result, about)

    def _list(self, method: str) -> bytes:
        if method not in listing.LISTS:
            raise LeftToSdk
        if not self.listing and self.finish_listing:
            self.finish_listing()
            self.listing = listing.kept(self.settings)
        if not self.listing:  # it cannot be kept
            raise LeftToSdk
        name = listing.WITH_PAGES if method == "tools/list" and self.shows_pages else method
        return self.listing[name]


def _server_capabilities(changes: bool) -> JsonObject:
    lists = {"listChanged": changes}
    resources = {**lists, "subscribe": changes}
    return {"tools": {"listChanged": True}, "prompts": lists, "resources": resources, "completions": {}}


def _joined(*objects: JsonObject | bytes) -> bytes:
    """JSON objects as one; those that are JSON already are not read."""
    texts = (each if isinstance(each, bytes) else compact_json(each).encode() for each in objects)
    return b"{%b}" % b",".join(text[1:-1] for text in texts if len(text) > 2)


def _message(line: bytes) -> JsonObject:
    """The request or notification of a line that every parser reads alike. Raises LeftToSdk."""
    message: Any = None
    with suppress(ValueError, RecursionError):
        # An escape may hold half a character, which the SDK's parser refuses.
        message = json.loads(line.decode()) if b"\\u" not in line else None
    if not _fits(message, MESSAGE, ("jsonrpc", "method")) or message["jsonrpc"] != "2.0":
        raise LeftToSdk
    if type(message.get("id")) is int and abs(message["id"]) >= 2**53:
        raise LeftToSdk
    return message  # type: ignore[no-any-return]


def _fits(value: Any, shape: Any, required: Any = ()) -> bool:
    """True for a value of one of these types, or for an object without other members than these, each of its
    shape."""
    if not isinstance(shape, dict):
        return type(value) in shape
    if not isinstance(value, dict) or not value.keys() >= set(required):
        return False
    return all(_fits(inner, shape.get(name, shape.get("*", ()))) for name, inner in value.items())
