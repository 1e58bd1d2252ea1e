"""MCP over lines: one session on stdin and stdout, both eras of the protocol, standard library only.

Each message chooses its era. One whose `_meta` names a protocol version is of 2026-07-28, which has no
handshake: every request carries its client's capabilities. All others follow `initialize`, whose versions go
from 2024-11-05 to 2025-11-25. One client may use both over the same pipe.

The second part, `answer_of`, answers a request; endpoint.py uses it over HTTP, too. The third is the session:
a reader, which owns framing and cancellation, and threads, which answer.
"""

import sys
import threading
import time
from collections.abc import Callable
from functools import cache
from itertools import count
from typing import Any

from tools import listing, stdio
from tools.core import calls, leaving, mcp_apps, results
from tools.core.errors import RpcError, ToolError
from tools.core.json_types import JsonObject, compact_json
from tools.core.toolsets import instructions
from tools.starting import VERSION
from tools.stdio import ID, fits

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSION = "2026-07-28"
SERVER_INFO = {"name": "pi-mcp", "version": VERSION}
EXTENSIONS: JsonObject = {mcp_apps.EXTENSION: {}, "io.modelcontextprotocol/skills": {}}

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
UNSUPPORTED_PROTOCOL_VERSION = -32022

# The members of `_meta` that make the envelope of a modern request.
META = "io.modelcontextprotocol/"
PROTOCOL_VERSION = f"{META}protocolVersion"
CLIENT_CAPABILITIES = f"{META}clientCapabilities"
CLIENT_INFO = f"{META}clientInfo"
SUBSCRIPTION_ID = f"{META}subscriptionId"

LISTEN = "subscriptions/listen"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
LIST_CHANGED = "notifications/tools/list_changed"
LEGACY_ONLY = ("initialize", "ping")
# Results that say nothing of caching. A modern client may cache all others; `ttlMs` 0: not at all.
UNCACHED = ("tools/call", "prompts/get", "completion/complete")
NOT_CACHED = {"ttlMs": 0, "cacheScope": "private"}

# The functions that answer a method, each in a module of tools/core that is imported at its first use. They
# take the params.
HANDLERS = {
    "prompts/list": "prompts:list_prompts",
    "prompts/get": "prompts:get_prompt",
    "skills/list": "prompts:list_skills",
    "skills/get": "prompts:get_skill",
    "resources/list": "resources:list_resources",
    "resources/templates/list": "resources:list_templates",
    "resources/read": "resources:read_resource",
    "completion/complete": "resources:complete",
}

MOST_CALLS = 32  # tools that run at a time
MOST_LISTS = 4  # threads that answer all other requests: while they are busy nothing more is read
PROGRESS_S = 0.2  # the least time between two progress notifications of a call
DRAIN_S = 5  # after EOF, for requests that are still unanswered


# 1. The shapes of requests, in the notation of stdio.fits.

IMPLEMENTATION = {
    "name": str,
    "version": str,
    "title?": str,
    "description?": str,
    "websiteUrl?": str,
    "icons?": list,
}
CAPABILITIES = {
    "roots?": {"listChanged?": bool},
    "sampling?": {"context?": dict, "tools?": dict},
    "elicitation?": {"form?": dict, "url?": dict},
    "extensions?": {"*": dict},
    "experimental?": {"*": dict},
}
META_MEMBERS = {"progressToken?": ID}
ENVELOPE = {**META_MEMBERS, f"{CLIENT_INFO}?": IMPLEMENTATION, CLIENT_CAPABILITIES: CAPABILITIES}
STREAM = {
    "toolsListChanged?": bool,
    "promptsListChanged?": bool,
    "resourcesListChanged?": bool,
    "resourceSubscriptions?": list,
}
LIST_PARAMS = {"cursor?": str}
SHAPES: JsonObject = {
    "initialize": {
        "protocolVersion": str,
        "capabilities": CAPABILITIES,
        "clientInfo": IMPLEMENTATION,
    },
    "ping": {},
    "server/discover": {},
    LISTEN: {"notifications": STREAM},
    "tools/list": LIST_PARAMS,
    "tools/call": {
        "name": str,
        "arguments?": dict,
        "inputResponses?": dict,
        "requestState?": str,
    },
    "prompts/list": LIST_PARAMS,
    "prompts/get": {"name": str, "arguments?": {"*": str}},
    "skills/list": LIST_PARAMS,
    "skills/get": {"uri": str},
    "resources/list": LIST_PARAMS,
    "resources/templates/list": LIST_PARAMS,
    "resources/read": {"uri": str},
    "completion/complete": {
        "ref": ({"type": "ref/prompt", "name": str}, {"type": "ref/resource", "uri": str}),
        "argument": {"name": str, "value": str},
        "context?": {"arguments?": {"*": str}},
    },
}


# 2. The answer to a request, over stdio and over HTTP.


class Request:
    """A request and what is known about its client; subclasses know how to reach that client."""

    # True over stdio, where a stream can notify the client of changes.
    has_streams = False

    def __init__(self, message: JsonObject, capabilities: JsonObject):
        self.id = message["id"]
        self.method: str = message["method"]
        self.params: JsonObject = message.get("params") or {}
        meta = self.params.get("_meta")
        self.meta = meta if isinstance(meta, dict) else {}
        self.is_modern = self.has_modern_era()
        # A modern request brings its client's capabilities along; those of others come from a handshake.
        self.capabilities = (
            (self.meta.get(CLIENT_CAPABILITIES) or {}) if self.is_modern else capabilities
        )
        self.withdrawn = False
        self.reported_s = 0.0

    def has_modern_era(self) -> bool:
        """True if this request is of the 2026 era."""
        raise NotImplementedError

    @property
    def shows_pages(self) -> bool:
        return mcp_apps.shows_pages(self.capabilities)

    def notify(self, message: JsonObject) -> None:
        """Send the client a message about this request, unless it was answered or withdrawn."""
        raise NotImplementedError

    def report(self, done: float, total: float, message: str) -> None:
        """Send the client a progress notification, unless one was sent just before."""
        progress_token = self.meta.get("progressToken")
        now_s = time.monotonic()
        if progress_token is None or (done != total and now_s - self.reported_s < PROGRESS_S):
            return
        self.reported_s = now_s
        params = {
            "progressToken": progress_token,
            "progress": done,
            "total": total,
            "message": message,
        }
        self.notify({"method": "notifications/progress", "params": params})

    def admit(self, is_begun: bool = True) -> None:
        """Check that the request is well-formed and that its era has the method; `is_begun`: the client made
        its handshake. Raises RpcError."""
        # The envelope of a modern request.
        version = self.meta.get(PROTOCOL_VERSION)
        if self.is_modern:
            if not isinstance(version, str) or CLIENT_CAPABILITIES not in self.meta:
                raise RpcError(
                    INVALID_PARAMS,
                    f"params._meta needs {PROTOCOL_VERSION}, which is a text, and {CLIENT_CAPABILITIES}",
                )
            self.check_transport()
            if version != MODERN_VERSION:
                data = {"supported": [MODERN_VERSION], "requested": version}
                raise RpcError(UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version", data)
        # The method.
        shape = SHAPES.get(self.method)
        other_era = LEGACY_ONLY if self.is_modern else ("server/discover", LISTEN)
        is_missing = self.method in other_era or (self.method == LISTEN and not self.has_streams)
        if shape is None or is_missing:
            raise RpcError(METHOD_NOT_FOUND, "Method not found", self.method)
        # Its params.
        is_begun = is_begun or self.is_modern or self.method in LEGACY_ONLY
        # The only optional member that may not be null.
        is_null = self.meta.get("progressToken", "") is None
        expected_params = {**shape, "_meta?": ENVELOPE if self.is_modern else META_MEMBERS}
        if is_null or not is_begun or not fits(self.params, expected_params):
            raise RpcError(INVALID_PARAMS, "Invalid request parameters", "")

    def check_transport(self) -> None:
        """Check the headers of a modern request; over stdio there are none. Raises RpcError."""

    def response(self, body: JsonObject) -> JsonObject:
        """The message that answers the request with `body`, its result or error, in the form of its era."""
        if self.is_modern and "result" in body:
            result = body["result"]
            caching = {} if self.method in UNCACHED else NOT_CACHED
            meta = {**result.get("_meta", {}), f"{META}serverInfo": SERVER_INFO}
            body = {"result": {"resultType": "complete", **caching, **result, "_meta": meta}}
        return {"id": self.id, **body}

    def elicit(self, question: str) -> str:
        """Ask the person in an era with a handshake, and wait for `accept`, `decline` or `cancel`. Over HTTP
        there is no channel for such a question. Raises ToolError."""
        return calls.refuse_to_ask(question)

    def ask(self, question: str, key: str) -> str:
        """The person's answer to a tool's question. Raises ToolError if the client cannot ask, Asking in the
        2026 era, where the client calls again with the answer."""
        elicitation = self.capabilities.get("elicitation")
        if elicitation is None or (
            elicitation.get("url") is not None and elicitation.get("form") is None
        ):
            return calls.refuse_to_ask(question)
        if not self.is_modern:
            return self.elicit(question)
        call = f"{self.params['name']} {compact_json(self.params.get('arguments'))}"
        answer = (self.params.get("inputResponses") or {}).get(results.CONSENT)
        if answer is None or not calls.is_state_of(
            self.params.get("requestState"), question, key, call
        ):
            raise calls.Asking(question, calls.state_of(question, key, call))
        return action_of(answer)


def action_of(answer: Any) -> str:
    """The action of a person's answer; `cancel` if the answer is not well-formed."""
    is_valid = fits(answer, {"action": ("accept", "decline", "cancel"), "content?": dict})
    return str(answer["action"]) if is_valid else "cancel"


def answer_of(request: Request) -> JsonObject:
    """The `result` or the `error` of a request that opens no stream."""
    try:
        if request.method in HANDLERS:
            from pkgutil import resolve_name

            function = resolve_name(f"tools.core.{HANDLERS[request.method]}")
            return {"result": function(request.params)}
        if request.method == "tools/call":
            return {"result": call_tool(request)}
        if request.method == "tools/list":
            saved = listing.load() or listing.build()
            hidden = () if request.shows_pages else saved["for pages"]
            tools = [tool for tool in saved["tools"] if tool["name"] not in hidden]
            return {"result": {"tools": tools}}
        return {"result": greeting(request)}
    except ToolError as error:
        message = f"{error.message}. {error.hint}"
        return RpcError(INVALID_PARAMS, message, error.answer()).answer()
    except Exception:
        return unforeseen(f"{request.method} failed")


def greeting(request: Request) -> JsonObject:
    """The result of ping, initialize or server/discover."""
    if request.method == "ping":
        return {}
    streams = request.has_streams and request.is_modern
    capabilities = {
        "tools": {"listChanged": request.has_streams},
        "prompts": {"listChanged": streams},
        "resources": {"listChanged": streams, "subscribe": streams},
        "completions": {},
    }
    introduction = {"capabilities": capabilities, "instructions": instructions()}
    if request.is_modern:
        capabilities["extensions"] = EXTENSIONS
        return {"supportedVersions": [MODERN_VERSION], **introduction}
    version = request.params["protocolVersion"]
    if version not in HANDSHAKE_VERSIONS:
        version = HANDSHAKE_VERSIONS[-1]
    return {"protocolVersion": version, "serverInfo": SERVER_INFO, **introduction}


def call_tool(request: Request) -> JsonObject:
    """The result of tools/call: the tool's answer, or its question to the person."""
    from tools.core import registry

    params = request.params
    try:
        toolset = ""
        if not registry.load.cache_info().currsize:  # the other toolsets need not be imported
            toolset = listing.load().get("toolsets", {}).get(params["name"], "")
        tools = registry.listed_tools(request.shows_pages, toolset).values()
        tool = registry.tool_named(params["name"], tools)
        call = calls.RunningCall(request.report, lambda: request.withdrawn, request.ask)
        with calls.calling(call) as lines:
            answer = tool.call(params.get("arguments") or {})
    except ToolError as error:
        return results.as_result(error.answer())
    except calls.Asking as asking:
        return results.question(str(asking), asking.state)
    page = tool.page if request.shows_pages else None
    private = page and page.private(answer)
    if page and private and not tool.app_only and answer.get("success") is not False:
        answer = page.brief(answer)
        lines += page.notes
    return results.as_result(answer, private, lines)


def unforeseen(log_message: str) -> JsonObject:
    """Log the current exception with its traceback, and return the error that the client gets instead."""
    import logging

    logging.getLogger("pi-mcp").exception(log_message)
    message = "Internal error; the server's log (stderr) has the details"
    return RpcError(INTERNAL_ERROR, message).answer()


# 3. The session.


class StdioRequest(Request):
    """A request of `session`, unanswered until its answer is written or the client withdraws it."""

    has_streams = True

    def __init__(self, session: "Session", message: JsonObject):
        self.session = session
        super().__init__(message, session.capabilities)
        # A client may refer to request 7 as "7".
        self.key = str(self.id)

    def has_modern_era(self) -> bool:
        # A client that has used the envelope and made no handshake has forgotten the envelope here.
        is_usual = self.session.is_modern and not self.session.is_initialized
        return self.method != "initialize" and (is_usual or PROTOCOL_VERSION in self.meta)

    def notify(self, message: JsonObject) -> None:
        self.session.send(message, about=self)

    def elicit(self, question: str) -> str:
        session = self.session
        question_id = next(session.question_ids)
        key = str(question_id)
        session.open_questions[key] = {}
        params = {"mode": "form", "message": question, "requestedSchema": results.NO_FIELDS}
        session.send(
            {"id": question_id, "method": "elicitation/create", "params": params}, about=self
        )
        with session.writing:
            session.writing.wait_for(
                lambda: session.open_questions[key] or self.withdrawn, calls.QUESTION_S
            )
            answer = session.open_questions.pop(key)
        if answer:
            return (
                action_of(answer["result"]) if "result" in answer else calls.refuse_to_ask(question)
            )
        session.send({"method": "notifications/cancelled", "params": {"requestId": question_id}})
        calls.checkpoint()
        return "cancel"


class Session:
    """One client at the other end of `lines`, served until it leaves. `start` runs once, after the first
    answer."""

    def __init__(self, lines: stdio.Lines, start: Callable[[], object]):
        self.lines = lines
        self.start = cache(start)
        # The capabilities that the client announced in its handshake, and the eras that it has used so far.
        self.capabilities: JsonObject = {}
        self.is_initialized = False
        self.is_modern = False
        # Held while a line is written, and while it is decided whether one may be. Notified when a question
        # is answered or a request withdrawn.
        self.writing = threading.Condition()
        self.unanswered: set[StdioRequest] = set()
        # The ids of the streams that notify of changes, by their keys.
        self.streams: dict[str, str | int] = {}
        # The questions that await a person, by their ids as text, each with its answer: empty until it comes.
        self.open_questions: dict[str, JsonObject] = {}
        self.question_ids = count(1)
        self.call_turns = threading.Semaphore(MOST_CALLS)
        self.list_turns = threading.Semaphore(MOST_LISTS)

    # Lines in.

    def serve(self) -> None:
        """Answer line after line until EOF, then wait until no request is unanswered, up to DRAIN_S."""
        while line := self.lines.read():
            if line.strip():
                self._handle_line(line)
        deadline = time.monotonic() + DRAIN_S
        while self.unanswered and time.monotonic() < deadline and self.lines.is_read():
            time.sleep(0.01)
        if self.unanswered:
            sys.stderr.write(
                f"pi-mcp: stdin ended, and {len(self.unanswered)} requests had no answer {DRAIN_S} s later\n"
            )

    def _handle_line(self, line: bytes) -> None:
        """Handle one line. The session goes on, whatever is wrong with the line."""
        request = None
        try:
            message = stdio.parse(line)
            if "method" not in message:
                key = str(message.get("id"))
                with self.writing:
                    if key in self.open_questions:
                        self.open_questions[key] = message
                    self.writing.notify_all()
            elif "id" not in message:
                self._handle_notification(message)
            else:
                request = StdioRequest(self, message)
                self._handle_request(request)
        except RpcError as error:
            if request:
                self._finish(request, error.answer())
            else:
                self.send({"id": error.request_id, **error.answer()})
        except Exception:
            internal = unforeseen("a line could not be handled")
            if request:
                self._finish(request, internal)

    def _handle_notification(self, message: JsonObject) -> None:
        key = str((message.get("params") or {}).get("requestId"))
        if message["method"] == "notifications/initialized":
            self.is_initialized |= not self.is_modern
            self.start()
        elif message["method"] == "notifications/cancelled":
            self.streams.pop(key, None)
            with self.writing:
                for request in self.unanswered:
                    if request.key == key:
                        request.withdrawn = True
                        self.unanswered.discard(request)
                        self.writing.notify_all()
                        break  # of two requests with the same id the other one goes on

    def _handle_request(self, request: StdioRequest) -> None:
        self.unanswered.add(request)
        self.is_modern |= request.is_modern
        request.admit(self.is_initialized)
        if request.method == LISTEN:
            self._open_stream(request)
        elif request.method in (*LEGACY_ONLY, "server/discover"):  # answered at once, by the reader
            if request.method == "initialize":
                self.capabilities = request.params["capabilities"]
                self.is_initialized = True
            self._finish(request, answer_of(request))
        else:
            # A call that finds no turn is refused; for a list the reader waits, and takes no more lines.
            is_tool = request.method == "tools/call"
            turns = self.call_turns if is_tool else self.list_turns
            if turns.acquire(blocking=not is_tool):
                threading.Thread(
                    target=self._answer_request, args=(request, turns), daemon=True
                ).start()
            else:
                self._finish(request, {"result": results.busy(MOST_CALLS)})

    def _open_stream(self, request: StdioRequest) -> None:
        """Open a stream of changes; its acknowledgement is the only answer."""
        notifications = {
            name: value
            for name, value in request.params["notifications"].items()
            if value and f"{name}?" in STREAM
        }
        if "toolsListChanged" in notifications:
            self.streams[request.key] = request.id
        params = {"_meta": {SUBSCRIPTION_ID: request.id}, "notifications": notifications}
        self.send({"method": ACKNOWLEDGED, "params": params})
        self.unanswered.discard(request)

    def announce(self) -> None:
        """Notify the client that tools/list reads differently now."""
        if self.is_initialized:
            self.send({"method": LIST_CHANGED})
        for request_id in list(self.streams.values()):
            self.send({"method": LIST_CHANGED, "params": {"_meta": {SUBSCRIPTION_ID: request_id}}})

    def _answer_request(self, request: StdioRequest, turns: threading.Semaphore) -> None:
        """Answer a request, in a thread of its own, and give its turn back."""
        body = answer_of(request)
        turns.release()
        self._finish(request, body)

    # Lines out.

    def _finish(self, request: StdioRequest, body: JsonObject) -> None:
        """Write the answer to a request, unless it was withdrawn."""
        with self.writing:
            self.send(request.response(body), about=request)
            self.unanswered.discard(request)
            if request.method not in LEGACY_ONLY:
                self.start()

    def send(self, message: JsonObject, about: StdioRequest | None = None) -> None:
        """Write one message, unless it is `about` a request that was answered or withdrawn."""
        line = compact_json({"jsonrpc": "2.0", **message}).encode() + b"\n"
        with self.writing:
            if leaving.is_leaving or (about and about not in self.unanswered):
                return
            self.lines.write(line)
