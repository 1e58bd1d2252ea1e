"""A request's way over HTTP to the SDK's application: an ASGI application around it that refuses what may not
pass.

A request passes, in this order: path, token, method, framing, scope, rate, body. Host, Origin and
Content-Type are the SDK's to look at. A refusal leaves a line in the log with the reason, and never a word of
the token.
"""

import asyncio
import json
import logging
import math
import secrets
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

from tools.core import calls, mcp_apps
from tools.core.calls import Caller
from tools.core.errors import InvalidMessage
from tools.core.json_types import JsonObject
from tools.core.settings import Settings
from tools.http import day, tokens
from tools.http.ledger import Ledger
from tools.http.limits import Rate, Turns
from tools.http.sign_in import SignIn

Receive = Callable[[], Awaitable[JsonObject]]
Send = Callable[[JsonObject], Awaitable[None]]
App = Callable[[Any, Any, Any], Awaitable[None]]

LONGEST_BODY = 4 * 2**20
# The longest body of a sign-in, which anybody may send. Longer bodies need a token, and four are held at a
# time, one per person, so that they cannot fill the memory.
SMALL_BODY = 16_384
ROOM_S = 30  # the wait for a turn
SESSION = "mcp-session-id"
WITH_PAGES = "-pages"
OF_DAY = f"day{WITH_PAGES}"  # in place of a session: the page of the days

logger = logging.getLogger("pi-mcp")


@dataclass
class Refusal(Exception):
    """A request that is not passed on: the status, the reason for the log and for a sender with a good
    token."""

    status: int
    reason: str
    headers: dict[str, str] = field(default_factory=dict)
    code: int = -32600  # JSON-RPC's invalid request
    request_id: str | int | None = None


class Guards:
    """Passes on to `app` what may be served, in the name of the token's user.

    `parse` reads a body as a JSON-RPC message or raises InvalidMessage; `cancel_scope` is anyio's.
    Raises OSError.
    """

    def __init__(
        self,
        settings: Settings,
        app: App,
        parse: Callable[[bytes], JsonObject],
        cancel_scope: Callable[[], Any],
    ):
        self.app = app
        self.parse = parse
        self.cancel_scope = cancel_scope
        self.path = urlsplit(settings.http_url).path.rstrip("/")
        self.ledger = Ledger(settings.state_dir, patience_s=0.5)  # the event loop waits for it
        key_file = settings.state_dir / settings.http_key_file
        tokens.keys_at(key_file)
        self.sign_in = SignIn(settings.http_url, self.ledger, partial(tokens.keys_there, key_file))
        # It leads a client to the sign-in.
        self.challenge = f'Bearer realm="pi-mcp", resource_metadata="{self.sign_in.metadata_url}"'
        self.rate = Rate(settings.http_rate)
        self.day = day.Day(self.sign_in, self.rate)
        self.lines = Rate(60)  # of the log
        self.long_bodies = Turns(4, 1)
        # The cancel scopes of calls in progress, by token, session and request id. Of several calls with one
        # id the last can be withdrawn.
        self.calls: WeakValueDictionary[tuple[str, str, str], Any] = WeakValueDictionary()

    async def __call__(self, scope: JsonObject, receive: Receive, send: Send) -> None:
        try:
            await self._serve(scope, receive, send)
        except Refusal as refusal:
            self._log(refusal.status, refusal.reason)
            await _refuse(refusal, send)

    def _log(self, status: int, reason: str) -> None:
        if not self.lines.wait_s():  # nobody without a token can fill the log
            logger.warning("HTTP %d: %s", status, reason)

    async def _serve(self, scope: JsonObject, receive: Receive, send: Send) -> None:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        path = scope["path"]
        method = scope["method"]
        is_day = path == day.CALLS
        is_sent_by_page = method == "POST" and path in (day.PATH, day.CALLS)
        if is_sent_by_page and headers.get("origin") != self.sign_in.issuer:
            raise Refusal(403, "a request of another page")
        if path in self.sign_in.endpoints:
            return await self._sign_in(scope, headers, receive, send)
        if path.rstrip("/") != self.path and not is_day:
            raise Refusal(404, f"nothing is at {path[:100]!r}")
        claims = self._authenticated(headers, is_day)
        if method != "POST":
            raise Refusal(405, f"method {method[:20]!r}", {"allow": "POST"})
        if "content-length" in headers and "transfer-encoding" in headers:
            # Where would the body end (RFC 9112 6.3)?
            raise Refusal(400, "a body with two lengths: Content-Length, Transfer-Encoding")
        remote = calls.caller_of_scope(*claims)
        if remote is None:
            challenge = {"www-authenticate": f'{self.challenge}, error="insufficient_scope"'}
            raise Refusal(403, f"the token of {claims.user!r} names no toolset", challenge)
        if wait_s := self.rate.wait_s(claims.user):
            retry_s = str(math.ceil(wait_s))
            reason = f"too many requests of {claims.user!r} (MCP_HTTP_RATE): try again in {retry_s} s"
            raise Refusal(429, reason, {"retry-after": retry_s})
        session_id = OF_DAY if is_day else headers.get(SESSION, "")
        async with AsyncExitStack() as held:
            if int(headers.get("content-length", LONGEST_BODY)) > SMALL_BODY:
                await self._wait_for_room(held, claims.user)
            body = await _read(receive, LONGEST_BODY)
            if len(body) <= SMALL_BODY:  # of chunks, which do not announce their length
                await held.aclose()
            await self._pass_on(remote, scope, session_id, body, receive, send)

    async def _wait_for_room(self, held: AsyncExitStack, user: str) -> None:
        """Have `held` hold a turn for a long body, until its call ends."""
        turn = held.enter_async_context(self.long_bodies.turn(user))
        try:
            await asyncio.wait_for(turn, ROOM_S)
        except asyncio.TimeoutError:  # before Python 3.11 not the one built in
            reason = f"{user!r} waited {ROOM_S} s for room for a long body"
            raise Refusal(503, reason, {"retry-after": str(math.ceil(ROOM_S))}) from None

    async def _sign_in(
        self, scope: JsonObject, headers: dict[str, str], receive: Receive, send: Send
    ) -> None:
        """Answer at an endpoint of the sign-in. Anybody may call those: nothing large is read there."""
        body = await _read(receive, SMALL_BODY)
        status, headers, body = await self.sign_in.answer(scope, headers, body)
        if status >= 400:
            self._log(status, f"{scope['path']}: {body.decode()[:200].partition('<')[0]}")
        await _respond(send, status, headers, body)

    def _authenticated(self, headers: dict[str, str], is_day: bool) -> tokens.Claims:
        """The claims of the request's token, or of its cookie. Every failure looks the same from outside."""
        scheme, _, token = headers.get("authorization", "").partition(" ")
        try:
            if is_day:
                return self.day.claims(headers.get("cookie", ""))
            if scheme.lower() != "bearer":
                raise tokens.InvalidToken("there is no bearer token")
            claims = tokens.read(token, self.sign_in.keys(), self.sign_in.url)
            if self.ledger.is_revoked(claims.token_id):
                raise tokens.InvalidToken(f"{claims.token_id} was revoked")
        except (sqlite3.Error, OSError) as error:  # no fault of the token, which its client should keep
            reason = f"tokens cannot be looked up now: {error}"
            raise Refusal(503, reason, {"retry-after": "5"}) from None
        except tokens.InvalidToken as error:
            challenge = self.challenge
            if token:
                challenge += ', error="invalid_token"'  # RFC 6750: now a client renews it
            raise Refusal(401, f"token refused: {error}", {"www-authenticate": challenge}) from None
        return claims

    # A 2025-era client says only in `initialize` whether it shows pages, and withdraws a call by a second
    # request. So the answer to `initialize` names a session, whose id says the first and relates the second
    # to its call. It opens nothing: the token of each request decides, and a restarted server takes the id as
    # well.
    async def _pass_on(
        self, remote: Caller, scope: JsonObject, session_id: str, body: bytes, receive: Receive, send: Send
    ) -> None:
        """Have the SDK answer a request of `remote`, unless its client withdraws it."""
        try:
            message = self.parse(body)
        except InvalidMessage as error:
            raise Refusal(400, str(error), {}, error.code, error.request_id) from None
        method = message.get("method", "")
        params = message.get("params") or {}
        if session_id == OF_DAY and (method, params.get("name")) not in day.ALLOWED:
            raise Refusal(403, "a call that the page of the days does not make")
        owner = (remote.token_id or remote.user, session_id)
        if method == "notifications/cancelled" and session_id:
            call = self.calls.get((*owner, repr(params.get("requestId"))))
            if call:
                call.cancel()
        unread = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive_next() -> JsonObject:
            return unread.pop() if unread else await receive()

        async def send_next(part: JsonObject) -> None:
            if method == "initialize" and part.get("status") == 200:
                new_id = secrets.token_hex(16)
                if mcp_apps.announced(params.get("capabilities")):
                    new_id += WITH_PAGES
                part = {**part, "headers": [*part["headers"], (SESSION.encode(), new_id.encode())]}
            await send(part)

        key = (*owner, repr(message.get("id")))
        caller = remote._replace(shows_pages=session_id.endswith(WITH_PAGES))
        with calls.acting_for(caller), self.cancel_scope() as scope_of_call:
            self.calls[key] = scope_of_call
            return await self.app(scope, receive_next, send_next)
        with suppress(RuntimeError):  # the HTTP server's, if the answer was complete already
            await send({"type": "http.response.body", "body": b""})


async def _read(receive: Receive, longest: int) -> bytes:
    """The body of a request, of at most `longest` bytes."""
    body = bytearray()
    message: JsonObject = {"more_body": True}
    while message.get("more_body"):
        message = await receive()
        if message["type"] != "http.request":
            raise Refusal(400, "a body ended in the middle, or took too long")
        body += message.get("body", b"")
        if len(body) > longest:
            raise Refusal(413, f"a body of more than {longest} bytes")
    return bytes(body)


async def _refuse(refusal: Refusal, send: Send) -> None:
    """Answer with a JSON-RPC error, which any client can show."""
    text = "Unauthorized" if refusal.status == 401 else refusal.reason  # whatever is wrong with a token
    error: JsonObject = {"code": refusal.code, "message": text}
    if seconds := refusal.headers.get("retry-after"):  # some clients never look at the header
        error["data"] = {"retry_after": int(seconds)}
    answer = json.dumps({"jsonrpc": "2.0", "id": refusal.request_id, "error": error}).encode()
    # What is left of the body would be read on and on.
    headers = {**refusal.headers, "content-type": "application/json", "connection": "close"}
    # The HTTP server may have answered a broken body already, and hung up.
    with suppress(Exception):
        await _respond(send, refusal.status, headers, answer)


async def _respond(send: Send, status: int, headers: dict[str, str], body: bytes) -> None:
    headers = {**headers, "content-length": str(len(body))}
    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})


def addresses(url: str) -> tuple[list[str], list[str]]:
    """The hosts and the origins that requests may name: the public ones and this machine, with any port
    (`:*`)."""
    parts = urlsplit(url.lower())
    names = [parts.netloc, parts.hostname or "", "127.0.0.1", "localhost", "[::1]"]
    hosts = names + [f"{name}:*" for name in names]
    return hosts, [f"http://{host}" for host in hosts] + [f"https://{host}" for host in hosts]
