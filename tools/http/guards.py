"""The guards of the server over HTTP: an ASGI application around the SDK's.

A request passes, in this order: path, token, method, framing, scope, rate, body. Host, Origin and Content-Type are the
SDK's to look at. A refusal leaves a line in the log with the reason, and never a word of the token.
"""

import asyncio
import json
import logging
import math
import sqlite3
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from tools.core import calls
from tools.core.errors import InvalidMessage
from tools.core.json_types import JsonObject
from tools.core.settings import Settings
from tools.http import tokens
from tools.http.ledger import Ledger
from tools.http.limits import Rate, Turns
from tools.http.sessions import App, Receive, Send, Sessions
from tools.http.sign_in import SignIn

LONGEST_BODY = 4 * 2**20
# A body that is too long is read up to here, and dropped, so that its sender can read the answer.
LONGEST_DRAINED = 32 * 2**20
# The longest of a sign-in, which anybody may send. With a token a longer one waits for its turn: two of them are in
# memory at a time, one per token, until they are answered.
SMALL_BODY = 2**14
BODY_S = 30  # for a body to arrive, its turn included
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
INVALID_REQUEST = -32600
RATE_LIMITED = -32029  # ours: JSON-RPC leaves -32000 to -32099 to servers

logger = logging.getLogger("pi-mcp")


@dataclass
class Refusal(Exception):
    """A request that is not passed on: the status and the text that its sender gets, the reason for the log."""

    status: int
    text: str
    reason: str
    headers: tuple[tuple[str, str], ...] = ()
    code: int = INVALID_REQUEST
    request_id: str | int | None = None


class Guards:
    """Passes on to `app` what may be served, in the name of the token's user.

    `parse` reads a body as a JSON-RPC message or raises InvalidMessage; `busy` requests are in progress, the last one
    ended at `idle_since`. Raises OSError.
    """

    def __init__(self, settings: Settings, app: App, parse: Callable[[bytes], Any]):
        self.app = app
        self.parse = parse
        self.url = settings.http_url
        self.path = urlsplit(self.url).path.rstrip("/")
        self.key_file = settings.state_dir / settings.http_key_file
        tokens.keys_at(self.key_file)
        self.ledger = Ledger(settings.state_dir)
        self.sign_in = SignIn(self.url, self.ledger, lambda: tokens.read_keys(self.key_file))
        self.rate = Rate(settings.http_rate, burst=max(1, settings.http_rate // 2))
        self.logged = Rate(60, 30)  # lines a minute, at once
        self.long_bodies = Turns(2, 1)
        self.sessions = Sessions()
        self.busy = 0
        self.idle_since = time.monotonic()

    async def __call__(self, scope: JsonObject, receive: Receive, send: Send) -> None:
        self.busy += 1
        try:
            async with AsyncExitStack() as held:
                await self._serve(scope, receive, send, held)
        except Refusal as refusal:
            if not self.logged.wait_s():  # nobody without a token can fill the log
                logger.warning("HTTP %d: %s", refusal.status, refusal.reason)
            await _refuse(refusal, scope, send)
        finally:
            self.busy -= 1
            self.idle_since = time.monotonic()

    async def _serve(self, scope: JsonObject, receive: Receive, send: Send, held: AsyncExitStack) -> None:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        if scope["path"] in self.sign_in.endpoints:  # anybody may call these: nothing large is read there
            if "transfer-encoding" in headers or int(headers.get("content-length", 0)) > SMALL_BODY:
                raise Refusal(413, "Request body too large", f"a long body at {scope['path']}")
            body = await _read(receive)
            answer = await self.sign_in.answer(scope["method"], scope["path"], headers, scope["query_string"], body)
            if answer[0] >= 400 and not self.logged.wait_s():
                logger.warning("HTTP %d at %s: %s", answer[0], scope["path"], answer[2][:200].partition("<")[0])
            return await _respond(send, *answer)
        if scope["path"].rstrip("/") != self.path:
            raise Refusal(404, "Not Found", f"nothing is at {scope['path'][:100]!r}")
        claims = self._authenticated(headers.get("authorization", ""))
        if scope["method"] != "POST":
            raise Refusal(405, "Method Not Allowed", f"method {scope['method'][:20]!r}", (("allow", "POST"),))
        if "content-length" in headers and "transfer-encoding" in headers:  # RFC 9112 6.3: where does the body end?
            raise Refusal(400, "Content-Length and Transfer-Encoding", "a body with two lengths")
        remote = calls.caller_of_scope(claims.user, claims.scope, claims.token_id)
        if remote is None:
            challenge = self._challenge("insufficient_scope")
            raise Refusal(403, "Insufficient scope", f"the token of {claims.user!r} names no toolset", challenge)
        name = claims.token_id or claims.user
        if wait_s := self.rate.wait_s(name):
            retry = ("retry-after", str(math.ceil(wait_s)))
            raise Refusal(429, "Too many requests", f"{claims.user!r}: MCP_HTTP_RATE", (retry,), RATE_LIMITED)
        body = await _read(receive, lambda: held.enter_async_context(self.long_bodies.turn(name)))
        passed_on = [pair for pair in scope["headers"] if pair[0] != b"authorization"]
        request = {**scope, "path": self.path or "/", "headers": passed_on}
        try:
            message = self.parse(body)
        except InvalidMessage as error:
            raise Refusal(400, str(error), str(error), (), error.code, error.request_id) from None
        await self.sessions.serve(self.app, remote, request, message, body, receive, send)

    def _authenticated(self, authorization: str) -> tokens.Claims:
        """The claims of the request's token. Every failure looks the same from outside."""
        scheme, _, token = authorization.partition(" ")
        try:
            if scheme.lower() != "bearer" or not token:
                raise tokens.InvalidToken("there is no bearer token")
            claims = tokens.read(token.strip(), tokens.read_keys(self.key_file), self.url)
            if self.ledger.is_revoked(claims.token_id):
                raise tokens.InvalidToken(f"{claims.token_id} was revoked")
        except (tokens.InvalidToken, sqlite3.Error, OSError) as error:
            text = "invalid_token" if token else ""
            raise Refusal(401, "Unauthorized", f"token refused: {error}", self._challenge(text)) from None
        return claims

    def _challenge(self, error: str) -> tuple[tuple[str, str], ...]:
        """The header that leads a client to the sign-in."""
        words = [f'error="{error}"'] * bool(error) + [f'resource_metadata="{self.sign_in.resource_metadata}"']
        return (("www-authenticate", ", ".join(['Bearer realm="pi-mcp"', *words])),)

    async def end_when_idle(self, server: Any, seconds: float) -> None:
        """End the HTTP server once nobody asked anything for so long, and nobody is connected."""
        while self.busy or server.server_state.connections or time.monotonic() - self.idle_since < seconds:
            await asyncio.sleep(min(1, seconds / 4))
        server.should_exit = True


async def _read(receive: Receive, turn: Callable[[], Awaitable[None]] | None = None) -> bytes:
    """The body of a request; of one longer than SMALL_BODY the rest in a `turn`."""
    body, length, more, until = bytearray(), 0, True, time.monotonic() + BODY_S
    while more and length <= LONGEST_DRAINED:
        try:
            if turn and length > SMALL_BODY:
                await asyncio.wait_for(turn(), until - time.monotonic())
                turn = None
            message = await asyncio.wait_for(receive(), until - time.monotonic())
        except asyncio.TimeoutError:  # not yet TimeoutError itself in Python 3.10
            raise Refusal(408, "Request Timeout", f"a body did not arrive within {BODY_S} s") from None
        if message["type"] != "http.request":
            raise Refusal(400, "Incomplete body", "the client left in the middle of a body")
        length += len(message.get("body", b""))
        body += message.get("body", b"") if length <= LONGEST_BODY else b""
        more = bool(message.get("more_body"))
    if length > LONGEST_BODY:
        raise Refusal(413, "Request body too large", f"a body of more than {LONGEST_BODY} bytes")
    return bytes(body)


async def _refuse(refusal: Refusal, scope: JsonObject, send: Send) -> None:
    error: JsonObject = {"code": refusal.code, "message": refusal.text}
    headers = {**dict(refusal.headers), "content-type": "application/json"}
    if seconds := headers.get("retry-after"):  # some clients never look at the header
        error = {**error, "message": f"{refusal.text}: try again in {seconds} s", "data": {"retry_after": int(seconds)}}
    sent = dict(scope["headers"])
    if b"transfer-encoding" in sent or int(sent.get(b"content-length", 0)) > SMALL_BODY:
        headers["connection"] = "close"  # else what is left of the body would be read on and on
    answer = json.dumps({"jsonrpc": "2.0", "id": refusal.request_id, "error": error})
    with suppress(Exception):  # of the HTTP server's own: it may have answered a broken body already, and hung up
        await _respond(send, refusal.status, headers, answer)


async def _respond(send: Send, status: int, headers: dict[str, str], text: str) -> None:
    headers = {**headers, "content-length": str(len(text.encode()))}
    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": text.encode()})


def addresses(url: str) -> tuple[list[str], list[str]]:
    """The hosts and the origins that requests may name: the public ones and this machine, with any port (`:*`)."""
    parts = urlsplit(url.lower())
    names = [parts.netloc, parts.hostname or "", *LOOPBACK]
    hosts = [name + port for name in names for port in ("", ":*")]
    return hosts, [f"{scheme}://{host}" for scheme in ("http", "https") for host in hosts]
