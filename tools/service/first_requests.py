"""What clients ask first, in both eras of the protocol.

The resident service answers it to nobody before it forks: what answering writes into memory, no session has to write on
pages of its own.
"""

import json
from io import BytesIO

from tools.core.json_types import JsonObject
from tools.service.stdio import Lines

CLIENT = {"name": "warm-up", "version": "1"}
HANDSHAKE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}
LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")

Request = tuple[str, JsonObject]

SESSIONS: tuple[list[Request], ...] = (
    [("initialize", HANDSHAKE), *((method, {}) for method in LISTS), ("tools/call", {"name": "greet"})],
    [("server/discover", {"_meta": ENVELOPE}), ("tools/list", {"_meta": ENVELOPE})],
)
"""The requests of each session: method and parameters."""


def lines(requests: list[Request]) -> Lines:
    """A client that sends these requests, closes its side, and reads nothing."""
    messages = [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        for number, (method, params) in enumerate(requests)
    ]
    return Lines(
        BytesIO(b"".join(json.dumps(message).encode() + b"\n" for message in messages)), open("/dev/null", "wb")
    )
