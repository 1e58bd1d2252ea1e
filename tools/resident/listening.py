"""The sockets that the services listen at: their own, or those that systemd keeps for them."""

import fcntl
import os
import socket
from contextlib import suppress
from pathlib import Path

BACKLOG = 256
SYSTEMD_FD = 3


def from_systemd() -> socket.socket | None:
    """The socket that systemd started this service for, if it did."""
    if os.environ.get("LISTEN_PID") != str(os.getpid()):
        return None
    os.set_inheritable(SYSTEMD_FD, False)
    return socket.socket(fileno=SYSTEMD_FD)


def listen_at(path: Path) -> tuple[socket.socket, int]:
    """Listen at `path`. Returns the socket, and the lock on its folder that keeps a second service away.
    Raises OSError."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(path.parent, os.O_RDONLY)
        status = os.fstat(lock)
        if status.st_uid != os.getuid() or status.st_mode & 0o022:
            raise OSError(f"{path.parent} must belong to you and be closed to others (chmod 700)")
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if path.exists() and not path.is_socket():
            raise OSError("it is there and not a socket")
        path.unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(path))
        path.chmod(0o600)  # before anybody can connect
        listener.listen(BACKLOG)
        return listener, lock
    except BlockingIOError:
        raise OSError(f"another service listens at {path}") from None
    except OSError as error:
        raise OSError(f"cannot listen at {path}: {error.strerror or error}") from None


def notify_ready() -> None:
    """Tell the service manager that sessions are accepted, if it asked for that."""
    if address := os.environ.get("NOTIFY_SOCKET"):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager, suppress(OSError):
            manager.sendto(b"READY=1", address)


def listen_for_http(address: str) -> tuple[socket.socket, bool]:
    """Listen for HTTP at systemd's socket, or at `address` (`host:port`, or a path). Returns the socket, and
    True if systemd keeps it. Raises OSError."""
    listener = from_systemd()
    is_kept = listener is not None
    if not listener and "/" in address:
        listener, _lock = listen_at(Path(address))  # the lock ends with this process
    if not listener:
        host, _, port = address.rpartition(":")
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            host_and_port = host.strip("[]"), int(port)
            listener = socket.create_server(host_and_port, family=family, backlog=BACKLOG)
        except (OSError, ValueError, OverflowError) as error:
            raise OSError(f"MCP_HTTP_LISTEN: cannot listen at {address}: {error}") from None
    if listener.family != socket.AF_UNIX:
        # Without it the last chunk of a stream waits 40 ms for an ACK. asyncio sets it only if the socket
        # names its protocol, which Python's does not. The connections inherit it.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener, is_kept
