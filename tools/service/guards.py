"""Who may speak to the server over HTTP: an ASGI application around the one that serves MCP.

It looks at a request in this order: host, path, origin, method, token, scope, rate, kind and size of the body. What it
refuses gets a line in the log with the reason, and never a word of the token.
"""

import asyncio
import json
import logging
import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from tools.core import caller, leaving
from tools.core.json_types import JsonObject
from tools.core.settings import Settings
from tools.service import ledger, rates, stdio, tokens, watched
from tools.service.asgi import App, Receive, Send
from tools.service.http_sessions import Sessions

LONGEST_BODY = 4 * 2**20
LONGEST_DRAINED = 32 * 2**20
"""A body that is too long is read up to here, and dropped, so that its sender can read the answer."""
HEADERS_S = 15
"""How long a connection may go without a request."""
BODY_S = 30
"""How long a body may take to arrive. A token is needed to get here, so this is about broken lines, not about attacks."""
FAILURES_A_MINUTE, FAILURES_AT_ONCE = 60, 30
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
DECIDING = ("authorization", "host", "origin", "content-type", "content-length")
INVALID_REQUEST = -32600
RATE_LIMITED = -32029
"""Ours: JSON-RPC leaves -32000 to -32099 to servers."""

UVICORN = {
    "ws": "none",
    "access_log": False,
    "log_level": "warning",
    "proxy_headers": False,
    "server_header": False,
    "limit_concurrency": 512,
    "timeout_graceful_shutdown": 5,  # else a request that never ends keeps it for ever
}
"""How the HTTP server behind which this stands is set."""

logger = logging.getLogger("pi-mcp")


class CannotServe(Exception):
    """HTTP cannot be served; the message says why."""


@dataclass
class Refusal(Exception):
    """A request that is not passed on: the status and the text that its sender gets, the reason for the log."""

    status: int
    text: str
    reason: str
    headers: tuple[tuple[str, str], ...] = ()


class Guards:
    """Passes on to `app` what may be served, in the name of the token's user.

    `url` is the public address of this server, `path` where it is served; `busy` requests are in progress, the last one
    ended at `idle_since`.
    """

    def __init__(self, app: App, *, url: str, keys: Callable[[], list[bytes]], given_out: ledger.Ledger, rate: int):
        self.app = app
        self.url = url
        self.path = urlsplit(url).path.rstrip("/") or "/"
        self.hosts = {urlsplit(url).netloc.lower(), (urlsplit(url).hostname or "").lower(), *LOOPBACK}
        self.keys = keys
        self.ledger = given_out
        self.rates = rates.Rates(rate, burst=max(1, rate // 2))
        self.failures = rates.Bucket(FAILURES_A_MINUTE, FAILURES_AT_ONCE)
        self.sessions = Sessions()
        self.busy = 0
        self.idle_since = time.monotonic()

    async def __call__(self, scope: JsonObject, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        self.busy += 1
        try:
            await self._serve(scope, receive, send)
        except Refusal as refusal:
            await _refuse(refusal, scope["method"], send)
        finally:
            self.busy -= 1
            self.idle_since = time.monotonic()

    async def _serve(self, scope: JsonObject, receive: Receive, send: Send) -> None:
        headers = _single(scope["headers"])
        self._check_address(scope, headers)
        claims = self._authenticated(headers)
        person = caller.of_scope(claims.user, claims.scope, claims.token_id)
        if person is None:
            reason = f"the token of {claims.user!r} names no toolset"
            raise Refusal(403, "Insufficient scope", reason, _challenge("insufficient_scope"))
        self._check_rate(claims)
        body = await _body(headers, receive)
        passed_on = [pair for pair in scope["headers"] if pair[0] != b"authorization"]
        request = {**scope, "path": self.path, "headers": passed_on}
        await self.sessions.serve(self.app, person, request, body, receive, send)

    async def idle(self, seconds: float, is_connected: Callable[[], bool]) -> None:
        """Come back once nobody asked anything for so long, and nobody is connected."""
        while self.busy or is_connected() or time.monotonic() - self.idle_since < seconds:
            await asyncio.sleep(min(1, seconds / 4))

    def _check_address(self, scope: JsonObject, headers: dict[str, str]) -> None:
        host = headers.get("host", "")
        if not self._is_ours(host):
            raise Refusal(421, "Misdirected Request", f"Host {host[:100]!r} is not that of MCP_HTTP_URL ({self.url})")
        if scope["path"].rstrip("/") != self.path.rstrip("/"):
            raise Refusal(404, "Not Found", f"nothing is at {scope['path'][:100]!r}")
        if "origin" in headers and not self._is_ours(urlsplit(headers["origin"]).netloc):
            raise Refusal(403, "Forbidden origin", f"Origin {headers['origin'][:100]!r} is not ours")
        if scope["method"] != "POST":
            raise Refusal(405, "Method Not Allowed", f"method {scope['method'][:20]!r}", (("allow", "POST"),))

    def _is_ours(self, host: str) -> bool:
        """Whether a host, with or without a port, is the public one or this machine."""
        host = host.lower()
        name, colon, port = host.rpartition(":")
        return host in self.hosts or bool(colon and port.isdigit() and name in self.hosts)

    def _authenticated(self, headers: dict[str, str]) -> tokens.Claims:
        """The claims of the request's token. Every failure looks the same from outside."""
        scheme, _, token = headers.get("authorization", "").partition(" ")
        try:
            if scheme.lower() != "bearer" or not token:
                raise tokens.InvalidToken("there is no bearer token")
            claims = tokens.read(token.strip(), self.keys(), self.url)
            if self.ledger.is_revoked(claims.token_id):
                raise tokens.InvalidToken(f"{claims.token_id} was revoked")
        except (tokens.InvalidToken, tokens.UnusableKeys, OSError, ValueError) as error:
            if wait_s := self.failures.wait_s():
                raise _too_many(wait_s, "too many requests without a valid token") from None
            text = "invalid_token" if token else ""
            raise Refusal(401, "Unauthorized", f"token refused: {error}", _challenge(text)) from None
        self.ledger.note_use(claims.token_id)
        return claims

    def _check_rate(self, claims: tokens.Claims) -> None:
        if wait_s := self.rates.wait_s(claims.token_id or claims.user):
            raise _too_many(wait_s, f"{claims.user!r} asks more often than MCP_HTTP_RATE")


def _single(pairs: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """The headers by name. One that decides something must not be there twice."""
    headers: dict[str, str] = {}
    for raw_name, value in pairs:
        name = raw_name.decode("latin-1").lower()
        if name in headers and name in DECIDING:
            raise Refusal(400, f"{name} is there twice", f"header {name} is there twice")
        headers[name] = value.decode("latin-1")
    return headers


async def _body(headers: dict[str, str], receive: Receive) -> bytes:
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refusal(400, "Content-Type must be application/json", f"Content-Type {kind[:50]!r}")
    length = headers.get("content-length", "")
    if length.isdecimal() and int(length[:20]) > LONGEST_DRAINED:
        raise _too_large()
    try:
        body = await asyncio.wait_for(_received(receive), BODY_S)
    except TimeoutError:  # two classes before Python 3.11
        raise Refusal(408, "Request Timeout", f"the body did not arrive within {BODY_S} s") from None
    if stdio.has_too_many_values(body):
        raise Refusal(413, "Request body too large", f"a body of more than {stdio.MOST_VALUES} values")
    return body


async def _received(receive: Receive) -> bytes:
    body, length = bytearray(), 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise Refusal(400, "Incomplete body", "the client left in the middle of a body")
        part = message.get("body", b"")
        length += len(part)
        if length <= LONGEST_BODY:
            body += part
        if length > LONGEST_DRAINED or (length > LONGEST_BODY and not message.get("more_body")):
            raise _too_large()
        if not message.get("more_body"):
            return bytes(body)


async def _refuse(refusal: Refusal, method: str, send: Send) -> None:
    logger.warning("HTTP %d: %s", refusal.status, refusal.reason)
    body = _error(refusal)
    headers = [("content-type", "application/json"), ("content-length", str(len(body))), *refusal.headers]
    if refusal.status in (408, 413):  # what is left of the body is not read
        headers.append(("connection", "close"))
    pairs = [(name.encode(), value.encode()) for name, value in headers]
    with suppress(Exception):  # of the HTTP server's own: it may have answered a broken body already, and hung up
        await send({"type": "http.response.start", "status": refusal.status, "headers": pairs})
        await send({"type": "http.response.body", "body": b"" if method == "HEAD" else body})


def _error(refusal: Refusal) -> bytes:
    """A JSON-RPC error; one about the rate says the seconds too, since some clients never look at the header."""
    error: JsonObject = {"code": INVALID_REQUEST, "message": refusal.text}
    if refusal.status == 429:
        seconds = int(dict(refusal.headers)["retry-after"])
        error = {"code": RATE_LIMITED, "message": f"{refusal.text}: try again in {seconds} s"}
        error["data"] = {"retry_after": seconds}
    return json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()


def _challenge(error: str = "") -> tuple[tuple[str, str], ...]:
    return (("www-authenticate", 'Bearer realm="pi-mcp"' + (f', error="{error}"' if error else "")),)


def _too_many(wait_s: float, reason: str) -> Refusal:
    return Refusal(429, "Too many requests", reason, (("retry-after", str(math.ceil(wait_s))),))


def _too_large() -> Refusal:
    return Refusal(413, "Request body too large", f"a body of more than {LONGEST_BODY} bytes")


def from_settings(own: Settings) -> Guards:
    """The guards that the settings describe. Their `app` is still to be set.

    Raises CannotServe.
    """
    key_file = own.state_dir / own.http_key_file
    try:
        tokens.keys_at(key_file)
    except tokens.UnusableKeys as error:
        raise CannotServe(str(error)) from None
    given_out = ledger.Ledger(own.state_dir)
    leaving.at_leaving(lambda status: given_out.save())
    keys = watched.Watched(key_file, tokens.read_keys)
    return Guards(_nothing, url=own.http_url, keys=keys, given_out=given_out, rate=own.http_rate)


async def _nothing(scope: JsonObject, receive: Receive, send: Send) -> None:
    raise NotImplementedError


class _Cycle(Protocol):
    """A request and its answer, as the HTTP server names them."""

    response_complete: bool


def impatient(protocol: type) -> type:
    """A class of connections, made from the HTTP server's own, that hang up on who does not send a whole request."""

    class Impatient(protocol):
        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            self._watch()

        def send_400_response(self, msg: str) -> None:
            try:
                super().send_400_response(msg)
            except Exception:  # of the HTTP server's own: the answer to a HEAD has no body to put the reason in
                self.transport.close()

        def _watch(self) -> None:
            self.loop.call_later(HEADERS_S, self._look, self.cycle)

        def _look(self, cycle_before: _Cycle | None) -> None:
            if self.transport.is_closing():
                return
            if self.cycle is cycle_before and (self.cycle is None or self.cycle.response_complete):
                self.transport.close()
            else:
                self._watch()

    return Impatient
