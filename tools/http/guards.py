"""The guards of HTTP: an ASGI application that refuses what may not pass, and has the rest answered.

A request passes, in this order: path, token, method, framing, scope, rate, headers, body. A refusal leaves a
line in the log with the reason, and never a word of the token.
"""

import asyncio
import json
import logging
import math
import re
import sqlite3
from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tools.core.calls import Caller
from tools.core.settings import Settings
from tools.toolkit import JsonObject

from . import day, tokens
from .ledger import Ledger
from .limits import Rate, Turns
from .sign_in import PLAIN_TEXT, Headers, SignIn, sentence

Receive = Callable[[], Awaitable[JsonObject]]
Send = Callable[[JsonObject], Awaitable[None]]
# Answers a message, given its caller, headers and body, and the two ends of its connection.
AnswerMessage = Callable[[Caller, Headers, bytes, Receive, Send], Awaitable[None]]

JSON_TYPE = "application/json"
LONGEST_BODY_BYTES = 4 * 2**20
# The longest body of a sign-in, which anybody may send. Longer bodies need a token, and four are held at a
# time, one per person, so that they cannot fill the memory.
SMALL_BODY_BYTES = 16_384
BODY_TURN_S = 30  # the longest wait for a turn
SESSION_HEADER = "mcp-session-id"
DAY_PAGES = "day-pages"  # in place of a session id: the page of the days

logger = logging.getLogger("pi-mcp")


@dataclass
class Refusal(Exception):
    """A request that is not passed on. The reason is for the log, and for a sender with a good token."""

    status: int
    reason: str
    headers: Headers = field(default_factory=dict)
    code: int = -32600  # JSON-RPC's invalid request
    request_id: str | int | None = None
    # True if nothing of the body is left unread.
    is_read: bool = False
    # After how long the client may try again; 0 if that would not help.
    retry_s: int = 0


class Guards:
    """Passes on to `answer` the requests that may be served, on behalf of the token's user. Raises
    OSError."""

    def __init__(self, settings: Settings, answer: AnswerMessage):
        self.answer = answer
        parts = urlsplit(settings.http_url)
        # Hosts and origins are the public one and this machine, with any port.
        host_names = (parts.netloc, parts.hostname or "", "127.0.0.1", "localhost", "[::1]")
        host_pattern = f"({'|'.join(map(re.escape, host_names))})(:.*)?"
        # The values that headers may have, as regular expressions, and the status of a refusal.
        self.patterns = {
            "host": (421, host_pattern),
            "origin": (403, f"(https?://{host_pattern})?"),
            "content-type": (400, r"application/json\s*(;.*)?"),
            # It has to name each of both kinds, or a range that it lies in.
            "accept": (
                406,
                r"(?=(.*,)?\s*(\*/\*|application/(json|\*))\s*([;,]|$))"
                r"(?=(.*,)?\s*(\*/\*|text/(event-stream|\*))\s*([;,]|$)).*",
            ),
        }
        self.ledger = Ledger(settings.state_dir, patience_s=0.5)  # the event loop waits for it
        key_file = settings.state_dir / settings.http_key_file
        tokens.ensure_keys(key_file)
        self.sign_in = SignIn(settings.http_url, self.ledger, key_file)
        # The header that leads a client to the sign-in.
        self.challenge = f'Bearer realm="pi-mcp", resource_metadata="{self.sign_in.metadata_url}"'
        self.rate = Rate(settings.http_rate)
        self.day = day.DayPage(self.sign_in, self.rate)
        self.log_rate = Rate(60)
        self.long_bodies = Turns(4, 1)

    async def __call__(self, scope: JsonObject, receive: Receive, send: Send) -> None:
        headers = _headers(scope)
        try:
            await self._serve(scope, headers, receive, send)
        except Refusal as refusal:
            method = scope["method"]
            if refusal.status != 405 or method not in ("GET", "DELETE"):  # which clients try
                self._log(refusal.status, refusal.reason)
            await _refuse(refusal, method, headers, send)

    def _log(self, status: int, reason: str) -> None:
        if not self.log_rate.wait_s():  # nobody without a token can fill the log
            logger.warning("HTTP %d: %s", status, reason)

    async def _serve(
        self, scope: JsonObject, headers: Headers, receive: Receive, send: Send
    ) -> None:
        """Pass a request on to the sign-in, the endpoint, or the page of the days."""
        # The page of the days sends from its own origin.
        path = scope["path"]
        is_day = path == day.CALL_PATH
        is_sent_by_page = scope["method"] == "POST" and path in (day.PATH, day.CALL_PATH)
        if is_sent_by_page and headers["origin"] != self.sign_in.issuer:
            raise Refusal(403, "a request of another page")
        if path in self.sign_in.endpoints:
            # Anybody may call these, so nothing large is read.
            body = await _read_body(receive, SMALL_BODY_BYTES)
            status, reply_headers, reply_body = await self.sign_in.answer(scope, headers, body)
            if status >= 400:
                self._log(status, f"{path}: {reply_body.decode()[:200].partition('<')[0]}")
            return await send_response(send, status, reply_headers, reply_body)
        # Everything else needs a token, or the cookie of the page.
        if path.rstrip("/") != self.sign_in.path and not is_day:
            raise Refusal(404, f"nothing is at {path[:100]!r}")
        caller = self._authenticate(headers, is_day)
        self._check_request(scope["method"], headers, caller)
        if is_day:
            headers[SESSION_HEADER] = DAY_PAGES
        # A turn for a long body is held until its call ends.
        async with AsyncExitStack() as turn_stack:
            if int(headers.get("content-length", LONGEST_BODY_BYTES)) > SMALL_BODY_BYTES:
                await self._wait_for_room(turn_stack, caller.user)
            body = await _read_body(receive, LONGEST_BODY_BYTES)
            if len(body) <= SMALL_BODY_BYTES:  # of chunks, which do not announce their length
                await turn_stack.aclose()
            await self.answer(caller, headers, body, receive, send)

    async def _wait_for_room(self, turn_stack: AsyncExitStack, user: str) -> None:
        """Wait for a turn for a long body, which `turn_stack` keeps."""
        turn = turn_stack.enter_async_context(self.long_bodies.turn(user))
        try:
            await asyncio.wait_for(turn, BODY_TURN_S)
        except asyncio.TimeoutError:  # before Python 3.11 not the one built in
            reason = f"{user!r} waited {BODY_TURN_S} s for room for a long body"
            raise Refusal(503, reason, retry_s=BODY_TURN_S) from None

    def _check_request(self, method: str, headers: Headers, caller: Caller) -> None:
        """Refuse a request with a bad method or framing, without a toolset, beyond the rate, of another page,
        or of a client that cannot read the answer. Raises Refusal."""
        if method != "POST":
            raise Refusal(405, f"method {method[:20]!r}", {"allow": "POST"})
        if "content-length" in headers and "transfer-encoding" in headers:
            # It is not clear where the body ends (RFC 9112 6.3).
            raise Refusal(400, "a body with two lengths: Content-Length, Transfer-Encoding")
        if not caller.toolsets:
            challenge = {"www-authenticate": f'{self.challenge}, error="insufficient_scope"'}
            raise Refusal(403, f"the token of {caller.user!r} names no toolset", challenge)
        if wait_s := self.rate.wait_s(caller.user):
            retry_s = math.ceil(wait_s)
            reason = (
                f"too many requests of {caller.user!r} (MCP_HTTP_RATE): try again in {retry_s} s"
            )
            raise Refusal(429, reason, retry_s=retry_s)
        for name, (status, pattern) in self.patterns.items():
            if not re.fullmatch(pattern, headers[name], re.IGNORECASE):
                raise Refusal(status, f"the header {name}: {headers[name][:100]!r}")

    def _authenticate(self, headers: Headers, is_day: bool) -> Caller:
        """The caller of the request, by its token or its cookie. Every failure looks the same from
        outside."""
        scheme, _, token = headers["authorization"].partition(" ")
        try:
            if is_day:
                return self.day.caller(headers["cookie"])
            if scheme.lower() != "bearer":
                raise tokens.InvalidToken("there is no bearer token")
            caller = tokens.verify(token, tokens.read_keys(self.sign_in.key_file), self.sign_in.url)
            if not self.ledger.check_use(caller.token_id):
                raise tokens.InvalidToken(f"{caller.token_id} was revoked")
        # This is not the fault of the token, which its client should keep.
        except (sqlite3.Error, OSError) as error:
            reason = f"tokens cannot be looked up now: {error}"
            raise Refusal(503, reason, retry_s=5) from None
        except tokens.InvalidToken as error:
            challenge = self.challenge
            if token:
                challenge += ', error="invalid_token"'  # RFC 6750: now a client renews it
            raise Refusal(401, f"token refused: {error}", {"www-authenticate": challenge}) from None
        return caller


def _headers(scope: JsonObject) -> Headers:
    """The headers of a request; one that is missing is empty, one that comes twice is a list (RFC 9110
    5.3)."""
    headers: Headers = defaultdict(str)
    for pair in scope["headers"]:
        name, value = (encoded.decode("latin-1") for encoded in pair)
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


async def _read_body(receive: Receive, most_bytes: int) -> bytes:
    """Read the body of a request. Raises Refusal if it ends too early, or is longer than `most_bytes`."""
    body = bytearray()
    has_more = True
    while has_more:
        message = await receive()
        if message["type"] != "http.request":
            raise Refusal(400, "a body ended in the middle, or took too long")
        body += message.get("body", b"")
        if len(body) > most_bytes:
            raise Refusal(413, f"a body of more than {most_bytes} bytes")
        has_more = message.get("more_body", False)
    return bytes(body)


async def _refuse(refusal: Refusal, method: str, headers: Headers, send: Send) -> None:
    """Answer a request with a JSON-RPC error, which any client can show; a browser with a text for people."""
    # The same words whatever is wrong with a token.
    message = "Unauthorized" if refusal.status == 401 else refusal.reason
    error: JsonObject = {"code": refusal.code, "message": message}
    if refusal.retry_s:
        refusal.headers["retry-after"] = str(refusal.retry_s)
        error["data"] = {"retry_after": refusal.retry_s}  # some clients never look at the header
    body = json.dumps({"jsonrpc": "2.0", "id": refusal.request_id, "error": error})
    content_type = JSON_TYPE
    if method == "GET" and "text/html" in headers["accept"]:
        body = sentence("programs")
        content_type = PLAIN_TEXT
    refusal.headers["content-type"] = content_type
    # The unread rest of a body would be taken for the next request.
    has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
    if has_body and not refusal.is_read:
        refusal.headers["connection"] = "close"
    # The HTTP server may have answered a broken body already, and hung up.
    with suppress(Exception):
        await send_response(send, refusal.status, refusal.headers, body.encode())


async def send_response(send: Send, status: int, headers: Headers, body: bytes) -> None:
    """Send a whole answer."""
    await start_response(send, status, {**headers, "content-length": str(len(body))})
    await send({"type": "http.response.body", "body": body})


async def start_response(send: Send, status: int, headers: Headers) -> None:
    """Send the status and the headers of an answer; its body follows."""
    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
