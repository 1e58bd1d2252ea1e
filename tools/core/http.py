"""HTTP for every backend: one deadline for a request, from the name lookup to the last byte of the body.

Addresses are http, https, or `unix:/path` for a socket of this machine.
"""

import socket
import threading
import time
from collections.abc import Mapping
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import SplitResult, quote, urljoin, urlsplit

if TYPE_CHECKING:
    from email.message import Message
    from http.client import HTTPConnection, HTTPResponse

DEFAULT_PORTS = {"http": 80, "https": 443}
REFUSAL_BYTES = 64 * 1024
REDIRECTS = (301, 302, 303, 307, 308)
KEYLESS = ("Accept", "Content-Type")
HEADERS = {"User-Agent": "pi-mcp", "Accept-Encoding": "identity", "Connection": "close"}

Address = tuple[int, Any]  # of a socket: its family, and the address itself


class HttpError(Exception):
    """A request without a whole answer. `reason` quotes nothing foreign; `was_sent` is False if nothing left
    this machine."""

    def __init__(self, reason: str, *, was_sent: bool = True):
        super().__init__(reason)
        self.reason = reason
        self.was_sent = was_sent


class Late(HttpError):
    """The deadline passed."""


class TooLong(HttpError):
    """The body is larger than allowed; `size_bytes` is its announced size, or what was read of it."""

    def __init__(self, size_bytes: int):
        super().__init__(f"the answer has {size_bytes} bytes or more")
        self.size_bytes = size_bytes


class NotHttp(HttpError):
    """Something answers that does not speak HTTP."""


class Misdirected(HttpError):
    """The redirects lead nowhere."""


class NotForeign(HttpError):
    """The host is of this machine or its network, which the bounds exclude."""


class Bounds(NamedTuple):
    """The bounds of a request and its redirects. `deadline`: a time of `time.monotonic()`; `foreign_only`:
    refuse a host that has an address of this machine or its network."""

    deadline: float
    body_bytes: int
    redirects: int = 0
    foreign_only: bool = False


class Request(NamedTuple):
    """A request to `url`. A redirect to another host takes only its KEYLESS headers along."""

    url: str
    method: str = "GET"
    body: bytes | None = None
    headers: Mapping[str, str] = {}

    def moved(self, status: int, location: str) -> "Request":
        """The request that a redirect asks for. 301 and 302 keep method and body as 307 and 308 do: a search
        that becomes an empty GET would find nothing.

        Raises Misdirected for an address that is not http(s).
        """
        try:
            url = urljoin(self.url, location)
            origin = _origin(self.url)
            target = _origin(url)
        except (ValueError, KeyError) as error:
            raise Misdirected("a redirect leads to what is not an http(s) address") from error
        headers = dict(self.headers)
        # A key, in whatever header, may go to the same origin, or from http to https on the same host.
        host = origin[1]
        is_upgrade = origin == ("http", host, 80) and target == ("https", host, 443)
        if origin != target and not is_upgrade:
            headers = {name: value for name, value in headers.items() if name in KEYLESS}
        if status != 303:
            return self._replace(url=url, headers=headers)
        headers.pop("Content-Type", None)
        return Request(url, headers=headers)


class Response(NamedTuple):
    """The whole answer to the last request after redirects; `peer`: the address that it came from."""

    status: int
    headers: "Message"
    body: bytes
    peer: Any = None


def send(request: Request, bounds: Bounds) -> Response:
    """Send a request and return the answer, whatever its status; also a redirect if none are allowed. Raises
    HttpError."""
    for _ in range(bounds.redirects + 1):
        response = _exchange(request, bounds)
        location = response.headers.get("Location")
        if not bounds.redirects or response.status not in REDIRECTS or not location:
            return response
        request = request.moved(response.status, location)
        if is_foreign(response.peer[0]):  # nobody outside may redirect us into this network
            bounds = bounds._replace(foreign_only=True)
    raise Misdirected(f"more than {bounds.redirects} redirects")


def _origin(url: str) -> tuple[str, str, int]:
    """Scheme, host and port. Raises ValueError or KeyError for what is not an http(s) address."""
    parts = urlsplit(url)
    port = DEFAULT_PORTS[parts.scheme]
    if not parts.hostname:
        raise ValueError("no host")
    return parts.scheme, parts.hostname, parts.port or port


def _exchange(request: Request, bounds: Bounds) -> Response:
    """The answer to one request, which may be a redirect. Raises HttpError."""
    url = urlsplit(request.url)
    # Path and query, escaped for a request line; a socket's path is not sent.
    target = "/" if url.scheme == "unix" else url.path or "/"
    if url.query:
        target += f"?{url.query}"
    target = quote(target, safe="/%:@!$&'()*+,;=~?")
    with closing(_connection(url, bounds)) as connection:
        from http.client import HTTPException, IncompleteRead

        try:
            peer = connection.sock.getpeername()
            connection.request(request.method, target, request.body, {**HEADERS, **request.headers})
            with closing(connection.getresponse()) as response:
                body = _body(response, bounds.body_bytes)
                return Response(response.status, response.headers, body, peer)
        except TimeoutError as error:
            raise Late("no answer in time") from error
        except (OSError, IncompleteRead) as error:
            raise HttpError("the connection was cut before the whole answer came") from error
        except (HTTPException, ValueError) as error:
            raise NotHttp("what answers there does not speak HTTP") from error


def _body(response: "HTTPResponse", limit_bytes: int) -> bytes:
    """The whole body; only the beginning of an error's, and nothing of a redirect's. Raises TooLong."""
    from http.client import HTTPException

    if not 200 <= response.status < 300:
        with suppress(OSError, HTTPException):
            return b"" if response.headers.get("Location") else response.read(REFUSAL_BYTES)
        return b""
    expected = response.length or 0
    if expected > limit_bytes:
        raise TooLong(expected)
    # All that was announced, else IncompleteRead is raised.
    body = response.read(None if expected else limit_bytes + 1)
    if len(body) > limit_bytes:
        raise TooLong(len(body))
    return body


def _connection(url: SplitResult, bounds: Bounds) -> "HTTPConnection":
    """An open connection to an address, after TLS's handshake. Raises HttpError."""
    try:
        connected_socket = _connect(url, bounds)
        # This loads ssl and email, 4 MiB, so not before somebody accepts the connection.
        from http.client import HTTPConnection

        default_port = DEFAULT_PORTS.get(url.scheme, 80)
        connection = HTTPConnection(url.hostname or "localhost", url.port or default_port)
        connection.default_port = default_port
        connection.sock = connected_socket
    except TimeoutError as error:
        raise Late("the machine does not answer", was_sent=False) from error
    except (OSError, ValueError) as error:
        raise HttpError(_reason(error), was_sent=False) from error
    return connection


def _reason(error: Exception) -> str:
    if isinstance(error, ConnectionRefusedError | FileNotFoundError):
        return "nothing listens there"
    if isinstance(error, socket.gaierror):
        if error.errno == socket.EAI_NONAME:
            return "no such host"
        return "its name cannot be looked up now"
    if message := getattr(error, "verify_message", ""):
        return f"its certificate is not accepted: {message}"
    if not isinstance(error, OSError):  # ValueError, about the name
        return "that is not a proper address"
    return error.strerror or str(error)


def _connect(url: SplitResult, bounds: Bounds) -> socket.socket:
    """Connect, plainly or over TLS; no later use of the socket outlasts the deadline. Raises OSError
    (TimeoutError, gaierror …), ValueError."""
    if url.scheme == "unix":
        return _connect_to_any([(socket.AF_UNIX, url.path)], bounds.deadline)
    host = url.hostname or ""
    port = url.port or DEFAULT_PORTS[url.scheme]
    addresses = _look_up(host, port, bounds.deadline)
    if bounds.foreign_only and not all(is_foreign(address[0]) for _, address in addresses):
        raise NotForeign(f"{host} is on this machine or its network", was_sent=False)
    plain = _connect_to_any(addresses, bounds.deadline)
    if url.scheme == "http":
        return plain
    import ssl

    context = ssl.create_default_context()
    context.sslsocket_class = type(
        "TimedTls", (_Deadline, ssl.SSLSocket), {"deadline": plain.deadline}
    )
    return context.wrap_socket(plain, server_hostname=host)


def _look_up(host: str, port: int, deadline: float) -> list[Address]:
    """Every address of a host. getaddrinfo has no timeout, so it runs in a thread that may outlast the
    deadline. Raises OSError, ValueError."""
    answers: list[Any] = []

    def look_up() -> None:
        try:
            answers.append(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except (OSError, ValueError) as error:
            answers.append(error)

    thread = threading.Thread(target=look_up, daemon=True)
    thread.start()
    thread.join(_seconds_left(deadline))
    if not answers:
        raise TimeoutError
    if isinstance(answers[0], Exception):
        raise answers[0]
    return [(family, address) for family, _, _, _, address in answers[0]]


def _connect_to_any(addresses: list[Address], deadline: float) -> "TimedSocket":
    """A connection to the first address that accepts one; each of them gets a share of the time left."""
    for index, (family, address) in enumerate(addresses):
        plain = TimedSocket(family, socket.SOCK_STREAM)
        try:
            plain.settimeout(_seconds_left(deadline) / (len(addresses) - index))
            plain.connect(address)
            plain.settimeout(_seconds_left(deadline))
            plain.deadline = deadline
            return plain
        except OSError as error:
            plain.close()
            failure = error
    raise failure


def _seconds_left(deadline: float) -> float:
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds


# The hard case is a peer that sends a byte now and then: each byte renews a socket's own timeout, for hours.
# So the socket itself, plain or of TLS, counts down to one deadline while it reads; what waits before that
# (the name lookup, each address, the handshake, the sending) gets a share of the same time.
class _Deadline:
    """A mixin for plain and TLS sockets: no read outlasts `deadline`."""

    deadline = 0.0

    def recv_into(self, *args: Any) -> int:
        self.settimeout(_seconds_left(self.deadline))  # type: ignore[attr-defined]
        return super().recv_into(*args)  # type: ignore[misc]


class TimedSocket(_Deadline, socket.socket):  # type: ignore[misc]
    """A plain socket with a deadline."""


def is_foreign(address: str) -> bool:
    """True for a public address outside of this machine and its network. At home every device has a public
    IPv6 address, so being public is not enough."""
    from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

    ip = ip_address(address.partition("%")[0])
    # IPv6-only networks reach IPv4 addresses through 64:ff9b::/96.
    if isinstance(ip, IPv6Address) and (ip.ipv4_mapped or ip in ip_network("64:ff9b::/96")):
        ip = IPv4Address(int(ip) & 0xFFFFFFFF)
    if not ip.is_global or ip.is_multicast:
        return False
    family = socket.AF_INET
    host_bits = 0
    if isinstance(ip, IPv6Address):
        family = socket.AF_INET6
        host_bits = 64  # the last bits, which tell the devices of a home apart
        # 6to4 wraps any IPv4 address, the private ones too; nobody serves pictures there.
        if ip.sixtofour or ip.is_site_local or ip.is_reserved:
            return False
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            # This sends nothing: it asks the kernel which of our addresses leads there.
            probe.connect((str(ip), 9))
        except OSError:  # no route: nothing will be reached
            return True
        source = ip_address(probe.getsockname()[0].partition("%")[0])
    return int(source) >> host_bits != int(ip) >> host_bits
