#!/usr/bin/env python3
"""pi-mcp: one MCP server for a person's Raspberry Pi, over stdio and over HTTP.

A client starts it (`ssh pi /path/to/server.py`); `setup.sh` installs what it needs into `.venv`. This is the
only file that imports the SDK: it serves the registry in `tools/`. In this order: start, tools, transports,
resident service.
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    sys.path[:0] = [os.path.dirname(os.path.realpath(__file__))]  # `python3 -I` leaves it out
    from tools.resident import handover

    handover.begin()  # before anything heavy: with the resident service there this is all that happens

import json
import select
import signal
import threading
import time
from contextlib import AsyncExitStack, suppress
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

from tools import early, listing, results, sdk, stdio
from tools.core import calls, mcp_apps, prompts, registry, resources
from tools.core.errors import InvalidMessage, ToolError
from tools.core.json_types import JsonObject, compact_json, encodable
from tools.core.registry import instructions
from tools.core.settings import PROJECT, Settings, current, written_folders
from tools.core.tool import Tool
from tools.starting import VERSION, command_line, refuse, settings_or_refuse

if TYPE_CHECKING:
    import logging
    from collections.abc import Awaitable, Callable

    import anyio.from_thread
    import anyio.lowlevel
    import anyio.to_thread
    import mcp_types as types
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.server import Server
    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from mcp.server.session import ServerSession
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from mcp.shared.message import SessionMessage
    from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

    Handler = Callable[[ServerRequestContext, Any], Awaitable[JsonObject]]
    Inbox = MemoryObjectSendStream[SessionMessage | Exception]
    Outbox = MemoryObjectSendStream[SessionMessage]


def main(words: list[str]) -> int:
    """Start the way the command line says. Exit status: 0 fine, 1 a check found something broken, 2 wrong
    usage."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # one Ctrl-C is enough, also while the SDK is being imported
    way, host = command_line(words)
    settings = settings_or_refuse()
    if way == "list":
        from tools.__main__ import main as shell

        return shell(["list"])
    if way == "connect":
        from tools import connect

        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # whoever reads may have enough: `… | head -1`
        print(connect.lines(*connect.place()[:2]))
        return 0
    if way == "check":
        from tools import check, ssh_check

        return ssh_check.main(host) if host else check.main([sys.executable, __file__, "--standalone"])
    if way == "daemon":
        from tools.resident import resident

        identity = listing.identity()  # of the sources that are imported now
        warm_up()
        return resident.main(serve_session, identity)
    return serve_http(settings) if way == "http" else serve_stdio(settings)


def import_sdk(way: str) -> None:
    """Import what serving needs of the SDK, as names of this module. `way`: "stdio" (one session), "service"
    (preloads everything for its forks) or "http". Other modules of the SDK load on first use."""
    global anyio, logging, types, SessionMessage, HANDSHAKE_PROTOCOL_VERSIONS
    try:
        from pydantic import BaseModel

        BaseModel.model_config["defer_build"] = way != "service"  # each model is built at its first use
        with sdk.trimmed_imports(way):
            import mcp.server.lowlevel  # noqa: F401
        import logging

        import anyio
        import anyio.from_thread
        import anyio.to_thread
        import mcp_types as types
        from mcp.shared.message import SessionMessage
        from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
    except Exception as error:  # whatever an SDK that was changed runs into
        refuse(
            f"mcp {sdk.VERSION} cannot be imported ({error or repr(error)}). {PROJECT / 'setup.sh'} repairs that"
        )


def serve_stdio(settings: Settings) -> NoReturn:
    """Serve one client on stdin and stdout."""
    lines = stdio.claim()
    if not sdk.is_installed("mcp", sdk.VERSION):
        import_sdk("stdio")  # which says what to run
    if not early.serve(lines, settings, lambda: import_sdk("stdio")):
        leave()
    registry.LISTENERS.append(listing.forget)
    serve_lines(lines, settings, lambda: listing.refresh(settings))


def serve_session() -> NoReturn:
    """Serve the client that was handed over to this child of the resident service."""
    from tools.core import processes

    lines, settings = stdio.claim(), settings_or_refuse()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: leave())
    if processes.caller and not early.serve_idle(lines, settings, processes.caller.fileno()):
        leave()
    registry.LISTENERS.append(listing.forget)
    serve_lines(lines, settings, lambda: listing.refresh_daily(settings))


def serve_lines(
    lines: stdio.Lines, settings: Settings, first_job: Callable[[], None] = lambda: None
) -> NoReturn:
    """Serve the client at the other end of `lines`. `first_job` runs before the toolsets' own start-up
    jobs."""
    server = session_server(settings)
    anyio.run(server.serve, StdioTransport(lines, lambda: server.start_jobs(first_job)))
    leave()


def serve_http(settings: Settings) -> NoReturn:
    """Serve everybody who has a token over HTTP, until a signal, or until nobody came for long enough."""
    from tools.http import guards, limits
    from tools.resident import listening

    import_sdk("http")
    try:
        import uvicorn
    except ImportError as error:
        refuse(f"what HTTP needs is not installed ({error}). Run {PROJECT / 'setup.sh'} --http")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(
            number, lambda *_: leave()
        )  # while it starts; and what ended the server is sent again by it
    registry.LISTENERS.append(listing.forget)
    tools = ToolServer(settings, remote=True)
    manager = session_manager(tools.server, settings)
    try:
        guarded = guards.Guards(settings, manager.handle_request, parse, anyio.move_on_after)
        listener, is_kept = listening.for_http(settings.http_listen)
    except (OSError, listening.CannotListen) as error:
        refuse(str(error))
    server = uvicorn.Server(uvicorn.Config(guarded, **limits.UVICORN))
    print(f"pi-mcp: serving {settings.http_url} at {settings.http_listen}", file=sys.stderr)

    async def serve() -> None:
        async with manager.run(), anyio.create_task_group() as tasks:
            tasks.start_soon(leave_when_stuck)
            tasks.start_soon(limits.watch, server, settings.idle_exit_s if is_kept else 0)
            await server.serve(sockets=[listener])
            tasks.cancel_scope.cancel()

    tools.start_jobs()
    anyio.run(serve)
    leave()


def session_manager(server: Server, settings: Settings) -> StreamableHTTPSessionManager:
    """The SDK's end of HTTP. Stateless: there is no session to be stolen, or to be lost by a restart."""
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from mcp.server.transport_security import TransportSecuritySettings

    from tools.http import guards

    hosts, origins = guards.addresses(settings.http_url)
    security = TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins)
    return StreamableHTTPSessionManager(
        server, stateless=True, security_settings=security, max_request_body_size=guards.LONGEST_BODY
    )


def leave(status: int = 0) -> NoReturn:
    """End this process now, with its child processes. What is being written survives that: sqlite, git and
    atomic renames are made for it, while a worker thread might never end by itself."""
    try:
        if processes := sys.modules.get("tools.core.processes"):
            processes.run_at_leaving(status)
    finally:
        os._exit(status)


async def leave_at_a_signal() -> None:
    """End at the first signal. Through the event loop: it wakes up for a signal wherever that was
    delivered."""
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
        async for _ in signals:
            leave()


async def leave_with_caller() -> None:
    """End with whoever handed this session over to the service, also in the middle of a slow tool."""
    from tools.core import processes

    if processes.caller:
        await anyio.wait_readable(processes.caller)
        leave()


STUCK_S = 40.0


async def leave_when_stuck() -> None:
    """Have the kernel end this process once it computed for STUCK_S seconds without coming back here. What
    holds the interpreter that long (one regular expression can) lets no signal, no cancelling and no leaving
    client through."""
    try:
        while True:
            signal.setitimer(
                signal.ITIMER_PROF, STUCK_S
            )  # of the processor's time: a stopped process is not stuck
            await anyio.sleep(STUCK_S / 4)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


class ToolServer:
    """The registry as an MCP server: one for a session on stdio, or for all clients over HTTP (`remote`)."""

    # Tools that run at a time, in threads of their own: lists and messages never wait for a tool.
    MOST_CALLS = 32
    # Seconds that one more call waits for its turn.
    TURN_S = 30
    # The least time between two progress notifications of a call.
    PROGRESS_S = 0.2
    # Seconds that a question waits for the person; it holds a turn and a thread.
    QUESTION_S = 600

    def __init__(self, settings: Settings, *, remote: bool = False):
        from mcp.server.caching import CACHEABLE_METHODS, CacheHint
        from mcp.server.lowlevel import NotificationOptions, Server
        from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler

        from tools.http.limits import Turns

        class InstructingServer(Server):
            # Of the caller of the moment, whatever the SDK sets.
            instructions = property(lambda self: instructions(current()), lambda *_: None)

        self.settings = settings
        self.session: ServerSession | None = None
        self.token: anyio.lowlevel.EventLoopToken | None = None
        self.turns = Turns(self.MOST_CALLS, self.MOST_CALLS // 4 if remote else self.MOST_CALLS)
        self.threads = anyio.CapacityLimiter(self.MOST_CALLS)
        self.bus = InMemorySubscriptionBus()
        self.server = InstructingServer(
            "pi-mcp",
            version=VERSION,
            get_tool_input_schema=lambda name: (
                None
            ),  # no argument is repeated in a header, to be checked against it
            cache_hints=dict.fromkeys(CACHEABLE_METHODS, CacheHint()),  # type: ignore[arg-type]
        )
        self.server.extensions |= {mcp_apps.EXTENSION: {}, prompts.SKILLS: {}}
        self.server.middleware[:] = [self.remember]  # without OpenTelemetry's, which has nowhere to send to
        handlers: tuple[tuple[str, type[types.RequestParams], Handler], ...] = (
            ("tools/list", types.PaginatedRequestParams, self.list_tools),
            ("tools/call", types.CallToolRequestParams, self.call_tool),
            ("prompts/list", types.PaginatedRequestParams, self.answering(prompts.list_prompts)),
            ("prompts/get", types.GetPromptRequestParams, self.answering(prompts.get_prompt)),
            ("resources/list", types.PaginatedRequestParams, self.answering(resources.list_resources)),
            (
                "resources/templates/list",
                types.PaginatedRequestParams,
                self.answering(resources.list_templates),
            ),
            ("resources/read", types.ReadResourceRequestParams, self.answering(resources.read_resource)),
            ("skills/list", types.PaginatedRequestParams, self.answering(prompts.list_skills)),
            ("skills/get", types.ReadResourceRequestParams, self.answering(prompts.get_skill)),
            ("completion/complete", types.CompleteRequestParams, self.answering(resources.complete)),
        )
        for method, params, handler in handlers:
            self.server.add_request_handler(method, params, handler)
        if not remote:  # proxies cut a stream without an end
            listen = ListenHandler(self.bus)
            self.server.add_request_handler(stdio.LISTEN, types.SubscriptionsListenRequestParams, listen)
        # The answer to a client's `initialize` on stdio.
        self.options = self.server.create_initialization_options(NotificationOptions(tools_changed=True))

    async def remember(self, ctx: ServerRequestContext, call_next: CallNext) -> HandlerResult:
        """Keep the session that `tools/list_changed` goes to; in the 2026 era the bus delivers it."""
        if ctx.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
            self.session = ctx.session
        return await call_next(ctx)

    def answering(self, function: Callable[[Settings, Any], JsonObject]) -> Handler:
        """A handler that answers what `function` gives, from a thread."""

        async def handle(ctx: ServerRequestContext, params: types.RequestParams) -> JsonObject:
            from mcp.shared.exceptions import MCPError

            try:
                answer = await anyio.to_thread.run_sync(function, self.settings, params)
            except ToolError as error:
                raise MCPError(
                    types.INVALID_PARAMS, f"{error.message}. {error.hint}", error.answer()
                ) from None
            except Exception:
                logging.getLogger("pi-mcp").exception("%s failed", function.__name__)
                message = "Internal error; the server's log (stderr) has the details"
                raise MCPError(types.INTERNAL_ERROR, message) from None
            return encodable({**results.COMPLETE, **answer})[0]

        return handle

    async def tools(self, ctx: ServerRequestContext, name: str = "") -> dict[str, Tool]:
        """The tools on offer by listed name. The first call imports the toolsets, in a thread: for the tool
        `name` only its own, if a listing that was kept says which."""
        shown = mcp_apps.shown_in(ctx.session)
        if registry.is_loaded():
            return registry.listed(self.settings, shown)
        toolset = json.loads(listing.kept(self.settings).get(listing.TOOLSETS, "{}")).get(name, "")
        return await anyio.to_thread.run_sync(registry.listed, self.settings, shown, toolset)

    async def list_tools(self, ctx: ServerRequestContext, params: types.RequestParams) -> JsonObject:
        return {
            **results.COMPLETE,
            "tools": [results.describe(*tool) for tool in (await self.tools(ctx)).items()],
        }

    async def call_tool(self, ctx: ServerRequestContext, params: types.CallToolRequestParams) -> JsonObject:
        """The answer of one tool, which runs in a worker thread; or its question to the person."""
        async with AsyncExitStack() as turn:
            try:
                tool = registry.find(params.name, (await self.tools(ctx, params.name)).values())
                await self.take_turn(turn)
                return await anyio.to_thread.run_sync(self.run, tool, params, ctx, limiter=self.threads)
            except ToolError as error:
                return results.as_result(error.answer())
            except calls.Asking as asking:
                return results.question(str(asking), asking.state)

    async def take_turn(self, turn: AsyncExitStack) -> None:
        """Wait until one more tool may run; `turn` ends that. Raises ToolError BUSY."""
        remote = calls.caller()
        with anyio.move_on_after(self.TURN_S):
            return await turn.enter_async_context(
                self.turns.turn(remote.token_id or remote.user if remote else "")
            )
        raise ToolError(
            f"{self.turns.most_each} calls are running or wait for a person's answer",
            "Nothing was changed. Answer or cancel one of them, then try again.",
            code="BUSY",
        )

    def run(self, tool: Tool, params: types.CallToolRequestParams, ctx: ServerRequestContext) -> JsonObject:
        """Run a tool in this worker thread, with progress, cancellation and questions going to its client."""
        last_report_s = 0.0

        def report(done: float, total: float | None, message: str) -> None:
            nonlocal last_report_s
            now_s = time.monotonic()
            if done == total or now_s - last_report_s >= self.PROGRESS_S:
                last_report_s = now_s
                with suppress(
                    BaseException
                ):  # a withdrawn call's progress goes nowhere; it ends at its checkpoint
                    anyio.from_thread.run(ctx.session.report_progress, done, total, message)

        def cancelled() -> bool:
            try:
                anyio.from_thread.check_cancelled()
            except BaseException:  # the backend's own class, which is not an Exception
                return True
            return False

        with calls.calling(report, cancelled, lambda text, key: self.ask(text, key, params, ctx)) as lines:
            answer = tool.call(params.arguments or {})
        if not (tool.page and mcp_apps.shown_in(ctx.session)):
            return results.as_result(answer, lines=lines)
        private = tool.page.private(answer)
        if tool.app_only or not private or answer.get("success") is False:
            return results.as_result(answer, private, lines)
        return results.as_result(tool.page.brief(answer), private, [*lines, mcp_apps.SHOWN])

    def ask(self, text: str, key: str, params: types.CallToolRequestParams, ctx: ServerRequestContext) -> str:
        """A tool's question to the person, from its worker thread; the answer is `accept`, `decline` or
        `cancel`. Raises ToolError if the client cannot ask; Asking in the 2026 era, whose client calls again
        with the answer."""
        elicitation = getattr(ctx.session.client_capabilities, "elicitation", None)
        if elicitation is None or (elicitation.url and not elicitation.form):
            return calls.nobody(text)
        if ctx.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
            return self.elicit(text, ctx)
        response = (params.input_responses or {}).get(results.CONSENT)
        call = f"{params.name} {compact_json(params.arguments)}"
        if response is None or not calls.is_current(params.request_state, text, key, call):
            raise calls.Asking(text, calls.state_of(text, key, call))
        return getattr(response, "action", "cancel")

    def elicit(self, text: str, ctx: ServerRequestContext) -> str:
        """Ask the person and wait for the answer, which is `cancel` if none comes."""

        async def answer() -> str:
            with anyio.move_on_after(self.QUESTION_S):
                return (await ctx.session.elicit_form(text, results.NO_FIELDS, ctx.request_id)).action
            return "cancel"

        try:
            return anyio.from_thread.run(answer)
        except Exception:  # the call was withdrawn meanwhile, or the client claims what it cannot do
            calls.checkpoint()
            return calls.nobody(text)

    def announce(self) -> None:
        """Notify the client that the tool list changed. Thread-safe."""
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
        errors = outbox.clone()
        async with inbox_send, inbox, outbox, outbox_receive, errors, anyio.create_task_group() as tasks:
            for watch in (leave_at_a_signal, leave_with_caller, leave_when_stuck):
                tasks.start_soon(watch)
            tasks.start_soon(transport.write, outbox_receive)
            tasks.start_soon(transport.read, inbox_send, errors)
            await self.server.run(inbox, outbox, self.options)

    def start_jobs(self, *first: Callable[[], None]) -> None:
        """Run the `first` jobs, then the start-up jobs of the listed toolsets, in a thread of their own."""

        def run_jobs() -> None:
            for job in (*first, *registry.start_jobs(self.settings)):
                try:
                    job()
                except Exception:
                    logging.getLogger("pi-mcp").exception("%s failed", job.__module__)

        threading.Thread(target=run_jobs, daemon=True).start()


@cache
def session_server(settings: Settings) -> ToolServer:
    """The server of this process's one session; the resident service has it ready for those whose settings
    are its own."""
    return ToolServer(settings)


class StdioTransport:
    """The client's end of stdin and stdout: one JSON-RPC message per line, and nothing else.

    Unlike the SDK's transport it answers what is not a message, bounds a line, and still answers open calls
    after EOF.
    """

    # Answers that a client may leave unread before nothing more is read from it.
    MOST_PENDING = 64
    # Seconds for answering open calls after the client closed its side (a piped smoke test does so at once).
    DRAIN_S = 5

    def __init__(
        self, lines: stdio.Lines, on_start: Callable[[], None], on_end: Callable[[], object] = leave
    ) -> None:
        self.lines = lines
        self.on_end = on_end
        self.pending = stdio.PendingAnswers()
        self.start = cache(on_start)  # once, when the client is served
        # Its own, so that busy tools never keep a message from being read or written.
        self.threads = anyio.CapacityLimiter(2)
        # While a line is being written: set once that is done.
        self.written: anyio.Event | None = None

    async def read(self, inbox: Inbox, outbox: Outbox) -> None:
        """Pass on each message; answer what is not one. Leaves the process at EOF, once open calls are
        answered."""
        while line := await anyio.to_thread.run_sync(self.lines.read, limiter=self.threads):
            if not line.strip():
                continue
            try:
                message = parse(line)
            except InvalidMessage as error:
                self.pending[error.request_id] += 1
                data = types.ErrorData(code=error.code, message=str(error))
                await outbox.send(
                    SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=error.request_id, error=data))
                )
            else:
                self.pending.note_incoming(message)
                if getattr(message, "method", "") == "notifications/initialized" and not self.lines.ahead:
                    self.start()
                await inbox.send(SessionMessage(message))
            while self.written and self.pending.total() > self.MOST_PENDING:
                await self.written.wait()
        await self.drain()
        self.on_end()

    async def write(self, outbox: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Write what the server sends. Leaves the process when the client is gone."""
        async for item in outbox:
            message: Any = item.message
            is_answer = isinstance(message, types.JSONRPCResponse | types.JSONRPCError)
            self.written = anyio.Event()
            if not self.lines.was_answered(message):
                line = message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
                try:
                    await anyio.to_thread.run_sync(self.lines.write, line, limiter=self.threads)
                except OSError:
                    leave()
            self.written.set()
            self.written = None
            if is_answer:
                self.pending -= stdio.PendingAnswers([message.id])
                if "protocolVersion" not in (
                    getattr(message, "result", None) or {}
                ):  # the handshake is no work yet
                    self.start()

    async def drain(self) -> None:
        """Wait until nothing is owed any more, as long as somebody is there to read it."""
        reader = select.poll()
        reader.register(self.lines.stdout.fileno(), 0)
        with anyio.move_on_after(self.DRAIN_S):
            while self.pending and not reader.poll(0):
                await anyio.sleep(0.01)


def parse(line: bytes) -> types.JSONRPCMessage:
    """The JSON-RPC message of a line. Raises InvalidMessage."""
    from pydantic import ValidationError

    if reason := stdio.refusal(line):
        raise InvalidMessage(types.INVALID_REQUEST, reason, stdio.id_of(line))
    try:
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        code, reason = types.INVALID_REQUEST, "Invalid request: one JSON-RPC 2.0 message a line"
        if first["type"] == "json_invalid":
            code, reason = types.PARSE_ERROR, f"Parse error: {first['msg']}"
        raise InvalidMessage(code, reason, stdio.id_of(line)) from None
    # An id of a wrong type makes a request look like a notification.
    if isinstance(message, types.JSONRPCNotification) and "id" in json.loads(line):
        raise InvalidMessage(
            types.INVALID_REQUEST, "Invalid request: the id is neither text nor a whole number"
        )
    return message


def warm_up() -> None:
    """Build what every session needs before forking: a client of each era asks what clients ask first."""
    from io import BytesIO

    import_sdk("service")  # what is built here no session builds
    registry.load()
    written_folders()
    listing.keep(current(), listing.make(current()))
    client = {"name": "warm-up", "version": "1"}
    handshake = {"protocolVersion": early.HANDSHAKE_VERSIONS[-1], "capabilities": {}, "clientInfo": client}
    modern = {"_meta": dict(zip(early.ENVELOPE, (early.MODERN, client, {}), strict=True))}
    for requests in (
        {
            "initialize": handshake,
            **{method: {} for method in listing.LISTS},
            "tools/call": {"name": "greet"},
        },
        {"server/discover": modern, "tools/list": modern},
    ):
        lines = "".join(
            compact_json({"jsonrpc": "2.0", "id": method, "method": method, "params": params}) + "\n"
            for method, params in requests.items()
        )
        with stdio.Lines(BytesIO(lines.encode()), open(os.devnull, "wb")) as end:
            anyio.run(serve_once, end)
    session_server(current())


async def serve_once(lines: stdio.Lines) -> None:
    """Serve the client at the other end of `lines`, and come back once it left."""
    server = ToolServer(current())
    with anyio.CancelScope() as scope:
        await server.serve(StdioTransport(lines, lambda: None, scope.cancel))
    registry.LISTENERS.remove(server.announce)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
