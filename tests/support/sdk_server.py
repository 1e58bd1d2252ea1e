"""The SDK's server over the same answers as ours: the judge of our protocol."""

from contextvars import ContextVar
from typing import Any

import anyio
import mcp_types as types
from anyio import to_thread
from mcp.server.caching import CACHEABLE_METHODS, CacheHint
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from tools import protocol
from tools.core import toolsets
from tools.starting import VERSION

HANDSHAKE = ContextVar("handshake", default=None)


class InstructingServer(Server):
    # Those for the current caller, whatever the SDK sets.
    instructions = property(lambda self: toolsets.instructions(), lambda *_: None)


class SdkServer:
    """The SDK's server over the same answers, for all clients of a process."""

    def __init__(self):
        self.threads = anyio.CapacityLimiter(protocol.MOST_CALLS)
        self.server = InstructingServer(
            "pi-mcp",
            version=VERSION,
            # No argument is repeated in a header, to be checked against its schema.
            get_tool_input_schema=lambda name: None,
            cache_hints=dict.fromkeys(CACHEABLE_METHODS, CacheHint()),
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
        for method in ("tools/list", "tools/call", *protocol.HANDLERS):
            model = models.get(method, types.PaginatedRequestParams)
            self.server.add_request_handler(method, model, self.answering(method))

    def answering(self, method):
        """The handler of a method, which answers from a worker thread."""

        async def handle(context, params: Any):
            request = SdkRequest(method, context)
            body = await to_thread.run_sync(protocol.answer_of, request, limiter=self.threads)
            if "error" in body:
                raise MCPError(**body["error"])
            if not request.is_modern:
                return body["result"]
            marks = protocol.NOT_CACHED if method.startswith("skills/") else {}
            return {"resultType": "complete", **marks, **body["result"]}

        return handle


class SdkRequest(protocol.Request):
    """A request that came through the SDK."""

    def __init__(self, method, context):
        self.context = context
        model = context.session.client_capabilities
        message = {"id": context.request_id, "method": method, "params": dict(context.params or {})}
        super().__init__(message, {})
        # Over HTTP a handshake is forgotten: what it said is here.
        self.capabilities = HANDSHAKE.get() or {}
        if model:
            self.capabilities = model.model_dump(by_alias=True, exclude_none=True)

    def has_modern_era(self):
        return self.context.protocol_version not in protocol.HANDSHAKE_VERSIONS
