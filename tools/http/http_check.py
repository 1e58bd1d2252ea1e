"""The server over HTTP as its clients reach it: a whole sign-in at MCP_HTTP_URL, explained in words where it
breaks."""

import json
import re
import time
from urllib.parse import parse_qs, urlencode, urlsplit

from tools.core import http
from tools.core.health import Health
from tools.core.settings import Settings
from tools.http import sign_in, tokens
from tools.http.ledger import Ledger

TIMEOUT_S = 30
LONGEST_ANSWER = 1_048_576
TOKEN_S = 60  # the lifetime of the token that this sign-in gives
BACK = "http://localhost/check"  # where the code comes to
VERIFIER = "pi-mcp-check-pi-mcp-check-pi-mcp-check-pi-mcp"
CHALLENGE = "U3CGGWsvhC2wmtv9hg9QthxmqYt9Gz6wk4SRMNUfh3c"  # its SHA-256, in base64url
PING = '{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
UNITS = (
    "sudo systemctl restart pi-mcp-http.socket pi-mcp-http.service; journalctl -u pi-mcp-http"
    " (without systemd: ./server.py --http)"
)
GATE = (
    "Let the proxy pass all requests on without a login, a challenge or a filter of its own; docs/remote.md"
)
OTHER = ("what answers there is not pi-mcp", "MCP_HTTP_URL must lead to this server.")
GATED = ("the proxy in front of the server requires its own login, or rejects us", GATE)
ALONE = ("a proxy answers, and finds no server behind it", f"{UNITS}; MCP_HTTP_LISTEN")
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
    429: ("too many requests in the last minute", "Wait a minute."),
    502: ALONE,
    503: ALONE,
    504: ALONE,
}


class Broken(Exception):
    """A step that failed: the summary, the remedy."""


def look(settings: Settings) -> Health:
    """The health of the server at MCP_HTTP_URL."""
    try:
        keys = tokens.read_keys(settings.state_dir / settings.http_key_file)
    except OSError as error:
        return Health(
            "broken", str(error), "Whoever reads the keys can make tokens: python3 -m tools token rotate"
        )
    if not keys:
        return Health(
            "unset",
            "nobody has been let in over HTTP yet",
            "./setup.sh --http, then an invitation: docs/remote.md",
        )
    try:
        _walk(settings.http_url, Ledger(settings.state_dir), time.monotonic() + TIMEOUT_S)
        return Health("ok", f"{settings.http_url} let us sign in and answered")
    except http.HttpError as error:
        summary = error.reason
        advice = f"Is the address right, its proxy or tunnel up, the server running? {UNITS}"
    except Broken as broken:
        summary, advice = broken.args
    except (ValueError, LookupError):
        summary, advice = OTHER
    return Health("broken", f"{settings.http_url}: {summary}", advice)


def _walk(url: str, ledger: Ledger, deadline: float) -> None:
    """Go the way of a client that knows only `url`, and of the person in front of it. Raises Broken,
    HttpError."""

    def ask(
        step: str, status: int, url: str, body: str = "", headers: dict[str, str] = JSON
    ) -> http.Response:
        request = http.Request(url, "POST" if body else "GET", body.encode() or None, headers)
        response = http.send(request, http.Limits(deadline, LONGEST_ANSWER))
        if response.status == status:
            return response
        meaning, advice = MEANINGS.get(response.status, OTHER)
        if response.status in http.REDIRECTS:
            meaning = f"a redirect to {response.headers.get('Location', '')[:200]}"
            advice = "Clients lose their token there: make that MCP_HTTP_URL."
        raise Broken(f"{step}: HTTP {response.status}, {meaning}", advice)

    challenge = ask("a call without a token", 401, url, PING).headers.get("WWW-Authenticate", "")
    if "pi-mcp" not in challenge:  # the realm of the server's 401
        raise Broken(f"HTTP 401, {GATED[0]}", GATE)
    metadata_url = re.findall(r'resource_metadata="([^"]+)"', challenge)[0]
    issuer = json.loads(ask("the metadata", 200, metadata_url).body)["authorization_servers"][0]
    ask("the metadata", 200, f"{issuer}/.well-known/oauth-authorization-server")
    client = ask("registration", 201, f"{issuer}/register", json.dumps({"redirect_uris": [BACK]}))
    fields = {
        "client_id": json.loads(client.body)["client_id"],
        "redirect_uri": BACK,
        "response_type": "code",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
        "resource": url,
    }
    fields["code"] = sign_in.invite(ledger, "check", "server:read", TOKEN_S / sign_in.DAY_S)
    page = ask("an invitation", 303, f"{issuer}/authorize", urlencode(fields), FORM)
    fields["code"] = parse_qs(urlsplit(page.headers["Location"]).query)["code"][0]
    fields |= {"grant_type": "authorization_code", "code_verifier": VERIFIER}
    token = json.loads(ask("the token", 200, f"{issuer}/token", urlencode(fields), FORM).body)
    answer = ask("a call", 200, url, PING, {**JSON, "Authorization": f"Bearer {token['access_token']}"})
    if b'"result"' not in answer.body:
        raise Broken(*OTHER)
