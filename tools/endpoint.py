"""MCP over HTTP: each POST brings one message, and its answer is JSON or a stream of events.

The header MCP-Protocol-Version says which era a message belongs to. Clients of 2025 say only in `initialize`
whether they show pages, and withdraw a call by a second request. So the answer to `initialize` has a session
id: its ending says whether pages are shown, and a second request with the same id may withdraw a call. The id
grants nothing: the token of each request decides, so that a restarted server accepts the id, too.
"""

import asyncio
import secrets
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from contextvars import copy_context
from weakref import WeakValueDictionary

from tools import protocol, stdio
from tools.core import mcp_apps, results
from tools.core.calls import Caller, acting_for, remote_user
from tools.core.errors import RpcError
from tools.http import day
from tools.http.guards import (
    DAY_PAGES,
    JSON_TYPE,
    SESSION_HEADER,
    Receive,
    Refusal,
    Send,
    send_response,
    start_response,
)
from tools.http.limits import Turns
from tools.http.sign_in import Headers
from tools.protocol import METHOD_NOT_FOUND, MOST_CALLS, MOST_LISTS
from tools.toolkit import JsonObject, compact_json

TURN_S = 30  # how long a call waits for its turn
PING_S = 15  # longest silence of a stream: a proxy cuts one that is silent for longer
HEADER_MISMATCH = -32020
VERSION_HEADER = "mcp-protocol-version"
PAGES_SUFFIX = "-pages"  # the end of a session's id
# The capability of a client that shows pages.
PAGE_CAPABILITIES: JsonObject = {"extensions": {mcp_apps.EXTENSION: {}}}
# Keep proxies from holding events back or changing them.
EVENTS = {
    "content-type": "text/event-stream",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
}
# JSON's escapes for characters that some readers of events take for the end of a line.
LINE_ENDS = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}
# The param that the header Mcp-Name repeats.
NAME_PARAM = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


class HttpRequest(protocol.Request):
    """A request that came with `headers`. Messages about it wait in a queue, which None ends."""

    def __init__(self, message: JsonObject, headers: Headers):
        self.headers = headers
        is_shown = headers[SESSION_HEADER].endswith(PAGES_SUFFIX)
        super().__init__(message, PAGE_CAPABILITIES if is_shown else {})
        self.loop = asyncio.get_running_loop()
        self.messages: asyncio.Queue[JsonObject | None] = asyncio.Queue()

    def has_modern_era(self) -> bool:
        return self.headers.get(VERSION_HEADER, "2025-03-26") not in protocol.HANDSHAKE_VERSIONS

    def notify(self, message: JsonObject | None) -> None:
        """Put a message into the queue, from any thread."""
        self.loop.call_soon_threadsafe(self.messages.put_nowait, message)

    def withdraw(self) -> None:
        self.withdrawn = True
        self.notify(None)

    def check_transport(self) -> None:
        """Check that the headers agree with the message. Raises RpcError."""
        expected = {VERSION_HEADER: self.meta[protocol.PROTOCOL_VERSION], "mcp-method": self.method}
        if (name := self.params.get(NAME_PARAM.get(self.method, ""))) is not None:
            expected["mcp-name"] = name
        for header, value in expected.items():
            encoded = f"=?base64?{b64encode(str(value).encode()).decode()}?="
            if self.headers.get(header) not in (value, encoded):
                raise RpcError(HEADER_MISMATCH, f"The header {header} differs from the message")

    async def next_message(self) -> JsonObject | None:
        """The next message about this request; {} if there is none for PING_S, None after the last one."""
        try:
            return await asyncio.wait_for(self.messages.get(), PING_S)
        except asyncio.TimeoutError:
            return {}


class Endpoint:
    """Answers requests from worker threads, for all clients of this process."""

    def __init__(self) -> None:
        self.turns = Turns(MOST_CALLS, MOST_CALLS // 4)
        self.threads = ThreadPoolExecutor(MOST_CALLS + MOST_LISTS)
        # Requests in progress, by token, session and request id. Of those with the same id only the last can
        # be withdrawn.
        self.requests: WeakValueDictionary[str, HttpRequest] = WeakValueDictionary()

    async def answer(
        self, remote: Caller, headers: Headers, body: bytes, receive: Receive, send: Send
    ) -> None:
        """Answer the message in a body, on behalf of `remote`. Raises Refusal."""
        try:
            message = stdio.parse(body)
        except RpcError as error:
            raise Refusal(400, str(error), {}, error.code, error.request_id, is_read=True) from None
        method = message.get("method")
        params = message.get("params") or {}
        session_id = headers[SESSION_HEADER]
        if session_id == DAY_PAGES and (method, params.get("name")) not in day.ALLOWED_CALLS:
            raise Refusal(403, "a call that the page of the days does not make", is_read=True)
        session = f"{remote.token_id or remote.user} {session_id}"
        withdrawn = self.requests.get(f"{session} {params.get('requestId')!r}")
        if method == "notifications/cancelled" and session_id and withdrawn:
            withdrawn.withdraw()
        if method is None or "id" not in message:
            return await send_response(send, 202, {}, b"")
        # A request is answered unless its client withdraws it or hangs up: then its tool ends at its next
        # checkpoint, and gives its turn back.
        request = HttpRequest(message, headers)
        self.requests[f"{session} {request.id!r}"] = request
        delivering = asyncio.create_task(_deliver(request, send))
        watching = asyncio.create_task(_watch(request, receive))
        try:
            with acting_for(remote):
                answer = await self._result_of(request)
            request.messages.put_nowait(request.response(answer))
            request.messages.put_nowait(None)
            await delivering
        finally:
            watching.cancel()

    async def _result_of(self, request: HttpRequest) -> JsonObject:
        """The result of a request, or its error. A tool first waits for a turn; each person has only so many,
        however many tokens they have."""
        try:
            request.admit()
            async with AsyncExitStack() as turn_stack:
                if request.method == "tools/call":
                    turn = turn_stack.enter_async_context(self.turns.turn(remote_user()))
                    await asyncio.wait_for(turn, TURN_S)
                if request.withdrawn:
                    return {}
                # A thread starts with an empty context, and the caller travels in it.
                return await request.loop.run_in_executor(
                    self.threads, copy_context().run, protocol.answer_of, request
                )
        except asyncio.TimeoutError:
            return {"result": results.busy(self.turns.most_each)}
        except RpcError as error:
            return error.answer()
        except Exception:
            return protocol.unforeseen(f"{request.method} failed")


async def _watch(request: HttpRequest, receive: Receive) -> None:
    """Withdraw a request once its client hangs up."""
    while (await receive())["type"] != "http.disconnect":
        pass
    request.withdraw()


async def _deliver(request: HttpRequest, send: Send) -> None:
    """Send the messages about a request: as a stream of events that ends with the answer, or as JSON if the
    answer is the first of them and of the 2026 era."""
    message = await request.next_message()
    if request.is_modern and message and "method" not in message:
        code = message.get("error", {}).get("code", protocol.INTERNAL_ERROR)
        status = {METHOD_NOT_FOUND: 404, protocol.INTERNAL_ERROR: 200}.get(code, 400)
        return await send_response(
            send, status, {"content-type": JSON_TYPE}, _json(message).encode()
        )
    headers = EVENTS.copy()
    if request.method == "initialize" and message and "result" in message:
        ending = PAGES_SUFFIX if mcp_apps.shows_pages(request.params["capabilities"]) else ""
        headers[SESSION_HEADER] = secrets.token_hex(16) + ending
    await start_response(send, 200, headers)
    while message is not None:
        event = f"event: message\r\ndata: {_json(message)}\r\n\r\n" if message else ": ping\r\n\r\n"
        await send({"type": "http.response.body", "body": event.encode(), "more_body": True})
        message = await request.next_message()
    await send({"type": "http.response.body", "body": b""})


def _json(message: JsonObject) -> str:
    """A message as JSON text, in which characters that end a line for some readers of events are escaped."""
    return compact_json({"jsonrpc": "2.0", **message}).translate(LINE_ENDS)
