"""What clients ask first, in both eras of the protocol.

The resident service answers it once, to nobody: what answering writes into memory, no session has to write on pages of
its own.
"""

CLIENT = {"name": "rehearsal", "version": "1"}
HANDSHAKE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}
LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")

SESSIONS = (
    [("initialize", HANDSHAKE), *((method, {}) for method in LISTS), ("tools/call", {"name": "greet"})],
    [("server/discover", {"_meta": ENVELOPE}), ("tools/list", {"_meta": ENVELOPE})],
)
"""The requests of each session: method and parameters."""
