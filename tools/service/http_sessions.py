"""What the requests of a 2025-era client have in common over HTTP, without a session being kept for it.

That era tells only in `initialize` whether the client shows pages, and withdraws a call by a second request. So the
answer to `initialize` names a session, whose id says the first and relates the second to its call. It opens nothing: the
token of each request decides, and a restarted server takes the id as well.
"""

import asyncio
import json
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from tools.core import caller, pages
from tools.core.json_types import JsonObject
from tools.service.asgi import DISCONNECT, App, Receive, Send

HEADER = b"mcp-session-id"
WITH_PAGES = "-pages"
SESSION_ID = re.compile(rf"[0-9a-f]{{32}}({WITH_PAGES})?")
LONGEST_LOOKED_AT = 65_536
"""A body longer than this is not parsed a second time: its call cannot be withdrawn."""

CallKey = tuple[str, str, str]
"""The token, the session and the request id (as JSON) of a call."""


class Sessions:
    """Passes requests on, and ends those that their client withdraws."""

    def __init__(self) -> None:
        self._withdrawn: dict[CallKey, asyncio.Event] = {}

    async def serve(
        self, app: App, person: caller.Caller, scope: JsonObject, body: bytes, receive: Receive, send: Send
    ) -> None:
        """Answer a request of `person` whose body was read already."""
        session_id = _session_id(scope)
        message = _message(body) if session_id or b'"initialize"' in body else {}
        owner = (person.token_id or person.user, session_id)
        if message.get("method") == "initialize":
            send = _naming(_new_id(message), send)
        if message.get("method") == "notifications/cancelled":
            self._withdraw((*owner, _request_id(message.get("params"), "requestId")))
        answer, key = _Answer(send), (*owner, _request_id(message, "id"))
        with (
            caller.acting_for(replace(person, shows_pages=session_id.endswith(WITH_PAGES))),
            self._withdrawable(key) as withdrawn,
        ):
            await app(scope, _replay(body, receive, withdrawn, all(key)), answer.send)
        if withdrawn.is_set():
            await answer.end()

    def _withdraw(self, key: CallKey) -> None:
        if event := self._withdrawn.get(key):
            event.set()

    @contextmanager
    def _withdrawable(self, key: CallKey) -> Iterator[asyncio.Event]:
        """Set once the client withdraws the call. Of two calls of one id only the first can be withdrawn."""
        event = asyncio.Event()
        is_known = all(key) and self._withdrawn.setdefault(key, event) is event
        try:
            yield event
        finally:
            if is_known:
                del self._withdrawn[key]


class _Answer:
    """An answer on its way, which may be cut short."""

    def __init__(self, send: Send):
        self._send = send
        self._is_started = self._is_whole = False

    async def send(self, message: JsonObject) -> None:
        self._is_started = True
        self._is_whole = message["type"] == "http.response.body" and not message.get("more_body")
        await self._send(message)

    async def end(self) -> None:
        if not self._is_started:
            await self._send({"type": "http.response.start", "status": 202, "headers": [(b"content-length", b"0")]})
        if not self._is_whole:
            await self._send({"type": "http.response.body", "body": b""})


def _replay(body: bytes, receive: Receive, withdrawn: asyncio.Event, can_be_withdrawn: bool) -> Receive:
    """Gives the body that was read already, then what comes after it: the client leaves, or withdraws its call."""
    waiting: list[JsonObject] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> JsonObject:
        if waiting:
            return waiting.pop()
        if not can_be_withdrawn:
            return await receive()
        next_message = asyncio.ensure_future(receive())
        signal = asyncio.ensure_future(withdrawn.wait())
        try:
            await asyncio.wait([next_message, signal], return_when=asyncio.FIRST_COMPLETED)
            return next_message.result() if next_message.done() else DISCONNECT
        finally:
            next_message.cancel()
            signal.cancel()

    return replay


def _session_id(scope: JsonObject) -> str:
    """The session that a request names; "" if that is none of ours."""
    value = next((value for name, value in scope["headers"] if name == HEADER), b"").decode("latin-1")
    return value if SESSION_ID.fullmatch(value) else ""


def _new_id(initialize: JsonObject) -> str:
    params = initialize.get("params")
    capabilities = params.get("capabilities") if isinstance(params, dict) else None
    shows_pages = isinstance(capabilities, dict) and pages.announced(capabilities.get("extensions"))
    return secrets.token_hex(16) + WITH_PAGES * shows_pages


def _naming(session_id: str, send: Send) -> Send:
    """Has an answer that is not a refusal name the session."""

    async def named(message: JsonObject) -> None:
        if message.get("status") == 200:
            message = {**message, "headers": [*message["headers"], (HEADER, session_id.encode())]}
        await send(message)

    return named


def _message(body: bytes) -> JsonObject:
    """The JSON object of a body; an empty one if it is none: the server behind this says so."""
    try:
        message = json.loads(body) if len(body) <= LONGEST_LOOKED_AT else {}
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def _request_id(members: object, name: str) -> str:
    """The request id as JSON, since 1 and "1" are two; "" if there is none."""
    request_id = members.get(name) if isinstance(members, dict) else None
    return json.dumps(request_id) if type(request_id) in (int, str) else ""
