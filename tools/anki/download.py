"""Images fetched from the web, never from this machine or its network.

A host is resolved once, every address it has is checked, and the connection goes to a checked address: a name that
resolves differently the second time gains nothing. Each redirect is checked in the same way.
"""

import ipaddress
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from tools.anki.image_bytes import TOO_LARGE, ImageError
from tools.deadline import cutting
from tools.settings import current

if TYPE_CHECKING:
    from http.client import HTTPConnection, HTTPResponse

TIMEOUT_S = 30
"""For the whole of a download, redirects included."""

MOST_REDIRECTS = 5
REDIRECTS = (301, 302, 303, 307, 308)
READ_BYTES = 64 * 1024
HEADERS = {"User-Agent": "pi-mcp", "Accept": "image/*", "Accept-Encoding": "identity", "Connection": "close"}

SAFE_IN_QUERY = "/?%:@!$&'()*+,;=~-._"

NAT64 = ipaddress.ip_network("64:ff9b::/96")


def fetch(url: str) -> bytes:
    """The bytes at `url`.

    Raises ImageError: another scheme than http(s), an address that is not public, no answer in time, an HTTP error, too
    many redirects, more than IMAGE_MAX_BYTES.
    """
    from http.client import HTTPException

    deadline = time.monotonic() + TIMEOUT_S
    try:
        for _ in range(MOST_REDIRECTS + 1):
            with _response(_parsed(url), deadline) as response:
                if response.status not in REDIRECTS:
                    return _body(response, url)
                url = urljoin(url, response.headers.get("Location", ""))
    except TimeoutError:
        raise _failed(url, f"no answer within {TIMEOUT_S} s") from None
    except (OSError, HTTPException, UnicodeError, ValueError) as error:
        raise _failed(url, str(error) or type(error).__name__) from error
    raise _failed(url, f"more than {MOST_REDIRECTS} redirects")


def _parsed(url: str) -> SplitResult:
    parts = urlsplit(url.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ImageError(f"{url[:200]!r} is no http(s) address", "Give an http(s) URL of an image, or image_base64.")
    if any(char.isspace() or ord(char) < 32 for char in url.strip()):
        raise ImageError(f"{url[:200]!r} has blanks in it", "Write a space as %20.")
    return parts


@contextmanager
def _response(url: SplitResult, deadline: float) -> Iterator["HTTPResponse"]:
    """The answer to a GET."""
    connection = _connected(url, deadline)
    try:
        with cutting(connection.sock, deadline):
            if url.scheme == "https":
                connection.sock.do_handshake()
            connection.request("GET", _target(url), headers=HEADERS)
            yield connection.getresponse()
    finally:
        connection.close()


def _connected(url: SplitResult, deadline: float) -> "HTTPConnection":
    from http.client import HTTPConnection, HTTPSConnection

    secure = url.scheme == "https"
    connection = (HTTPSConnection if secure else HTTPConnection)(url.hostname, url.port)
    connection.sock = _socket(_addresses(url.hostname, connection.port, deadline), deadline)
    if secure:
        import ssl

        connection.sock = ssl.create_default_context().wrap_socket(
            connection.sock, server_hostname=url.hostname, do_handshake_on_connect=False
        )
    return connection


def _addresses(host: str, port: int, deadline: float) -> list[tuple[str, int]]:
    """What the host resolves to, once and all checked; one private address among them spoils the host."""
    found = [(sockaddr[0], port) for *_, sockaddr in _resolved(host, port, deadline)]
    if not current().image_allow_private and any(not public(address) for address, _ in found):
        raise ImageError(
            f"{host} is on this machine or its network, where images are not fetched from",
            "Send the image as image_base64. (IMAGE_ALLOW_PRIVATE=1 allows it, for a network of your own.)",
            code="PRIVATE_ADDRESS",
        )
    return list(dict.fromkeys(found))


def _resolved(host: str, port: int, deadline: float) -> list[tuple]:
    """getaddrinfo, which has no timeout of its own, for as long as the deadline allows."""
    answer: list[Any] = []

    def ask() -> None:
        try:
            answer.append(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            answer.append(error)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(max(0.0, deadline - time.monotonic()))
    if not answer:
        raise TimeoutError
    if isinstance(answer[0], Exception):
        raise answer[0]
    return answer[0]


def public(address: str) -> bool:
    """Whether an address is one of the public internet, also when it carries an IPv4 address inside."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped or ip in NAT64:
            return public(str(ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)))
        tunnelled = ip.sixtofour or (ip.teredo and ip.teredo[1])
        if ip.is_site_local or ip.is_reserved or (tunnelled and not public(str(tunnelled))):
            return False
    return ip.is_global and not ip.is_multicast


def _socket(addresses: list[tuple[str, int]], deadline: float) -> socket.socket:
    error: Exception = OSError("no address")
    for address in addresses:
        left = deadline - time.monotonic()
        if left <= 0:
            break
        try:
            return socket.create_connection(address, timeout=left)
        except OSError as failed:
            error = failed
    raise TimeoutError if deadline <= time.monotonic() else error


def _target(url: SplitResult) -> str:
    """Path and query as a request line may hold them."""
    path = quote(url.path or "/", safe="/%:@!$&'()*+,;=~-._")
    return f"{path}?{quote(url.query, safe=SAFE_IN_QUERY)}" if url.query else path


def _body(response: "HTTPResponse", url: str) -> bytes:
    from http.client import IncompleteRead

    limit = current().image_max_bytes
    if response.status != 200:
        raise _failed(url, f"HTTP {response.status}")
    body, expected = bytearray(), response.length
    if expected is not None and expected > limit:
        raise too_large(expected)
    while len(body) != expected and (chunk := response.read1(READ_BYTES)):
        body += chunk
        if len(body) > limit:
            raise too_large(len(body))
    if expected is not None and len(body) < expected:
        raise IncompleteRead(bytes(body), expected - len(body))
    return bytes(body)


def too_large(size_bytes: int) -> ImageError:
    limit = current().image_max_bytes
    return ImageError(
        f"the image has {size_bytes} bytes or more, over the limit of {limit}",
        "Send a smaller one, or raise IMAGE_MAX_BYTES.",
        code=TOO_LARGE,
    )


def _failed(url: str, why: str) -> ImageError:
    return ImageError(
        f"{url[:200]} could not be downloaded: {why}", "Check the URL, or send image_base64.", "DOWNLOAD_FAILED"
    )
