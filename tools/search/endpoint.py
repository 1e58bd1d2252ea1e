"""One request to the search service, over http or https."""

import json
import re
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, urlencode, urljoin, urlsplit

from tools import calls, deadline
from tools.errors import ToolError
from tools.search import failures
from tools.settings import current

if TYPE_CHECKING:
    from http.client import HTTPConnection, HTTPResponse

LONGEST_BYTES = 4 * 2**20
READ_BYTES = 64 * 1024
MOST_REDIRECTS = 5
REDIRECTS = (301, 302, 303, 307, 308)
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9-]* +\S")
DEFAULT_PORTS = {"http": 80, "https": 443}
SAFE_IN_PATH = "/%:@!$&'()*+,;=~"
SAFE_IN_QUERY = SAFE_IN_PATH + "?"


@dataclass(frozen=True)
class Request:
    """What is sent where; `authorization` is empty where the key must not go."""

    url: str
    method: str
    body: bytes | None
    authorization: str

    def headers(self) -> dict[str, str]:
        found = {"Accept": "application/json", "Accept-Encoding": "identity", "Connection": "close"}
        found["User-Agent"] = "pi-mcp"
        if self.body is not None:
            found["Content-Type"] = "application/json"
        return found | ({"Authorization": self.authorization} if self.authorization else {})

    def moved(self, status: int, location: str) -> "Request":
        """The request that a redirect asks for; it keeps the key on its own host only.

        301 and 302 repeat it as 307 and 308 do: a search sent again as an empty GET would find nothing.
        """
        url = urljoin(self.url, location)
        if urlsplit(url).scheme not in DEFAULT_PORTS or not urlsplit(url).hostname:
            raise failures.misdirected(location)
        kept = self.authorization if _trusts(_origin(self.url), _origin(url)) else ""
        if status == 303:
            return Request(url, "GET", None, kept)
        return replace(self, url=url, authorization=kept)


def _origin(url: str) -> tuple[str, str, int]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or DEFAULT_PORTS[parts.scheme]


def _trusts(before: tuple[str, str, int], after: tuple[str, str, int]) -> bool:
    return before == after or (before[1] == after[1] and before[::2] == ("http", 80) and after[::2] == ("https", 443))


def require_configured() -> None:
    """Raises ToolError SEARCH_NOT_CONFIGURED."""
    if not current().search_api_url:
        raise failures.not_configured()


def ask(values: dict[str, Any]) -> bytes:
    """The service's answer to a search.

    Raises ToolError for whatever is no answer with status 2xx.
    """
    from http.client import HTTPException

    timeout_s = current().search_api_timeout_s
    end = time.monotonic() + timeout_s
    request = _request(values)
    try:
        for _ in range(MOST_REDIRECTS + 1):
            found = _exchange(request, end)
            if isinstance(found, bytes):
                return found
            request = found
    except TimeoutError as error:
        raise failures.slow(timeout_s) from error
    except (OSError, HTTPException, ValueError) as error:
        raise failures.unreachable(error, request.url) from error
    raise failures.misdirected(f"more than {MOST_REDIRECTS} redirects")


def _request(values: dict[str, Any]) -> Request:
    url, method = current().search_api_url, current().search_api_method.upper()
    if method == "POST":
        return Request(url, method, json.dumps(values).encode(), authorization(current().search_api_key))
    parts = urlsplit(url)
    query = urlencode([*parse_qsl(parts.query, keep_blank_values=True), *values.items()])
    return Request(parts._replace(query=query).geturl(), method, None, authorization(current().search_api_key))


def authorization(key: str) -> str:
    """The Authorization header for a key, which may name a scheme (`Basic …`) itself."""
    return key if not key or SCHEME.match(key) else f"Bearer {key}"


def _exchange(request: Request, end: float) -> bytes | Request:
    """The body of a good answer, or the request that a redirect asks for."""
    connection = _connection(request.url, end)
    try:
        connection.connect()
        with deadline.cutting(connection.sock, end):
            connection.request(request.method, _target(request.url), request.body, request.headers())
            response = connection.getresponse()
            if response.status in REDIRECTS and (location := response.headers.get("Location")):
                return request.moved(response.status, location)
            body = _read(response)
    finally:
        connection.close()
    if not 200 <= response.status < 300:
        raise failures.refused(response.status, response.headers, body, keyless=not request.authorization)
    return body


def _connection(url: str, end: float) -> "HTTPConnection":
    from http.client import HTTPConnection, HTTPSConnection

    scheme, host, port = _origin(url)
    kind = HTTPSConnection if scheme == "https" else HTTPConnection
    return kind(host, port, timeout=max(0.001, end - time.monotonic()))


def _target(url: str) -> str:
    parts = urlsplit(url)
    query = f"?{quote(parts.query, safe=SAFE_IN_QUERY)}" if parts.query else ""
    return (quote(parts.path, safe=SAFE_IN_PATH) or "/") + query


def _read(response: "HTTPResponse") -> bytes:
    body = bytearray()
    while chunk := response.read1(READ_BYTES):
        calls.checkpoint()
        body += chunk
        if len(body) > LONGEST_BYTES:
            raise ToolError(
                f"The search service sends more than {LONGEST_BYTES >> 20} MiB",
                "Ask with a smaller limit; the service may also send whole pages where snippets would do.",
                code="SEARCH_ANSWER_TOO_LONG",
            )
    return bytes(body)
