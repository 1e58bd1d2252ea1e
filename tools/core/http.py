"""HTTP for every backend: one request under one deadline, from the name lookup to the last byte of the body.

Addresses are http, https, or `unix:/path` for a socket of this machine.
"""

import socket
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from tools.core import connections
from tools.core.connections import DEFAULT_PORTS

if TYPE_CHECKING:
    from email.message import Message
    from http.client import HTTPConnection, HTTPResponse, IncompleteRead

READ_BYTES = 64 * 1024
REFUSAL_BYTES = 64 * 1024
"""The most that is read of the body of an error status."""

REDIRECTS = (301, 302, 303, 307, 308)
SAFE_IN_PATH = "/%:@!$&'()*+,;=~"
HEADERS = {"User-Agent": "pi-mcp", "Accept-Encoding": "identity", "Connection": "close"}


class HttpError(Exception):
    """A request without a whole answer. `reason` quotes nothing of what came; without `sent`, nothing left here."""

    def __init__(self, reason: str, *, sent: bool):
        super().__init__(reason)
        self.reason = reason
        self.sent = sent


class Late(HttpError):
    """The deadline passed."""


class TooLong(HttpError):
    """The body is larger than allowed; `size_bytes` is its announced size, or what had come by then."""

    def __init__(self, size_bytes: int):
        super().__init__(f"the answer has {size_bytes} bytes or more", sent=True)
        self.size_bytes = size_bytes


class NotHttp(HttpError):
    """Something answers that does not speak HTTP."""


class Misdirected(HttpError):
    """Redirects that lead nowhere."""


@dataclass(frozen=True)
class Limits:
    """What a request may take, redirects included. `admit` raises for a host with an address not to be connected to."""

    deadline: float
    """Of `time.monotonic()`."""

    body_bytes: int
    redirects: int = 0
    admit: connections.Admit = connections.anywhere


@dataclass(frozen=True)
class Request:
    """What is sent where. An Authorization header stays on its own host."""

    url: str
    method: str = "GET"
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def moved(self, status: int, location: str) -> "Request":
        """The request that a redirect asks for.

        301 and 302 repeat it as 307 and 308 do: a search sent again as an empty GET would find nothing.

        Raises Misdirected for an address that is not http(s).
        """
        try:
            url = urljoin(self.url, location)
            headers = dict(self.headers)
            if not _trusts(_origin(self.url), _origin(url)):
                headers.pop("Authorization", None)
        except (ValueError, KeyError) as error:
            raise Misdirected("a redirect leads to what is not an http(s) address", sent=True) from error
        if status == 303:
            headers.pop("Content-Type", None)
            return Request(url, "GET", None, headers)
        return replace(self, url=url, headers=headers)


@dataclass(frozen=True)
class Response:
    """A whole answer, and the request that it answers: the last one after redirects."""

    status: int
    headers: "Message"
    body: bytes
    request: Request


def send(request: Request, limits: Limits) -> Response:
    """The answer, whatever its status; without redirects allowed, also a redirect.

    Raises HttpError.
    """
    for _ in range(limits.redirects + 1):
        response = _exchange(request, limits)
        location = response.headers.get("Location")
        if not limits.redirects or response.status not in REDIRECTS or not location:
            return response
        request = request.moved(response.status, location)
    raise Misdirected(f"more than {limits.redirects} redirects", sent=True)


def _origin(url: str) -> tuple[str, str, int]:
    """Scheme, host and port. Raises ValueError or KeyError for what is not an http(s) address."""
    parts = urlsplit(url)
    port = DEFAULT_PORTS[parts.scheme]
    if not parts.hostname:
        raise ValueError("no host")
    return parts.scheme, parts.hostname, parts.port or port


def _trusts(before: tuple[str, str, int], after: tuple[str, str, int]) -> bool:
    """Whether `after` may have the key sent to `before`: the same origin, or the same host's https."""
    return before == after or (before[1] == after[1] and before[::2] == ("http", 80) and after[::2] == ("https", 443))


def _exchange(request: Request, limits: Limits) -> Response:
    from http.client import HTTPException, IncompleteRead

    url = urlsplit(request.url)
    with closing(_connection(url, limits)) as connection:
        try:
            connection.request(request.method, _target(url), request.body, {**HEADERS, **request.headers})
            with closing(connection.getresponse()) as response:
                return Response(response.status, response.headers, _body(response, limits.body_bytes), request)
        except TimeoutError as error:
            raise Late("no answer in time", sent=True) from error
        except IncompleteRead as error:
            raise HttpError(_cut_after(error), sent=True) from error
        except OSError as error:
            raise HttpError("the connection was cut before the whole answer came", sent=True) from error
        except (HTTPException, ValueError) as error:
            raise NotHttp("what answers there does not speak HTTP", sent=True) from error


def _cut_after(error: "IncompleteRead") -> str:
    announced = f" of {len(error.partial) + error.expected}" if error.expected else ""
    return f"the answer was cut after {len(error.partial)}{announced} bytes"


def _target(url: SplitResult) -> str:
    """Path and query as a request line may hold them."""
    if url.scheme == "unix":
        return "/"
    query = f"?{quote(url.query, safe=SAFE_IN_PATH + '?')}" if url.query else ""
    return (quote(url.path, safe=SAFE_IN_PATH) or "/") + query


def _body(response: "HTTPResponse", limit_bytes: int) -> bytes:
    from http.client import HTTPException

    if not 200 <= response.status < 300:
        try:
            return b"" if response.headers.get("Location") else _read(response, REFUSAL_BYTES)
        except (OSError, HTTPException):
            return b""  # the status tells enough
    if response.length is not None and response.length > limit_bytes:
        raise TooLong(response.length)
    body = _read(response, limit_bytes)
    if len(body) > limit_bytes:
        raise TooLong(len(body))
    return body


def _read(response: "HTTPResponse", limit_bytes: int) -> bytes:
    """The whole body, or its beginning as soon as that is longer than the limit."""
    from http.client import IncompleteRead

    body, expected = bytearray(), response.length
    while len(body) != expected and len(body) <= limit_bytes and (chunk := response.read1(READ_BYTES)):
        body += chunk
    if expected is not None and len(body) < min(expected, limit_bytes):
        raise IncompleteRead(bytes(body), expected - len(body))
    return bytes(body)


def _connection(url: SplitResult, limits: Limits) -> "HTTPConnection":
    """Connected, and through TLS's handshake."""
    from http.client import HTTPConnection

    try:
        connected = connections.connect(url, limits.deadline, limits.admit)
        connection = HTTPConnection(url.hostname or "localhost", url.port)
    except TimeoutError as error:
        raise Late("the machine does not answer", sent=False) from error
    except (OSError, ValueError) as error:
        raise HttpError(_reason(error), sent=False) from error
    connection.default_port = DEFAULT_PORTS.get(url.scheme, 80)
    connection.port = url.port or connection.default_port
    connection.sock = connected
    return connection


def _reason(error: Exception) -> str:
    if isinstance(error, ConnectionRefusedError | FileNotFoundError):
        return "nothing listens there"
    if isinstance(error, socket.gaierror):
        return "no such host" if error.errno == socket.EAI_NONAME else "its name cannot be looked up now"
    if message := getattr(error, "verify_message", ""):
        return f"its certificate is not accepted: {message}"
    if not isinstance(error, OSError):  # of a name; from Python 3.13 on it has a `reason` too
        return "that is not a proper address"
    if name := getattr(error, "reason", ""):
        return f"TLS fails there ({name})"
    return error.strerror or str(error) or type(error).__name__
