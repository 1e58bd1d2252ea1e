"""The judge of our protocol over HTTP: the SDK's own application over the same answers, asked the same."""

from urllib.parse import urlsplit

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from tests.support import sdk_server
from tests.support.client import messages
from tests.support.http_memory import InMemory
from tests.support.judge import compared
from tools.core import calls
from tools.endpoint import PAGE_CAPABILITIES
from tools.http import guards

USER = "anna"
JSON = "application/json"
EVENTS = "text/event-stream"


class Judge(InMemory):
    """The SDK's application without our guards. All that comes is of one person, who may use every
    toolset."""

    def application(self):
        names = [urlsplit(self.url).netloc, "127.0.0.1", "localhost", "[::1]"]
        hosts = [*names, *(f"{name}:*" for name in names)]
        origins = [f"{scheme}://{host}" for scheme in ("http", "https") for host in hosts]
        manager = StreamableHTTPSessionManager(
            sdk_server.SdkServer().server,
            stateless=True,
            security_settings=TransportSecuritySettings(
                allowed_hosts=hosts, allowed_origins=origins
            ),
            max_request_body_size=guards.LONGEST_BODY_BYTES,
        )
        self.open.enter_context(self.portal.wrap_async_context_manager(manager.run()))

        async def answer(scope, receive, send):
            session = dict(scope["headers"]).get(guards.SESSION_HEADER.encode(), b"")
            caller = calls.caller_of_scope(USER, " ".join(calls.scopes()), "judge")
            sdk_server.HANDSHAKE.set(PAGE_CAPABILITIES if session.endswith(b"-pages") else {})
            with calls.acting_for(caller):
                await manager.handle_request(scope, receive, send)

        return answer


def essence(answer):
    """The part of an answer that is compared: its status, type and messages; only the status of a refusal
    that names no request."""
    status, headers, body = answer
    content_type = headers.get("content-type", "").partition(";")[0]
    if status == 202:
        return status, "", body.decode()
    if content_type not in (JSON, EVENTS) or not body:
        return status, "", ""
    received = messages(headers, body)
    if received and "error" in received[-1] and received[-1]["id"] is None:
        return status, "", ""
    return status, content_type, [compared(message) for message in received]
