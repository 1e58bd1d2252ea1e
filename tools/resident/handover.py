"""A client's session, handed to the resident service: the caller's side and what both sides agree on.

It runs at every start, before anything else, on the bare interpreter: it imports nothing that takes time.
`_socket` is the half of `socket` that is enough.
"""

# The contract, one exchange per connection:
#   caller -> service   A frame: NUL, four bytes of length, then identity, folder and environment with NUL
#                       between them; with its first bytes stdin, stdout and stderr as SCM_RIGHTS.
#   service -> caller   A line: `ok`, `refused: REASON` (serve the client yourself) or `full: REASON` (give up).
#   caller -> service   One byte. Only then does the service read from the client: a caller that waited too
#                       long has gone on by itself, and two must never serve one client.
#   service -> caller   The exit status, a line. If the connection closes without one, the session broke off.
# The caller keeps the connection open as long as it lives: its end ends the session, whatever it is doing (`watch` in
# server.py looks at it).

from __future__ import annotations

import os
import stat
import sys

from tools.core import places

TYPE_CHECKING = False  # typing's own takes longer to import than all else here
if TYPE_CHECKING:
    from _socket import socket
    from collections.abc import Iterator, Mapping
    from typing import NoReturn

PROJECT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
VENV = os.path.join(PROJECT, ".venv")
# The environment variable that says which .venv this process was started by.
VENV_TRIED = "PI_MCP_VENV"
# The ways to serve that need the SDK.
BY_SDK = ("--http", "--sdk")

FRAME = b"\0"
TAKEN = b"ok\n"
AGREED = b"!"
# Kind of a refusal: the caller must give up. On any other it serves the client itself.
FULL = "full"
REFUSED = "refused"

ANSWER_S = 5
# Seconds for the answer of a service that systemd is only starting now, on a small Pi.
START_S = 30
STANDBY = 'read -r status <&3 || { echo "pi-mcp: the session broke off" >&2; status=1; }; exit "$status"'


class ServeHere(Exception):
    """The session cannot be handed over: this process must serve the client. The message is the reason."""


class NoRoom(Exception):
    """The service has no room, and serving the client here would take what memory is left."""


def main() -> NoReturn:
    """The command pi-mcp: hand the session over, else go on as server.py."""
    ensure_stdio_open()
    words = sys.argv[1:]
    if not words:
        attempt(os.environ)
    os.execv(
        sys.executable, [sys.executable, os.path.join(PROJECT, "server.py"), *(words or ["--standalone"])]
    )


def begin() -> None:
    """Begin `server.py`: hand the session over, or enter .venv, if the command line says so."""
    ensure_stdio_open()
    if sys.version_info < (3, 10):  # noqa: UP036
        sys.stderr.write(f"pi-mcp: Python 3.10 or newer is needed, this is {sys.version.split()[0]}\n")
        raise SystemExit(2)
    if not sys.argv[1:]:
        attempt(os.environ)
    python = os.path.join(VENV, "bin", "python")
    if set(BY_SDK) & set(sys.argv) and os.environ.pop(VENV_TRIED, "") != VENV and os.path.exists(python):
        os.environ[VENV_TRIED] = VENV
        os.execv(python, [python, os.path.join(PROJECT, "server.py"), *sys.argv[1:]])


def ensure_stdio_open() -> None:
    """Open /dev/null for each of stdin, stdout and stderr that is closed: the next file opened would take its
    number, and be used as it."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode)  # noqa: SIM115 | it takes the lowest number, which is the closed one's
            os.set_inheritable(stream.fileno(), True)
            setattr(sys, name, stream)


def attempt(environ: Mapping[str, str]) -> None:
    """Hand the session to the service and exec a waiter. Returns only if this process must serve the client
    itself."""
    try:
        path = next(filter(os.path.lexists, places.sockets(environ)), None)
        connection = _offer(path) if path else None
    except (ServeHere, OSError, ValueError) as error:
        sys.stderr.write(f"pi-mcp: not handed to the service, served here: {error}\n")
    except places.SettingsError:
        return  # the start that follows says so
    except NoRoom as refusal:
        raise SystemExit(f"pi-mcp: {refusal}") from None
    else:
        if connection:
            _stand_by(connection)


def identity() -> str:
    """A fingerprint of these sources. If the service has another one, it is outdated."""
    from binascii import crc32

    files = sorted(_sources(os.path.join(PROJECT, "tools")))
    files.append(("server.py", os.stat(os.path.join(PROJECT, "server.py"))))
    stamps = "\n".join(f"{name} {status.st_size} {status.st_mtime_ns}" for name, status in files)
    return f"{PROJECT} {crc32(stamps.encode()):08x}"


def _sources(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                yield entry.path, entry.stat()
            elif entry.name != "__pycache__" and entry.is_dir():
                yield from _sources(entry.path)


def _offer(path: str) -> socket:
    """The connection on which the service took the session."""
    import _socket

    _trust(path)
    connection = _socket.socket(_socket.AF_UNIX)
    try:
        connection.settimeout(ANSWER_S)
        connection.connect(path)
        connection.settimeout(START_S if _is_starting(connection) else ANSWER_S)
        answer = _ask(connection)
        if answer != TAKEN:
            kind, _, reason = answer.decode(errors="replace").strip().partition(": ")
            if kind == FULL:
                raise NoRoom(reason)
            raise ServeHere(reason if kind == REFUSED else "what listens there is not pi-mcp")
        connection.sendall(AGREED)
    except BaseException as error:
        connection.close()
        if isinstance(error, OSError):
            reason = " does not answer" if isinstance(error, TimeoutError) else f": {error.strerror or error}"
            raise ServeHere(path + reason) from None
        raise
    return connection


def _trust(path: str) -> None:
    """Raises ServeHere if somebody but this user and root can have put the socket there, or can connect to
    it."""
    status, folder = os.lstat(path), os.stat(os.path.dirname(path) or ".")
    for is_wrong, reason in (
        (not stat.S_ISSOCK(status.st_mode), f"{path} is not a socket"),
        (status.st_uid != os.getuid(), f"{path} belongs to another user"),
        (status.st_mode & 0o077, f"{path} is open to other users"),
        (
            folder.st_uid not in (0, os.getuid()) or folder.st_mode & 0o022,
            f"the folder of {path} is open to other users",
        ),
    ):
        if is_wrong:
            raise ServeHere(reason)


def _is_starting(connection: socket) -> bool:
    """True if systemd keeps the socket for a service that does not run yet: the last listener is root or
    gone."""
    pid, uid, _ = peer(connection)
    if uid not in (0, os.getuid()):
        raise ServeHere("another user listens there")
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return uid == 0
    return pid == 1


def peer(connection: socket) -> tuple[int, int, int]:
    """Process, user and group at the other end, as the kernel knows them."""
    import _socket
    import struct

    credentials = struct.Struct("iII")
    return credentials.unpack(
        connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, credentials.size)
    )


def _ask(connection: socket) -> bytes:
    """Offer this process's session; return the line that the service answers."""
    import _socket
    import struct

    try:
        folder = os.getcwdb()
    except FileNotFoundError:
        raise ServeHere("the folder this was started in is gone") from None
    frame = _frame([identity().encode(), folder, *(b"=".join(pair) for pair in os.environb.items())])
    try:
        standard = struct.pack("3i", 0, 1, 2)
        length = connection.sendmsg([frame], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, standard)])
        connection.sendall(frame[length:])
    except BrokenPipeError:  # refused before it was read; the reason waits
        pass
    answer = b""
    while not answer.endswith(b"\n"):  # a byte at a time: what follows is for the shell
        byte = connection.recv(1)
        if not byte:
            raise ServeHere("the service ended")
        answer += byte
    return answer


def _frame(fields: list[bytes]) -> bytes:
    body = b"\0".join(fields)
    return FRAME + len(body).to_bytes(4, "big") + body


def _stand_by(connection: socket) -> NoReturn:
    """Become a shell that waits for the exit status: it uses a twentieth of Python's memory; the session ends
    when it does."""
    connection.setblocking(True)
    os.dup2(connection.fileno(), 3)
    os.set_inheritable(3, True)  # also where it was number 3 already
    os.execv("/bin/sh", ["pi-mcp", "-c", STANDBY])
