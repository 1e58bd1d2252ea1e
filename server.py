#!/usr/bin/env python3
"""pi-mcp: one MCP server for a person's Raspberry Pi, over stdio and over HTTP.

A client starts it (`ssh pi /path/to/server.py`), with any python3 and no package: `tools/protocol.py` speaks
MCP over lines. Over HTTP the SDK does, which `./setup.sh --http` installs into `.venv`; this is the only file
that imports it.
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    sys.path[:0] = [os.path.dirname(os.path.realpath(__file__))]  # `python3 -I` leaves it out
    from tools.resident import handover

    handover.begin()  # before anything heavy: with the resident service there this is all that happens

import select
import signal
import threading
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING, Any, NoReturn

from tools import listing, protocol, stdio
from tools.core import calls, leaving, mcp_apps, results, toolsets
from tools.core.leaving import leave
from tools.core.settings import PROJECT, Settings, current, written_folders
from tools.starting import VERSION, command_line, refuse, settings_or_refuse

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcp.server import Server
    from mcp.server.context import ServerRequestContext
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from tools.core.json_types import JsonObject

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
NICENESS = 10  # of a session beside a printer, as in systemd's units: Klipper comes first
TURN_S = 30  # a call over HTTP waits for its turn so long


def main(words: list[str]) -> int:
    """Start in the way that the command line names. Exit status: 0 fine, 1 a check found something broken,
    2 wrong usage."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # one Ctrl-C is enough, also in the middle of an import
    way = command_line(words)
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
        from tools import check

        return check.main([sys.executable, __file__, "--standalone"])
    if way == "daemon":
        return serve_sessions()
    if way == "http":
        return serve_http(settings)
    if way == "sdk":
        return serve_by_sdk(settings)
    return serve_stdio()


def serve_stdio() -> NoReturn:
    """Serve the client on stdin and stdout: this process's own, or one that was handed over to a session of
    the resident service."""
    if os.path.isdir(os.path.expanduser("~/printer_data")) and os.nice(0) < NICENESS:
        os.nice(NICENESS)
    for number in ENDING:
        signal.signal(number, lambda *_: leave())
    threading.Thread(target=watch, daemon=True).start()
    session = protocol.Session(stdio.claim(), start=start_jobs)
    toolsets.LISTENERS.extend([listing.forget, session.announce])
    session.serve()
    leave()


# Seconds of processor time after which the kernel ends this process if `watch` did not run.
STUCK_S = 40.0


def watch() -> NoReturn:
    """End with whoever handed this session over, also in the middle of a slow tool; and let the kernel end an
    endless computation. One that holds the interpreter for so long (one regular expression can) notices no
    signal, no cancellation and no client that leaves."""
    caller = leaving.handover_connection
    while True:
        signal.setitimer(signal.ITIMER_PROF, STUCK_S)  # of processor time: a stopped process is not stuck
        if select.select([caller] if caller else [], [], [], STUCK_S / 4)[0]:
            leave()


def start_jobs(*first: Callable[[], object]) -> None:
    """Run the `first` jobs and the start-up jobs of the toolsets, in a thread of their own."""

    def run() -> None:
        from tools.core import registry

        for job in (*first, *registry.start_jobs(current())):
            try:
                job()
            except Exception:
                protocol.log(f"{job.__module__} failed")

    threading.Thread(target=run, daemon=True).start()


def serve_sessions() -> int:
    """Be the resident service: what every session reads is read once, before any is forked."""
    from tools.core import prompts, registry, resources  # noqa: F401
    from tools.klipper import search_docs
    from tools.resident import resident

    def serve_session() -> NoReturn:
        settings_or_refuse()
        serve_stdio()

    identity = listing.identity()  # of the sources that are imported now
    registry.load()
    search_docs.preload()
    written_folders()
    listing.save(current(), listing.build(current()))
    return resident.main(serve_session, identity)


# Over HTTP: the SDK's server, whose handlers give the answers of tools/protocol.py.


def serve_http(settings: Settings) -> NoReturn:
    """Serve everybody who has a token, until a signal, or until nobody came for long enough."""
    from tools.core import registry
    from tools.http import guards, limits
    from tools.resident import listening

    try:
        from pydantic import BaseModel

        BaseModel.model_config["defer_build"] = True  # a model of the protocol is built at its first use
        import anyio
        import mcp.server  # noqa: F401
        import uvicorn
    except ImportError as error:
        refuse(f"what HTTP needs is not installed ({error}). Run {PROJECT / 'setup.sh'} --http")
    for number in ENDING:  # until uvicorn has its own handlers, and after it: it sends the signal again
        signal.signal(number, lambda *_: leave())
    toolsets.LISTENERS.append(listing.forget)
    manager = session_manager(SdkServer().server, settings)
    try:
        guarded = guards.Guards(settings, manager.handle_request, stdio.parse, anyio.CancelScope)
        listener, is_kept = listening.for_http(settings.http_listen)
    except (OSError, listening.CannotListen) as error:
        refuse(str(error))
    server = uvicorn.Server(uvicorn.Config(guarded, **limits.UVICORN))
    print(f"pi-mcp: serving {settings.http_url} at {settings.http_listen}", file=sys.stderr)

    async def serve() -> None:
        async with manager.run(), anyio.create_task_group() as tasks:
            tasks.start_soon(limits.watch, server, settings.idle_exit_s if is_kept else 0)
            await server.serve(sockets=[listener])
            tasks.cancel_scope.cancel()

    threading.Thread(target=watch, daemon=True).start()
    start_jobs(registry.load)
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


def serve_by_sdk(settings: Settings) -> NoReturn:
    """Serve one client on stdin and stdout by the SDK: for tests that compare our own session with it, and as
    a way out for a client that needs it."""
    import anyio
    from mcp.server.stdio import stdio_server

    async def serve() -> None:
        server = SdkServer().server
        async with stdio_server() as (inbox, outbox):
            await server.run(inbox, outbox, server.create_initialization_options())

    anyio.run(serve)
    leave()


class SdkServer:
    """The SDK's server over the same answers, for all clients of a process."""

    def __init__(self) -> None:
        import anyio
        import mcp_types as types
        from mcp.server.caching import CACHEABLE_METHODS, CacheHint
        from mcp.server.lowlevel import Server

        from tools.http.limits import Turns

        class InstructingServer(Server):
            # Those for the current caller, whatever the SDK sets.
            instructions = property(lambda self: toolsets.instructions(current()), lambda *_: None)

        limit = protocol.MOST_CALLS
        self.turns = Turns(limit, limit // 4)
        self.threads = anyio.CapacityLimiter(limit)
        self.server = InstructingServer(
            "pi-mcp",
            version=VERSION,
            # No argument is repeated in a header, to be checked against its schema.
            get_tool_input_schema=lambda name: None,
            cache_hints=dict.fromkeys(CACHEABLE_METHODS, CacheHint()),  # type: ignore[arg-type]
        )
        self.server.extensions |= protocol.EXTENSIONS
        self.server.middleware.clear()  # OpenTelemetry's, which has nowhere to send to
        models = {
            "tools/call": types.CallToolRequestParams,
            "prompts/get": types.GetPromptRequestParams,
            "skills/get": types.ReadResourceRequestParams,
            "resources/read": types.ReadResourceRequestParams,
            "completion/complete": types.CompleteRequestParams,
        }
        for method in protocol.METHODS:
            model = models.get(method, types.PaginatedRequestParams)
            self.server.add_request_handler(method, model, self.answering(method))

    def answering(self, method: str) -> Callable[[ServerRequestContext, Any], Awaitable[JsonObject]]:
        """The handler of a method, which answers from a worker thread."""
        import anyio.to_thread
        from mcp.shared.exceptions import MCPError

        async def handle(context: ServerRequestContext, params: Any) -> JsonObject:
            request = SdkRequest(method, context)
            try:
                async with AsyncExitStack() as turn:
                    if method == "tools/call" and not await self.take_turn(turn):
                        return results.busy(self.turns.most_each)
                    result = await anyio.to_thread.run_sync(protocol.result_of, request, limiter=self.threads)
                    return {"resultType": "complete", **result} if request.is_modern else result
            except protocol.RpcError as error:
                raise MCPError(error.code, str(error), error.data) from None

        return handle

    async def take_turn(self, turn: AsyncExitStack) -> bool:
        """Wait until one more tool of this person may run, whatever the token; closing `turn` gives the turn
        back. False if there was none in time."""
        import anyio

        remote = calls.remote_caller()
        with anyio.move_on_after(TURN_S):
            await turn.enter_async_context(self.turns.turn(remote.user if remote else ""))
            return True
        return False


class SdkRequest(protocol.Request):
    """A request that came through the SDK."""

    def __init__(self, method: str, context: ServerRequestContext):
        self.context = context
        model = context.session.client_capabilities
        capabilities = model.model_dump(by_alias=True, exclude_none=True) if model else {}
        is_modern = context.protocol_version not in protocol.HANDSHAKE_VERSIONS
        super().__init__(method, dict(context.params or {}), capabilities, is_modern)

    @property
    def shows_pages(self) -> bool:
        """True if the client shows pages. Over HTTP a handshake is forgotten, and the caller remembers what it
        said."""
        remote = calls.remote_caller()
        if self.context.session.client_capabilities is None:
            return mcp_apps.decided(remote is not None and remote.shows_pages)
        return super().shows_pages

    def send_progress(self, done: float, total: float | None, message: str) -> None:
        import anyio.from_thread

        with suppress(BaseException):  # a withdrawn call's progress goes nowhere; it ends at its checkpoint
            anyio.from_thread.run(self.context.session.report_progress, done, total, message)

    def is_withdrawn(self) -> bool:
        import anyio.from_thread

        try:
            anyio.from_thread.check_cancelled()
        except BaseException:  # the backend's own class, which is not an Exception
            return True
        return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
