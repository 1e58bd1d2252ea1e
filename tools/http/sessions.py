"""Stateless session ids for 2025-era HTTP clients: the id itself carries the state.

That era tells only in `initialize` whether the client shows pages, and withdraws a call by a second request. So the
answer to `initialize` names a session, whose id says the first and relates the second to its call. It opens nothing: the
token of each request decides, and a restarted server takes the id as well.
"""

import asyncio
import re
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from tools.core import mcp_apps
from tools.core.calls import Caller, acting_for
from tools.core.json_types import JsonObject

Receive = Callable[[], Awaitable[JsonObject]]
Send = Callable[[JsonObject], Awaitable[None]]
App = Callable[[Any, Any, Any], Awaitable[None]]

HEADER = b"mcp-session-id"
WITH_PAGES = "-pages"
SESSION_ID = re.compile(rf"[0-9a-f]{{32}}({WITH_PAGES})?")


class Sessions:
    """Passes requests on, and ends those that their client withdraws."""

    def __init__(self) -> None:
        # Calls in progress by token, session and request id.
        self.calls: dict[tuple[str, str, object], asyncio.Future[None]] = {}

    async def serve(
        self, app: App, caller: Caller, scope: JsonObject, message: Any, body: bytes, receive: Receive, send: Send
    ) -> None:
        """Have `app` answer a request of `caller`, whose body holds the JSON-RPC `message`."""
        session_id = dict(scope["headers"]).get(HEADER, b"").decode("latin-1")
        session_id = session_id if SESSION_ID.fullmatch(session_id) else ""
        owner = (caller.token_id or caller.user, session_id)
        method, params = getattr(message, "method", ""), getattr(message, "params", None) or {}
        withdrawn = params.get("requestId") if method == "notifications/cancelled" else None
        if isinstance(withdrawn, str | int) and (call := self.calls.get((*owner, withdrawn))):
            call.cancel()
        pages = WITH_PAGES * mcp_apps.announced(params.get("capabilities"))
        new_id = secrets.token_hex(16) + pages if method == "initialize" else ""
        begun = [{"type": "http.request", "body": body, "more_body": False}]
        last: JsonObject = {}  # of what was sent

        async def receive_next() -> JsonObject:
            return begun.pop() if begun else await receive()

        async def send_next(message: JsonObject) -> None:
            nonlocal last
            last = message
            if new_id and message.get("status") == 200:
                message = {**message, "headers": [*message["headers"], (HEADER, new_id.encode())]}
            await send(message)

        with acting_for(replace(caller, shows_pages=session_id.endswith(WITH_PAGES))):
            call = asyncio.ensure_future(app(scope, receive_next, send_next))
        key = (*owner, getattr(message, "id", None))
        # Of two calls of one id only the first can be withdrawn.
        can_be_withdrawn = session_id and method and self.calls.setdefault(key, call) is call
        try:
            await asyncio.wait([call])
        finally:
            call.cancel()
            if can_be_withdrawn:
                del self.calls[key]
        if not call.cancelled():
            return call.result()
        if not last:
            await send({"type": "http.response.start", "status": 202, "headers": [(b"content-length", b"0")]})
        if last.get("type") != "http.response.body" or last.get("more_body"):
            await send({"type": "http.response.body", "body": b""})
