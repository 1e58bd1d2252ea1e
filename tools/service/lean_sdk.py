"""What is left out when the SDK is imported, by the way it is going to serve. Nothing here imports it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from tools.service import deferred
from tools.service.late_names import late

VERSION = "2.3.0"
"""The version whose modules are known not to need the names below before they use them."""
PACKAGES = ("mcp", "mcp.server")
"""What these import in order to export it, clients and cryptography, is a quarter of all."""
HTTP_IF_THERE = ("python_multipart", "uvicorn")
"""What the web framework imports if it is installed."""
HTTP_ALONE = (
    *("starlette.applications", "starlette.middleware", "starlette.middleware.authentication", "starlette.routing"),
    *("mcp.server.auth.middleware.auth_context", "mcp.server.auth.middleware.bearer_auth", "mcp.server.auth.provider"),
    *("mcp.server.auth.routes", "mcp.server.auth.settings", "mcp.server.transport_security"),
    *("mcp.server.streamable_http", "mcp.server.streamable_http_manager"),
)
ERAS = ("mcp_types._v2025_11_25", "mcp_types._v2026_07_28")
"""The models of the protocol's two eras; a client speaks one of them."""

LATE = {"stdio": (*HTTP_ALONE, *ERAS), "service": HTTP_ALONE, "http": ()}
"""For a session on stdio; for the resident service, which has everything ready for its sessions; for HTTP."""


@contextmanager
def leanly(way: str) -> Iterator[None]:
    """Inside, the SDK is imported without what this way does not need."""
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # it looks for them in all that is installed
    deferred.defer(*PACKAGES)
    absent = () if way == "http" else HTTP_IF_THERE
    with deferred.absent(*absent), late(*(LATE[way] if deferred.is_installed("mcp", VERSION) else ())):
        yield
