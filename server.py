#!/usr/bin/env python3
"""pi-mcp: one MCP server for a person's Raspberry Pi, over stdio and over HTTP.

A client starts it (`ssh pi /path/to/server.py`); `setup.sh` installs what it needs into `.venv`. This is the only file
that imports the SDK: it serves the registry in `tools/`. In this order: start, tools, transports, resident service.
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    sys.path[:0] = [os.path.dirname(os.path.realpath(__file__))]  # `python3 -I` leaves it out
    from tools.service import handover

    handover.begin()  # before anything heavy: with the resident service there this is all that happens

import json
import logging
import select
import signal
import threading
import time
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from tools.core import calls, completion, leaving, pages, prompts, registry, resources
from tools.core.errors import ToolError
from tools.core.files import encodable
from tools.core.instructions import instructions
from tools.core.json_types import JsonObject
from tools.core.settings import Settings, current
from tools.core.tool import Tool
from tools.service import results, stdio
from tools.service.starting import VERSION, command_line, refuse, settings_or_refuse

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    import anyio.from_thread
    import anyio.lowlevel
    import anyio.to_thread
    import mcp_types as types
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.server import Server
    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from mcp.server.models import InitializationOptions
    from mcp.server.session import ServerSession
    from mcp.shared.message import SessionMessage
    from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

    Handler = Callable[[ServerRequestContext, Any], Awaitable[JsonObject]]
    Inbox = MemoryObjectSendStream[SessionMessage | Exception]
    Outbox = MemoryObjectSendStream[SessionMessage]

PROJECT = Path(__file__).resolve().parent

logger = logging.getLogger("pi-mcp")


def main(words: list[str]) -> int:
    """Start the way the command line says. Exit status: 0 fine, 1 a check found something broken, 2 wrong usage."""
    way, host = command_line(words)
    settings = settings_or_refuse()
    if way == "list":
        from tools.__main__ import main as shell

        return shell(["list"])
    if way == "check":
        from tools import check

        return check.remote(host) if host else check.main([sys.executable, __file__, "--standalone"])
    if way == "daemon":
        return reside()
    return serve_http(settings) if way == "http" else serve_stdio(settings)


def import_sdk(way: str) -> None:
    """Import what serving needs of the SDK, as names of this module: for a session on `stdio`, for the `service`, which
    has everything ready for its sessions, or for `http`. The rest of the SDK comes once it is asked for."""
    global anyio, types, SessionMessage, HANDSHAKE_PROTOCOL_VERSIONS
    from tools.service import deferred
    from tools.service.lean_sdk import leanly

    def lean() -> None:
        from pydantic import BaseModel

        BaseModel.model_config["defer_build"] = way != "service"  # each model is built at its first use
        with leanly(way):
            import mcp.server.lowlevel  # noqa: F401

    def plain() -> None:
        from pydantic import BaseModel

        BaseModel.model_config.pop("defer_build", None)
        import mcp.server.lowlevel  # noqa: F401

    try:
        if reason := deferred.import_with_way_back(lean, plain, "mcp", "mcp_types"):
            logger.warning("The SDK is imported whole, which takes longer: %s", reason)
        import anyio
        import anyio.from_thread
        import anyio.to_thread
        import mcp_types as types
        from mcp.shared.message import SessionMessage
        from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
    except ImportError as error:
        refuse(f"mcp is not installed ({error}). Run {PROJECT / 'setup.sh'}")


def serve_stdio(settings: Settings) -> NoReturn:
    """Serve one client on stdin and stdout."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # one Ctrl-C is enough, also while the SDK is being imported
    lines = stdio.claim()
    import_sdk("stdio")
    serve_lines(lines, settings)


def serve_lines(lines: stdio.Lines, settings: Settings) -> NoReturn:
    """Serve the client at the other end of `lines`."""

    async def serve() -> None:
        server = session_server(settings)
        await server.serve(StdioTransport(lines, server.start_jobs))

    anyio.run(serve)
    leave()


def serve_http(settings: Settings) -> NoReturn:
    """Serve everybody who has a token over HTTP, until a signal, or until nobody came for long enough."""
    from tools.service import guards, listening

    import_sdk("http")
    try:
        import uvicorn
        from uvicorn.protocols.http.h11_impl import H11Protocol
    except ImportError as error:
        refuse(f"what HTTP needs is not installed ({error}). Run {PROJECT / 'setup.sh'} --http")
    try:
        guarded = guards.from_settings(settings)
        listener, is_kept = listening.for_http(settings.http_listen)
    except (guards.CannotServe, listening.CannotListen) as error:
        refuse(str(error))
    tools = ToolServer(settings, remote=True)
    # Stateless: there is no session to be stolen, or to be lost by a restart. Guards look at Host and Origin.
    app = tools.server.streamable_http_app(streamable_http_path=guarded.path, stateless_http=True, host="")
    guarded.app = app  # type: ignore[assignment]
    options: JsonObject = {**guards.UVICORN, "http": guards.impatient(H11Protocol)}
    server = uvicorn.Server(uvicorn.Config(guarded, **options))

    async def end_when_idle() -> None:
        await guarded.idle(settings.idle_exit_s, lambda: bool(server.server_state.connections))
        server.should_exit = True

    async def serve() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(leave_when_stuck)
            if is_kept and settings.idle_exit_s:
                tasks.start_soon(end_when_idle)
            await server.serve(sockets=[listener])
            tasks.cancel_scope.cancel()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: None)  # the server sends itself again what ended it
    tools.start_jobs()
    anyio.run(serve)
    leave()


def leave(status: int = 0) -> NoReturn:
    """End this process now, with its child processes. What is being written survives that: sqlite, git and atomic
    renames are made for it, while a worker thread might never end by itself."""
    try:
        leaving.run(status)
        logging.shutdown()
    finally:
        os._exit(status)


async def leave_at_a_signal() -> None:
    """End at the first signal. Through the event loop: it wakes up for a signal wherever that was delivered."""
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
        async for _ in signals:
            leave()


async def leave_with_caller() -> None:
    """End with whoever handed this session over to the service, also in the middle of a slow tool."""
    if leaving.caller:
        await anyio.wait_readable(leaving.caller)
        leave()


STUCK_S = 40.0


async def leave_when_stuck() -> None:
    """Have the kernel end this process once it computed for STUCK_S seconds without coming back here. What holds the
    interpreter that long (one regular expression can) lets no signal, no cancelling and no leaving client through."""
    try:
        while True:
            signal.setitimer(signal.ITIMER_PROF, STUCK_S)  # of the processor's time: a stopped process is not stuck
            await anyio.sleep(STUCK_S / 4)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


class ToolServer:
    """The registry as an MCP server: one for a session on stdio, or for all clients over HTTP (`remote`)."""

    MOST_CALLS = 32
    """Tools that run at a time, in threads of their own: lists and messages never wait for a tool."""
    TURN_S = 30
    """How long one more call waits for its turn."""
    PROGRESS_S = 0.2
    """The least time between two progress notifications of a call."""
    MOST_QUESTIONS = 8
    """Questions that wait for the person at a time; each holds a thread."""
    QUESTION_S = 600

    def __init__(self, settings: Settings, *, remote: bool = False):
        from mcp.server.caching import CACHEABLE_METHODS, CacheHint
        from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler

        self.settings = settings
        self.session: ServerSession | None = None
        self.token: anyio.lowlevel.EventLoopToken | None = None
        self.turns = anyio.Semaphore(self.MOST_CALLS)
        self.threads = anyio.CapacityLimiter(self.MOST_CALLS)
        self.questions = threading.BoundedSemaphore(self.MOST_QUESTIONS)
        self.bus = InMemorySubscriptionBus()
        self.server = server_class()(
            "pi-mcp",
            version=VERSION,
            get_tool_input_schema=self.input_schema,
            cache_hints=dict.fromkeys(CACHEABLE_METHODS, CacheHint()),  # type: ignore[arg-type]
        )
        self.server.extensions[pages.EXTENSION] = {}
        self.server.middleware[:] = [self.remember]  # without OpenTelemetry's, which has nowhere to send to
        handlers: tuple[tuple[str, type[types.RequestParams], Handler], ...] = (
            ("tools/list", types.PaginatedRequestParams, self.list_tools),
            ("tools/call", types.CallToolRequestParams, self.call_tool),
            ("prompts/list", types.PaginatedRequestParams, self.answering(prompts.list_prompts)),
            ("prompts/get", types.GetPromptRequestParams, self.answering(prompts.get_prompt)),
            ("resources/list", types.PaginatedRequestParams, self.answering(resources.list_resources)),
            ("resources/templates/list", types.PaginatedRequestParams, self.answering(resources.list_templates)),
            ("resources/read", types.ReadResourceRequestParams, self.answering(resources.read_resource)),
            ("completion/complete", types.CompleteRequestParams, self.answering(completion.complete)),
        )
        for method, params, handler in handlers:
            self.server.add_request_handler(method, params, handler)
        if not remote:  # proxies cut a stream without an end
            listen = ListenHandler(self.bus)
            self.server.add_request_handler("subscriptions/listen", types.SubscriptionsListenRequestParams, listen)

    async def remember(self, ctx: ServerRequestContext, call_next: CallNext) -> HandlerResult:
        """Keep the session that `tools/list_changed` goes to; in the 2026 era the bus delivers it."""
        if ctx.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
            self.session = ctx.session
        return await call_next(ctx)

    @cached_property
    def options(self) -> InitializationOptions:
        """What a session on stdio tells its client first."""
        from mcp.server.lowlevel import NotificationOptions

        return self.server.create_initialization_options(NotificationOptions(tools_changed=True))

    def answering(self, function: Callable[[Settings, Any], JsonObject]) -> Handler:
        """A handler that answers what `function` gives, from a thread."""

        async def handle(ctx: ServerRequestContext, params: types.RequestParams) -> JsonObject:
            from mcp.shared.exceptions import MCPError

            try:
                answer = await anyio.to_thread.run_sync(function, self.settings, params)
            except ToolError as error:
                raise MCPError(types.INVALID_PARAMS, f"{error.message}. {error.hint}", error.answer()) from None
            except Exception:
                logger.exception("%s failed", function.__name__)
                raise MCPError(
                    types.INTERNAL_ERROR, "Internal error; the server's log (stderr) has the details"
                ) from None
            return encodable({**results.COMPLETE, **answer})[0]

        return handle

    async def tools(self, ctx: ServerRequestContext) -> dict[str, Tool]:
        """The tools on offer by listed name. The first call imports the toolsets, in a thread."""
        if not registry.is_loaded():
            await anyio.to_thread.run_sync(registry.load)
        return registry.listed(self.settings, pages.shown_in(ctx.session))

    def input_schema(self, name: str) -> JsonObject | None:
        """What the SDK holds a call's headers against over HTTP; None for a tool that is not on offer."""
        tool = registry.named(name, registry.listed(self.settings).values())
        return tool.schema if tool else None

    async def list_tools(self, ctx: ServerRequestContext, params: types.RequestParams) -> JsonObject:
        shown = pages.shown_in(ctx.session)
        described = [results.describe(*tool, shown) for tool in (await self.tools(ctx)).items()]
        return {**results.COMPLETE, "tools": described}

    async def call_tool(self, ctx: ServerRequestContext, params: types.CallToolRequestParams) -> JsonObject:
        """The answer of one tool, which runs in a worker thread; or its question to the person."""
        try:
            tool = registry.find(params.name, (await self.tools(ctx)).values())
            await self.take_turn()
        except ToolError as error:
            return results.of(error.answer())
        try:
            return results.of(*await anyio.to_thread.run_sync(self.run, tool, params, ctx, limiter=self.threads))
        except calls.Asking as asking:
            return results.question(str(asking))
        finally:
            self.turns.release()

    async def take_turn(self) -> None:
        """Wait until a tool more may run.

        Raises ToolError BUSY.
        """
        if self.turns.value:
            return self.turns.acquire_nowait()
        with anyio.move_on_after(self.TURN_S):
            return await self.turns.acquire()
        raise ToolError(
            f"{self.MOST_CALLS} calls are running or wait for a person's answer",
            "Nothing was changed. Answer or cancel one of them, then try again.",
            code="BUSY",
        )

    def run(
        self, tool: Tool, params: types.CallToolRequestParams, ctx: ServerRequestContext
    ) -> tuple[object, JsonObject | None]:
        """Run a tool in this worker thread, with progress, cancellation and questions going to its client: its answer,
        and what the page beside it is told."""
        last_report_s = 0.0

        def report(done: float, total: float | None, message: str) -> None:
            nonlocal last_report_s
            now_s = time.monotonic()
            if done == total or now_s - last_report_s >= self.PROGRESS_S:
                last_report_s = now_s
                with suppress(BaseException):  # a withdrawn call's progress goes nowhere; it ends at its checkpoint
                    anyio.from_thread.run(ctx.session.report_progress, done, total, message)

        def cancelled() -> bool:
            try:
                anyio.from_thread.check_cancelled()
            except BaseException:  # the backend's own class, which is not an Exception
                return True
            return False

        with calls.calling(report, cancelled, lambda text: self.ask(text, params, ctx)):
            answer = tool.call(params.arguments or {})
            return answer, tool.page.private(answer) if tool.page and pages.shown_in(ctx.session) else None

    def ask(self, text: str, params: types.CallToolRequestParams, ctx: ServerRequestContext) -> str:
        """A tool's question to the person, from its worker thread; the answer is `accept`, `decline` or `cancel`.

        Raises ToolError if the client cannot ask; Asking in the 2026 era, whose client calls again with the answer.
        """
        elicitation = getattr(ctx.session.client_capabilities, "elicitation", None)
        if elicitation is None or (elicitation.url and not elicitation.form):
            return calls.nobody(text)
        if ctx.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
            return self.elicit(text, ctx)
        response = (params.input_responses or {}).get(results.CONSENT)
        was_asked = params.request_state == calls.digest(text)  # else that was not what would happen now
        if response is None or not was_asked:
            raise calls.Asking(text)
        return getattr(response, "action", "cancel")

    def elicit(self, text: str, ctx: ServerRequestContext) -> str:
        """Ask the person and wait for the answer, which is `cancel` if none comes."""

        async def answer() -> str:
            with anyio.move_on_after(self.QUESTION_S):
                return (await ctx.session.elicit_form(text, results.NO_FIELDS, ctx.request_id)).action
            return "cancel"

        if not self.questions.acquire(blocking=False):
            raise ToolError(
                f"{self.MOST_QUESTIONS} questions wait for the person's answer already",
                "Nothing was changed. Let the person answer them, then try again.",
                code="BUSY",
            )
        try:
            return anyio.from_thread.run(answer)
        except Exception:  # the call was withdrawn meanwhile, or the client claims what it cannot do
            calls.checkpoint()
            return calls.nobody(text)
        finally:
            self.questions.release()

    def announce(self) -> None:
        """Tell the client, from any thread, that `tools/list` reads differently now."""
        from mcp.server.subscriptions import ToolsListChanged

        async def send() -> None:
            await self.bus.publish(ToolsListChanged())
            if self.session:
                await self.session.send_tool_list_changed()

        anyio.from_thread.run(send, token=self.token)

    async def serve(self, transport: StdioTransport) -> None:
        """Serve the client at the other end of `transport` until it leaves; this does not return."""
        self.token = anyio.lowlevel.current_token()
        registry.LISTENERS.append(self.announce)
        inbox_send, inbox = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        outbox, outbox_receive = anyio.create_memory_object_stream[SessionMessage](0)
        async with anyio.create_task_group() as tasks:
            for watch in (leave_at_a_signal, leave_with_caller, leave_when_stuck):
                tasks.start_soon(watch)
            tasks.start_soon(transport.write, outbox_receive)
            tasks.start_soon(transport.read, inbox_send, outbox.clone())
            await self.server.run(inbox, outbox, self.options)

    def start_jobs(self) -> None:
        """Run the start-up jobs of the listed toolsets in a thread of their own."""

        def run_jobs() -> None:
            for job in registry.start_jobs(self.settings):
                try:
                    job()
                except Exception:
                    logger.exception("%s failed", job.__module__)

        threading.Thread(target=run_jobs, daemon=True).start()


@cache
def server_class() -> type[Server]:
    """The SDK's server, with instructions about what the caller of the moment may use."""
    from mcp.server.lowlevel import Server

    return type(
        "InstructingServer", (Server,), {"instructions": property(lambda _: instructions(current()), lambda *_: None)}
    )


@cache
def session_server(settings: Settings) -> ToolServer:
    """The server of this process's one session; the resident service has it ready for those whose settings are its own."""
    return ToolServer(settings)


class StdioTransport:
    """The client's end of stdin and stdout: one JSON-RPC message per line, and nothing else.

    Unlike the SDK's transport it answers what is not a message, bounds a line, and still answers open calls after EOF.
    """

    MOST_OWED = 64
    """Answers that a client may leave unread before nothing more is read from it."""
    DRAIN_S = 5
    """How long open calls may be answered after the client closed its side (a piped smoke test does so at once)."""

    def __init__(self, lines: stdio.Lines, on_start: Callable[[], None], on_end: Callable[[], object] = leave) -> None:
        self.lines = lines
        self.on_end = on_end
        self.owed = stdio.Owed()
        self.on_start: Callable[[], None] | None = on_start
        self.threads = anyio.CapacityLimiter(2)
        """Its own, so that busy tools never keep a message from being read or written."""
        self.written: anyio.Event | None = None
        """While a line is being written: set once that is done."""

    async def read(self, inbox: Inbox, outbox: Outbox) -> None:
        """Pass on each message; answer what is not one. Leaves the process at EOF, once open calls are answered."""
        while line := await anyio.to_thread.run_sync(self.lines.read, limiter=self.threads):
            if not line.strip():
                continue
            try:
                message = parse(line)
            except InvalidMessage as error:
                self.owed.note_invalid(error.answer.id)
                await outbox.send(SessionMessage(error.answer))
            else:
                self.owed.note_incoming(message)
                if getattr(message, "method", "") == "notifications/initialized":
                    self.start()
                await inbox.send(SessionMessage(message))
            while self.written and len(self.owed) > self.MOST_OWED:
                await self.written.wait()
        await self.drain()
        self.on_end()

    async def write(self, outbox: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Write what the server sends. Leaves the process when the client is gone."""
        async for item in outbox:
            self.written = anyio.Event()
            try:
                await anyio.to_thread.run_sync(self.lines.write, encode(item.message), limiter=self.threads)
            except OSError:
                leave()
            self.written.set()
            self.written = None
            if not hasattr(item.message, "method"):
                self.note_answered(item.message)

    def note_answered(self, answer: types.JSONRPCResponse | types.JSONRPCError) -> None:
        """Count an answer as given; the first one that is not the handshake's starts background work."""
        self.owed.note_answered(answer.id)
        if "protocolVersion" not in (getattr(answer, "result", None) or {}):
            self.start()

    def start(self) -> None:
        """The client is served: background work may begin, once."""
        if start := self.on_start:
            self.on_start = None
            start()

    async def drain(self) -> None:
        """Wait until nothing is owed any more, as long as somebody is there to read it."""
        reader = select.poll()
        reader.register(self.lines.stdout.fileno(), 0)
        with anyio.move_on_after(self.DRAIN_S):
            while self.owed and not reader.poll(0):
                await anyio.sleep(0.01)


class InvalidMessage(Exception):
    """A line is not a JSON-RPC message; `answer` is the JSON-RPC error to send."""

    def __init__(self, code: int, text: str, request_id: object = None):
        known = request_id if isinstance(request_id, str) or type(request_id) is int else None
        self.answer = types.JSONRPCError(jsonrpc="2.0", id=known, error=types.ErrorData(code=code, message=text))


def parse(line: bytes) -> types.JSONRPCMessage:
    """The JSON-RPC message of a line.

    Raises InvalidMessage.
    """
    from pydantic import ValidationError

    if reason := stdio.refusal(line):
        raise InvalidMessage(types.INVALID_REQUEST, reason, stdio.id_of(line))
    try:
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        if not isinstance(message, types.JSONRPCNotification) or "id" not in json.loads(line):
            return message  # else an id of a wrong type made a request look like a notification
        raise InvalidMessage(types.INVALID_REQUEST, "Invalid request: the id is neither text nor a whole number")
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        if first["type"] == "json_invalid":
            raise InvalidMessage(types.PARSE_ERROR, f"Parse error: {first['msg']}", stdio.id_of(line)) from None
        raise InvalidMessage(
            types.INVALID_REQUEST, "Invalid request: one JSON-RPC 2.0 message a line", stdio.id_of(line)
        ) from None


def encode(message: types.JSONRPCMessage) -> bytes:
    """The line of a JSON-RPC message."""
    return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"


def reside() -> int:
    """Be the resident service: import once what every session needs, then fork."""
    from tools.service import handover, resident

    identity = handover.identity()
    warm_up()
    return resident.main(lambda: serve_lines(stdio.claim(), settings_or_refuse()), identity)


def warm_up() -> None:
    """Have here, to be shared, what every session would make for itself."""
    from tools.core import settings
    from tools.service import first_requests

    import_sdk("service")  # what is built here no session builds
    registry.load()
    settings.written_folders()
    for requests in first_requests.SESSIONS:
        with first_requests.lines(requests) as lines:
            anyio.run(serve_once, lines)
    _ = session_server(settings.current()).options
    while len(os.listdir("/proc/self/task")) > 1:  # its threads are ending; no child may inherit one
        time.sleep(0.001)


async def serve_once(lines: stdio.Lines) -> None:
    """Serve the client at the other end of `lines`, and come back once it left."""
    server = ToolServer(current())
    with anyio.CancelScope() as scope:
        await server.serve(StdioTransport(lines, lambda: None, scope.cancel))
    registry.LISTENERS.remove(server.announce)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
