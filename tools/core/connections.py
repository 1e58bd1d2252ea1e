"""Connections that end at a deadline, whatever the other side does: name lookup, TLS and every byte included."""

import socket
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult

DEFAULT_PORTS = {"http": 80, "https": 443}

Address = tuple[object, ...] | str
Place = tuple[int, Address]
"""An address with its family."""

Admit = Callable[[str, list[str]], None]
"""Raises for a host with an address that must not be connected to; all of its addresses are asked for at once."""


def anywhere(host: str, addresses: list[str]) -> None:
    """Every address may be connected to."""


def connect(url: SplitResult, deadline: float, admit: Admit = anywhere) -> socket.socket:
    """A connection to where an http(s) or `unix:/path` address leads, through TLS's handshake.

    All that is done with it ends at `deadline` of `time.monotonic()`. Raises OSError (TimeoutError, gaierror …), ValueError.
    """
    if url.scheme == "unix":
        return _first([(socket.AF_UNIX, url.path)], deadline)
    host, port = url.hostname or "", url.port or DEFAULT_PORTS[url.scheme]
    places = _looked_up(host, port, deadline)
    admit(host, [str(address[0]) for _, address in places])
    plain = _first(places, deadline)
    return _secured(plain, host) if url.scheme == "https" else plain


def _looked_up(host: str, port: int, deadline: float) -> list[Place]:
    """Every place of a host. getaddrinfo has no timeout of its own: it is waited for as the deadline allows."""
    places: list[Place] = []
    errors: list[Exception] = []

    def ask() -> None:
        try:
            answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            places.extend(dict.fromkeys((family, address) for family, _, _, _, address in answers))
        except (OSError, ValueError) as error:
            errors.append(error)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(_left(deadline))
    if errors:
        raise errors[0]
    if not places:
        raise TimeoutError
    return places


def _first(places: list[Place], deadline: float) -> "TimedSocket":
    """A connection to the first place that takes one; each has its share of the time."""
    error: Exception = OSError("no address")
    for index, (family, address) in enumerate(places):
        plain = TimedSocket(family, socket.SOCK_STREAM)
        try:
            plain.settimeout(_left(deadline) / (len(places) - index))
            plain.connect(address)
            plain.deadline = deadline
            return plain
        except OSError as failed:
            plain.close()
            error = failed
    raise error


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


if TYPE_CHECKING:
    _Socket = socket.socket
else:
    _Socket = object  # it stands before a plain socket or one of TLS


class _Deadline(_Socket):
    """A socket's own timeout begins anew with every byte; this one ends all of them at `deadline`."""

    deadline = 0.0

    def recv_into(self, *args: Any) -> int:
        self.settimeout(_left(self.deadline))
        return super().recv_into(*args)

    def send(self, *args: Any) -> int:
        self.settimeout(_left(self.deadline))
        return super().send(*args)

    def sendall(self, *args: Any) -> None:
        self.settimeout(_left(self.deadline))
        super().sendall(*args)


class TimedSocket(_Deadline, socket.socket):
    """A plain connection."""


def _secured(plain: TimedSocket, host: str) -> socket.socket:
    import ssl

    context = ssl.create_default_context()
    context.sslsocket_class = type("TimedTls", (_Deadline, ssl.SSLSocket), {"deadline": plain.deadline})
    plain.settimeout(max(0.001, plain.deadline - time.monotonic()))
    return context.wrap_socket(plain, server_hostname=host)
