"""The server over HTTP as its clients reach it: a call of MCP_HTTP_URL with a token of our own, explained in words."""

import json
import time

from tools.core import http
from tools.core.health import Health
from tools.core.settings import Settings
from tools.service import tokens

TIMEOUT_S = 20
TOKEN_S = 60
"""How long the token holds that this call is made with."""
LONGEST_ANSWER = 2**20
SCOPE = ("server:read",)
NAME = "pi-mcp"
"""What the server calls itself, and the realm of its 401."""
REQUEST = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "check", "version": "1"}},
}
UNITS = "sudo systemctl restart pi-mcp-http.socket pi-mcp-http.service; journalctl -u pi-mcp-http"
GATE = "Let the proxy pass POST requests on without a login, a challenge or a filter of its own; docs/remote.md"

MEANINGS = {
    404: ("nothing is at that path", "MCP_HTTP_URL ends with the path that clients call; the proxy must keep it."),
    405: ("the request did not arrive as the POST that it was", "Give MCP_HTTP_URL the address after all redirects."),
    421: (
        "the server was called by another name than that of MCP_HTTP_URL",
        "The proxy must pass the Host header on as it came, with its port: nginx: proxy_set_header Host $http_host;",
    ),
    429: ("too many requests, or too many without a valid token, in the last minute", "Wait a minute."),
}
"""What a status of the server means, and what to do."""


def look(own: Settings) -> Health:
    """What a client meets at MCP_HTTP_URL."""
    try:
        keys = tokens.read_keys(own.state_dir / own.http_key_file)
    except tokens.UnusableKeys as error:
        return Health("broken", str(error), "Whoever reads the keys can make tokens: python3 -m tools token rotate")
    if not keys:
        return Health(
            "unset", "nobody has a token for HTTP", "./setup.sh --http, then a token for each: docs/remote.md"
        )
    token = tokens.sign(tokens.new_claims("check", SCOPE, own.http_url, TOKEN_S), keys[0])
    began = time.monotonic()
    headers = {
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    request = http.Request(own.http_url, "POST", json.dumps(REQUEST).encode(), headers)
    try:
        response = http.send(request, http.Limits(began + TIMEOUT_S, LONGEST_ANSWER))
    except http.HttpError as error:
        return Health("broken", f"{own.http_url}: {error.reason}", _unanswered(error))
    if response.status == 200 and NAME in response.body.decode(errors="replace"):
        return Health("ok", f"{own.http_url} answered within {time.monotonic() - began:.1f} s")
    summary, advice = _explained(response)
    return Health("broken", f"{own.http_url}: HTTP {response.status}, {summary}", advice)


def _unanswered(error: http.HttpError) -> str:
    if error.sent:
        return f"{UNITS}; if all is well there, look at the proxy in front of it."
    return f"Is the address right, its proxy or tunnel up, the server running? {UNITS}"


def _explained(response: http.Response) -> tuple[str, str]:
    """What an answer means, and what to do."""
    status, location = response.status, response.headers.get("Location")
    if status in http.REDIRECTS and location:
        return f"a redirect to {location[:200]}", "Clients lose their token there: make that MCP_HTTP_URL."
    if status == 401 and NAME in response.headers.get("WWW-Authenticate", ""):
        return (
            "the server refuses a token that was made with the settings here",
            f"It runs with another MCP_HTTP_URL or other keys, or its clock is wrong: {UNITS}",
        )
    if status in (401, 403):
        return "what stands before the server wants a login of its own, or refuses us", GATE
    if status in (502, 503, 504):
        return "a proxy answers, and finds no server behind it", f"{UNITS}; the proxy must lead to MCP_HTTP_LISTEN."
    return MEANINGS.get(status, ("what answers there is not pi-mcp", "MCP_HTTP_URL must lead to this server."))
