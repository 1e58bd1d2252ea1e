#!/usr/bin/env python3
"""pi-mcp: one MCP server over stdio for a person's Raspberry Pi.

A client starts it (`ssh pi /path/to/server.py`); `setup.sh` installs what it needs into `.venv`, which it finds by
itself. This is the only file that imports `mcp`: it serves the registry in `tools/` and holds the few ways to start.
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    sys.path[:0] = [os.path.dirname(os.path.realpath(__file__))]  # `python3 -I` leaves it out
    from tools import handover

    handover.complete_stdio()
    if not sys.argv[1:] and "PI_MCP_VENV" not in os.environ:
        handover.attempt(os.environ)  # before anything heavy: with the resident service there this is all that happens

import json
import logging
import select
import signal
import threading
import time
from collections import Counter
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

PROJECT = Path(__file__).resolve().parent
VENV = PROJECT / ".venv"
VERSION = "0.1.0"
TRIED = "PI_MCP_VENV"

LONGEST_LINE = 32 * 2**20
"""Bytes of one message. Longer ones are answered with an error and skipped without being held in memory."""
DRAIN_S = 5
"""How long open calls may still be answered after the client closed its side (a piped smoke test does so at once)."""
PROGRESS_S = 0.2
"""The least time between two progress notifications of a call."""
NO_FIELDS = {"type": "object", "properties": {}}
"""The form of a question that is only accepted or declined."""
CONSENT = "consent"
"""The name of a tool's question to the person in the 2026 era, where it goes out as the answer of a call."""

PACKAGES = ("mcp", "mcp.server", "mcp.server.mcpserver", "mcp.server.mcpserver.utilities")
"""The SDK's packages. What they import to export it (clients, HTTP, cryptography) is a quarter of its size and time."""
SPARED = ("python_multipart", "uvicorn")
"""What the SDK's web framework imports where it is installed."""
WARM = (
    "anyio._backends._asyncio",
    "anyio._core._signals",
    "anyio.from_thread",
    "anyio.to_thread",
    "mcp.server.mcpserver.utilities.func_metadata",
    "mcp.server.subscriptions",
)
"""What the resident service imports besides before it forks."""
REHEARSAL = (
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},'
    b'"clientInfo":{"name":"rehearsal","version":"1"}}}',
    b'{"jsonrpc":"2.0","id":2,"method":"tools/list"}',
)

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    import mcp_types as types
    from mcp.server.context import ServerRequestContext

    from tools.registry import Tool
    from tools.settings import Settings

logger = logging.getLogger("pi-mcp")


class Front:
    """The registry as an MCP server; one per session."""

    def __init__(self, settings: Settings):
        import mcp_types as types
        from mcp.server.lowlevel import Server
        from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler

        from tools.instructions import instructions

        self.settings = settings
        self.session: Any = None
        self.token: Any = None
        self.bus = InMemorySubscriptionBus()
        self.server = Server(
            "pi-mcp",
            version=VERSION,
            instructions=instructions(settings),
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
            on_list_prompts=self.cataloged("list_prompts", types.ListPromptsResult),
            on_get_prompt=self.cataloged("get_prompt", types.GetPromptResult),
            on_list_resources=self.cataloged("list_resources", types.ListResourcesResult),
            on_list_resource_templates=self.cataloged("list_templates", types.ListResourceTemplatesResult),
            on_read_resource=self.cataloged("read_resource", types.ReadResourceResult),
            on_completion=self.cataloged("complete", types.CompleteResult),
            on_subscriptions_listen=ListenHandler(self.bus),
        )
        self.server.middleware.append(self.remember)

    async def remember(self, ctx: ServerRequestContext, call_next: Any) -> Any:
        """Keep the session that `tools/list_changed` goes to; in the 2026 era the bus delivers it."""
        from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

        if ctx.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
            self.session = ctx.session
        return await call_next(ctx)

    def cataloged(self, name: str, shape: Any) -> Any:
        """A handler that answers what the function `name` of the catalog gives, from a thread."""

        async def handle(ctx: ServerRequestContext, params: Any) -> Any:
            import anyio.to_thread
            from mcp.shared.exceptions import MCPError
            from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

            from tools import catalog
            from tools.errors import ToolError

            try:
                found = await anyio.to_thread.run_sync(getattr(catalog, name), self.settings, params)
            except ToolError as error:
                raise MCPError(INVALID_PARAMS, f"{error.message}. {error.hint}", error.answer()) from None
            except Exception:
                logger.exception("%s failed", name)
                raise MCPError(INTERNAL_ERROR, "Internal error; the server's log (stderr) has the details") from None
            return shape.model_validate(sendable(found)[0])

        return handle

    async def tools(self) -> dict[str, Tool]:
        """The tools on offer by listed name. The first call imports the systems, in a thread."""
        import anyio.to_thread

        from tools import registry

        return await anyio.to_thread.run_sync(registry.listed, self.settings)

    async def list_tools(self, ctx: ServerRequestContext, params: Any) -> types.ListToolsResult:
        import mcp_types as types

        return types.ListToolsResult(tools=[describe(name, tool) for name, tool in (await self.tools()).items()])

    async def call_tool(
        self, ctx: ServerRequestContext, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        """The answer of one tool, which runs in a worker thread; or its question to the person."""
        import anyio.to_thread

        from tools import calls, registry
        from tools.errors import ToolError

        try:
            tool = registry.find(params.name, (await self.tools()).values())
        except ToolError as error:
            return result(error.answer())
        try:
            return result(await anyio.to_thread.run_sync(self.run, tool, params, ctx))
        except calls.Asking as asking:
            return question(str(asking))

    def run(self, tool: Tool, params: types.CallToolRequestParams, ctx: ServerRequestContext) -> Any:
        """Run a tool in this worker thread, with progress, cancellation and questions going to its client."""
        import anyio.from_thread

        from tools import calls

        last = 0.0

        def report(done: float, total: float | None, message: str) -> None:
            nonlocal last
            now = time.monotonic()
            if done == total or now - last >= PROGRESS_S:
                last = now
                with suppress(BaseException):  # a withdrawn call's progress goes nowhere; it ends at its checkpoint
                    anyio.from_thread.run(ctx.session.report_progress, done, total, message)

        def cancelled() -> bool:
            try:
                anyio.from_thread.check_cancelled()
            except BaseException:  # the backend's own class, no Exception
                return True
            return False

        with calls.calling(report, cancelled, lambda text: ask(text, params, ctx)):
            return tool.call(params.arguments or {}, self.validate)

    def validate(self, tool: Tool, arguments: dict[str, Any]) -> dict[str, Any]:
        """`arguments` as values of the declared types: the SDK's validation."""
        from pydantic import ValidationError

        from tools import arguments as canonical

        try:
            return argument_model(tool).model_validate(arguments).model_dump_one_level()
        except ValidationError as error:
            found = error.errors(include_url=False, include_context=False, include_input=False)
            raise canonical.invalid(tool, [(".".join(map(str, e["loc"])), e["msg"]) for e in found]) from None

    def announce(self) -> None:
        """Tell the client, from any thread, that `tools/list` reads differently now."""
        import anyio.from_thread
        from mcp.server.subscriptions import ToolsListChanged

        async def send() -> None:
            await self.bus.publish(ToolsListChanged())
            if self.session:
                await self.session.send_tool_list_changed()

        anyio.from_thread.run(send, token=self.token)

    async def serve(self, wire: Wire) -> None:
        """Serve the client at the other end of `wire` until it leaves; this does not return."""
        import anyio
        from mcp.server.lowlevel import NotificationOptions

        from tools import registry

        self.token = anyio.lowlevel.current_token()
        registry.LISTENERS.append(self.announce)
        options = self.server.create_initialization_options(NotificationOptions(tools_changed=True))
        inbox_send, inbox = anyio.create_memory_object_stream(0)
        outbox, outbox_receive = anyio.create_memory_object_stream(0)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(leave_at_a_signal)
            tasks.start_soon(leave_with_caller)
            tasks.start_soon(wire.write, outbox_receive)
            tasks.start_soon(wire.read, inbox_send, outbox.clone())
            await self.server.run(inbox, outbox, options)

    def start_jobs(self) -> None:
        """Run the start-up jobs of the listed systems in a thread of their own."""
        from tools import registry

        def jobs() -> None:
            for job in registry.starters(self.settings):
                try:
                    job()
                except Exception:
                    logger.exception("%s failed", job.__module__)

        threading.Thread(target=jobs, daemon=True).start()


@cache
def argument_model(tool: Tool) -> Any:
    """The SDK's validation of a tool's arguments, made at its first call, or by the resident service for all sessions."""
    from mcp.server.mcpserver.utilities.func_metadata import func_metadata

    return func_metadata(tool.function, structured_output=False).arg_model


def describe(name: str, tool: Tool) -> types.Tool:
    """A tool as `tools/list` shows it."""
    import mcp_types as types

    hints = {"read_only_hint": not tool.write, "open_world_hint": tool.open_world}
    if tool.write:
        hints |= {"destructive_hint": tool.destructive, "idempotent_hint": tool.idempotent}
    return types.Tool(
        name=name,
        title=tool.name if tool.name != tool.wire_name else None,
        description=tool.description,
        input_schema=tool.schema,
        annotations=types.ToolAnnotations(**hints),
    )


def ask(text: str, params: types.CallToolRequestParams, ctx: ServerRequestContext) -> str:
    """A tool's question to the person, from its worker thread; the answer is `accept`, `decline` or `cancel`.

    Raises ToolError where the client cannot ask; Asking in the 2026 era, whose client calls again with the answer.
    """
    import anyio.from_thread
    from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

    from tools import calls

    elicitation = getattr(ctx.session.client_capabilities, "elicitation", None)
    if elicitation is None or (elicitation.url and not elicitation.form):
        return calls.nobody(text)
    if ctx.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
        try:
            return anyio.from_thread.run(ctx.session.elicit_form, text, NO_FIELDS, ctx.request_id).action
        except Exception:  # the call was withdrawn meanwhile, or the client claims what it cannot do
            calls.checkpoint()
            return calls.nobody(text)
    given = (params.input_responses or {}).get(CONSENT)
    if given is None or params.request_state != digest(text):  # what was asked is not what would happen now
        raise calls.Asking(text)
    return getattr(given, "action", "cancel")


def question(text: str) -> types.InputRequiredResult:
    """A tool's question as the answer of its call."""
    import mcp_types as types

    form = types.ElicitRequestFormParams(message=text, requested_schema=NO_FIELDS)
    return types.InputRequiredResult(
        input_requests={CONSENT: types.ElicitRequest(params=form)}, request_state=digest(text)
    )


def digest(text: str) -> str:
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()


def sendable(answer: Any) -> tuple[Any, str]:
    """`answer` and its compact JSON; half a surrogate pair, which only foreign data brings, becomes `?`."""
    text = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-8", "replace").decode()
        answer = json.loads(text)
    return answer, text


def result(answer: Any) -> types.CallToolResult:
    """An answer as one compact JSON text block, and the same as structuredContent when it is an object."""
    import mcp_types as types

    answer, text = sendable(answer)
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)],
        structured_content=answer if isinstance(answer, dict) else None,
        is_error=isinstance(answer, dict) and answer.get("success") is False,
    )


class Wire:
    """The client's end of stdin and stdout: one JSON-RPC message a line, and nothing else.

    Unlike the SDK's transport it answers what is no message, bounds a line, and still answers open calls after EOF.
    """

    def __init__(self, stdio: tuple[BinaryIO, BinaryIO], on_start: Callable[[], None]) -> None:
        import anyio

        self.input, self.output = stdio
        self.on_start: Callable[[], None] | None = on_start
        self.owed: Counter[str | int | None] = Counter()
        """Answers still to be written, by request id (None: to a line that was no message)."""
        self.threads = anyio.CapacityLimiter(2)
        """Its own, so that busy tools never keep a message from being read or written."""

    async def read(self, inbox: Any, outbox: Any) -> None:
        """Pass on each message; answer what is none. Leaves the process at EOF, once open calls are answered."""
        import anyio.to_thread
        from mcp.shared.message import SessionMessage

        while line := await anyio.to_thread.run_sync(self.read_line, limiter=self.threads):
            if not line.strip():
                continue
            try:
                message = parse(line)
            except NotAMessage as error:
                self.owed[error.answer.id] += 1
                await outbox.send(SessionMessage(error.answer))
            else:
                self.note_incoming(message)
                await inbox.send(SessionMessage(message))
        await self.drain()
        leave()

    def read_line(self) -> bytes:
        """One line, or b"" at EOF. Of a line that is too long only its beginning."""
        try:
            line = rest = self.input.readline(LONGEST_LINE + 1)
            while len(line) > LONGEST_LINE and rest and not rest.endswith(b"\n"):
                rest = self.input.readline(2**20)
        except OSError:  # a connection was reset, a terminal hung up
            return b""
        return line

    def note_incoming(self, message: Any) -> None:
        """Count the answer that a request is owed; a withdrawn one and a standing stream are owed none."""
        method, request_id = getattr(message, "method", ""), getattr(message, "id", None)
        if method == "notifications/cancelled":
            withdrawn = (message.params or {}).get("requestId")
            if isinstance(withdrawn, str | int):
                self.owed.pop(withdrawn, None)
        elif method == "notifications/initialized":
            self.start()
        elif method and request_id is not None and method != "subscriptions/listen":
            self.owed[request_id] += 1

    async def write(self, outbox: Any) -> None:
        """Write what the server sends. Leaves the process when the client is gone."""
        import anyio.to_thread

        async for item in outbox:
            try:
                await anyio.to_thread.run_sync(self.write_line, encode(item.message), limiter=self.threads)
            except OSError:
                leave()
            self.note_written(item.message)

    def write_line(self, line: bytes) -> None:
        self.output.write(line)
        self.output.flush()

    def note_written(self, message: Any) -> None:
        """Count an answer as given; the first one that is not the handshake's starts background work."""
        if hasattr(message, "method"):
            return
        self.owed -= Counter([message.id])
        if "protocolVersion" not in (getattr(message, "result", None) or {}):
            self.start()

    def start(self) -> None:
        """The client is served: background work may begin, once."""
        if start := self.on_start:
            self.on_start = None
            start()

    async def drain(self) -> None:
        """Wait until nothing is owed any more, as long as somebody is there to read it."""
        import anyio

        reader = select.poll()
        reader.register(self.output.fileno(), 0)
        with anyio.move_on_after(DRAIN_S):
            while self.owed and not reader.poll(0):
                await anyio.sleep(0.01)


def encode(message: Any) -> bytes:
    """The line of a JSON-RPC message."""
    return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"


class NotAMessage(Exception):
    """A line is no JSON-RPC message; `answer` is the JSON-RPC error to send."""

    def __init__(self, code: int, text: str, request_id: Any = None):
        from mcp_types import ErrorData, JSONRPCError

        known = request_id if type(request_id) in (str, int) else None
        self.answer = JSONRPCError(jsonrpc="2.0", id=known, error=ErrorData(code=code, message=text))


def parse(line: bytes) -> Any:
    """The JSON-RPC message of a line.

    Raises NotAMessage.
    """
    from mcp_types import INVALID_REQUEST, PARSE_ERROR, JSONRPCNotification, jsonrpc_message_adapter
    from pydantic import ValidationError

    if len(line) > LONGEST_LINE:
        raise NotAMessage(INVALID_REQUEST, f"Message too long: at most {LONGEST_LINE} bytes")
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        if not isinstance(message, JSONRPCNotification) or "id" not in json.loads(line):
            return message  # else an id of a wrong type made a request look like a notification
        raise NotAMessage(INVALID_REQUEST, "Invalid request: the id is neither text nor a whole number")
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        if first["type"] == "json_invalid":
            raise NotAMessage(PARSE_ERROR, f"Parse error: {first['msg']}") from None
        raise NotAMessage(INVALID_REQUEST, "Invalid request: one JSON-RPC 2.0 message a line", id_of(line)) from None


def id_of(line: bytes) -> Any:
    """The id that a line has which is no JSON-RPC message, so that its sender knows what is refused."""
    try:
        given = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return given.get("id") if isinstance(given, dict) else None


def claim_stdio() -> tuple[BinaryIO, BinaryIO]:
    """Keep stdin and stdout for the protocol: what else writes to fd 1, in this process or a child, goes to stderr."""
    wire_in, wire_out = os.dup(0), os.dup(1)
    for handle in (wire_in, wire_out):
        os.set_blocking(handle, True)  # else "nothing there yet" would look like EOF, and a full pipe like a broken one
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return os.fdopen(wire_in, "rb"), os.fdopen(wire_out, "wb")


async def leave_at_a_signal() -> None:
    """End at the first signal. Through the event loop: it wakes up for a signal wherever that was delivered."""
    import anyio

    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
        async for _ in signals:
            leave()


async def leave_with_caller() -> None:
    """End with whoever handed this session over to the service, also in the middle of a slow tool."""
    import anyio

    if caller := getattr(sys.modules.get("tools.session"), "caller", None):
        await anyio.wait_readable(caller)
        leave()


def leave(code: int = 0) -> NoReturn:
    """End this process now, with its child processes. What is being written survives that: sqlite, git and atomic
    renames are made for it, while a worker thread might never end by itself."""
    try:
        if end_all := getattr(sys.modules.get("tools.processes"), "end_all", None):  # it may be half imported
            end_all()
        if ended := getattr(sys.modules.get("tools.session"), "ended", None):
            ended(code)
        logging.shutdown()
    finally:
        os._exit(code)


def serve(settings: Settings) -> NoReturn:
    """Serve one client on stdin and stdout."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # one Ctrl-C is enough, also while the SDK is being imported
    stdio = claim_stdio()
    import_sdk()
    import anyio

    async def main() -> None:
        front = Front(settings)
        await front.serve(Wire(stdio, front.start_jobs))

    anyio.run(main)
    leave()


def import_sdk() -> None:
    """Import what serving needs of the SDK; the rest of it comes once it is asked for."""
    from tools import packages

    try:
        packages.put_off(*PACKAGES)
        with packages.absent(*SPARED):
            import mcp.server.lowlevel  # noqa: F401
    except ImportError as error:
        refuse(f"mcp is not installed ({error}). Run {PROJECT / 'setup.sh'}")


def reside() -> int:
    """Be the resident service: import once what every session needs, then fork."""
    from tools import handover, resident

    identity = handover.identity()
    warm_up()
    return resident.main(lambda: serve(settings_or_refuse()), identity)


def warm_up() -> None:
    """Have here, to be shared, what every session would make for itself."""
    import importlib

    from tools import registry, settings

    import_sdk()
    import anyio

    for name in WARM:
        importlib.import_module(name)
    registry.load()
    for tool in registry.TOOLS.values():
        argument_model(tool)
    anyio.run(rehearse, Front(settings.current()))
    while len(os.listdir("/proc/self/task")) > 1:  # the threads of the rehearsal are ending; no child may inherit one
        time.sleep(0.001)


async def rehearse(front: Front) -> None:
    """Answer what every client asks first: what that writes, once for all, no session has to write on pages of its own."""
    import anyio
    from mcp.shared.message import SessionMessage

    requests, inbox = anyio.create_memory_object_stream(0)
    outbox, answers = anyio.create_memory_object_stream(0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(front.server.run, inbox, outbox, front.server.create_initialization_options())
        for line in REHEARSAL:
            await requests.send(SessionMessage(parse(line)))
            encode((await answers.receive()).message)
        tasks.cancel_scope.cancel()


def settings_or_refuse() -> Settings:
    """The settings of this process; a wrong one is the end."""
    from tools import settings

    try:
        return settings.current()
    except settings.SettingsError as error:
        refuse(str(error))


def find_venv() -> None:
    """Go on as the project's own Python, which has `mcp`, whatever python3 this was started by."""
    python = VENV / "bin" / "python"
    tried = os.environ.pop(TRIED, "") == str(VENV)  # a damaged .venv does not know itself; no second try
    if Path(sys.prefix).resolve() != VENV.resolve() and python.exists() and not tried:
        os.environ[TRIED] = str(VENV)
        os.execv(python, [str(python), str(PROJECT / "server.py"), *sys.argv[1:]])


def refuse(text: str) -> NoReturn:
    """One line on stderr, exit 2: a wrong flag, a wrong setting, nothing installed."""
    sys.stderr.write(f"pi-mcp: {' '.join(text.split())}\n")
    raise SystemExit(2)


def options(words: list[str]) -> argparse.Namespace:
    """The command line."""
    import argparse

    parser = argparse.ArgumentParser(
        "server.py", description="One MCP server for a Raspberry Pi, over stdio.", allow_abbrev=False
    )
    parser.error = lambda message: refuse(f"{message} (--help shows what there is)")
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--standalone", action="store_true", help="serve in this process")
    ways.add_argument("--daemon", action="store_true", help="be the resident service, which others hand sessions to")
    ways.add_argument("--check", action="store_true", help="say what works, what is not set up, what is broken")
    parser.add_argument(
        "--ssh", metavar="USER@HOST", help="with --check: the server there, as a client here reaches it"
    )
    ways.add_argument("--list", action="store_true", help="list the tools")
    ways.add_argument("--version", action="version", version=f"pi-mcp {VERSION}")
    chosen = parser.parse_args(words)
    if chosen.ssh and not chosen.check:
        parser.error("--ssh goes with --check")
    return chosen


def main(words: list[str]) -> int:
    """Start the way the command line says. Exit status: 0 fine, 1 a check found something broken, 2 wrong usage."""
    find_venv()
    if sys.version_info < (3, 11):  # noqa: UP036
        refuse(f"Python 3.11 or newer is needed, this is {sys.version.split()[0]}")
    chosen = options(words) if words else None
    now = settings_or_refuse()
    if chosen and chosen.list:
        from tools.__main__ import main as shell

        return shell(["list"])
    if chosen and chosen.check:
        from tools import checkup

        if chosen.ssh:
            return checkup.remote(chosen.ssh)
        return checkup.main([sys.executable, str(PROJECT / "server.py"), "--standalone"])
    if chosen and chosen.daemon:
        return reside()
    serve(now)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
