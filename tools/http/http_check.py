"""The health of the server at MCP_HTTP_URL, as its clients meet it: a call without a token, the address of
the sign-in, a call with a token. The answer of a proxy in front of it is explained."""

import re
import time

from tools.core import http
from tools.core.health import Health
from tools.core.settings import Settings
from tools.toolkit import ToolError

from . import tokens

PING = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
JSON_HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
PATIENCE_S = 15
LONGEST_ANSWER_BYTES = 1_048_576
# In the header of each 401, before the address of the sign-in.
REALM = 'realm="pi-mcp"'
RESTART = (
    "sudo systemctl restart pi-mcp-http.socket pi-mcp-http.service; journalctl -u pi-mcp-http"
    " (without systemd: ./server.py --http)"
)
GATED = (
    "the proxy in front of the server requires its own login, or rejects us",
    "Let the proxy pass all requests on without a login, a challenge or a filter of its own; docs/remote.md",
)
ALONE = ("a proxy answers, but finds no server behind it", f"{RESTART}; MCP_HTTP_LISTEN")
# By status: its meaning, and the remedy.
MEANINGS = {
    401: GATED,
    403: GATED,
    404: (
        "nothing is at that path",
        "The proxy must pass on every path, not MCP_HTTP_URL's alone; docs/remote.md",
    ),
    421: (
        "the server was called by another name",
        "The proxy must keep the Host header with its port: docs/remote.md",
    ),
    502: ALONE,
    503: ALONE,
    504: ALONE,
}


def inspect(settings: Settings) -> Health:
    """The health of the server at MCP_HTTP_URL. Raises ToolError: what is broken there, and the remedy."""
    url = settings.http_url
    # The keys, which the first invitation or token makes.
    try:
        keys = tokens.read_keys(settings.state_dir / settings.http_key_file)
    except FileNotFoundError:
        return Health(
            "unset",
            "nobody has been let in over HTTP yet",
            "./setup.sh --http, then an invitation: docs/remote.md",
        )
    except OSError as error:
        raise ToolError(
            str(error),
            "Whoever read the keys can make tokens. After that: python3 -m tools token rotate, twice",
        ) from None
    # Without a token the answer names the metadata, and they the sign-in.
    call = http.Request(url, "POST", PING, JSON_HEADERS)
    refusal = _expect("a call without a token", 401, "", call)
    challenge = re.search(
        f'{REALM}, resource_metadata="([^"]+)"', refusal.headers.get("WWW-Authenticate", "")
    )
    if not challenge:
        raise ToolError(f"{url}: HTTP 401, {GATED[0]}", GATED[1])
    _expect("the metadata", 200, "authorization_servers", http.Request(challenge[1]))
    # With a token it is answered.
    grant = {"user": "check", "scope": "server:read", "token_id": ""}
    token = tokens.sign(tokens.claims_of(grant, url, lifetime_s=60), keys[0])
    headers = {**JSON_HEADERS, "Authorization": f"Bearer {token}"}
    _expect("a call", 200, "result", call._replace(headers=headers))
    return Health("ok", f"{url} leads to the sign-in and answers")


def _expect(step: str, status: int, word: str, request: http.Request) -> http.Response:
    """The answer to a request. Raises ToolError unless it has this status and this word in its body."""
    try:
        response = http.send(
            request, http.Bounds(time.monotonic() + PATIENCE_S, LONGEST_ANSWER_BYTES)
        )
    except http.HttpError as error:
        hint = f"Is the address right, its proxy or tunnel up, the server running? {RESTART}"
        raise ToolError(f"{request.url}: {error.reason}", hint) from None
    if response.status == status and word.encode() in response.body:
        return response
    foreign = "what answers there is not pi-mcp", "MCP_HTTP_URL must lead to this server."
    meaning, advice = MEANINGS.get(response.status, foreign)
    if response.status in http.REDIRECTS:
        meaning = f"a redirect to {response.headers.get('Location', '')[:200]}"
        advice = "Clients lose their token there: make that MCP_HTTP_URL."
    if REALM in response.headers.get("WWW-Authenticate", ""):
        meaning = "the server there does not accept our token"
        advice = f"It has another MCP_HTTP_URL, or the keys of another MCP_STATE_DIR: {RESTART}"
    raise ToolError(f"{request.url}: {step}: HTTP {response.status}, {meaning}", advice)
