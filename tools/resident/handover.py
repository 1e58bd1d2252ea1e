"""Handing a client's session to the resident service: the caller's side, and the contract of both.

It runs at every start, before anything else, on the bare interpreter, and imports nothing that takes time:
`_socket` is the half of `socket` that is enough.
"""

# The contract, one exchange per connection:
#   caller -> service   A frame: identity, folder and environment with NUL between them, and END; with its
#                       first bytes stdin, stdout and stderr as SCM_RIGHTS.
#   service -> caller   A line: `ok`, `full: REASON` (give up), or another reason (serve the client yourself).
#   caller -> service   One byte. Only then does the service read from the client, or write more: a caller
#                       that waited too long has gone on by itself, and two must never serve one client.
#   service -> caller   The exit status, a line. If the connection closes without one, the session broke off.
# The caller keeps the connection open as long as it lives: its end ends the session, whatever it is doing
# (`watch` in server.py looks at it).

from __future__ import annotations

import os
import stat
import sys

from tools.core import places

TYPE_CHECKING = False  # typing's own takes longer to import than all else here
if TYPE_CHECKING:
    from _socket import socket
    from typing import NoReturn

PROJECT = os.path.dirname(places.TOOLS)

FRAME_END = b"\0\0"
TAKEN = b"ok\n"
AGREED = b"!"
FULL = "full: "

NOT_HANDED = "not handed to the service"
# Seconds for the answer; systemd may only be starting the service, on a small Pi. Codex gives up after ten:
# what is left is enough to serve by itself.
ANSWER_S = 8
STANDBY = (
    'read -r status <&3 || { echo "pi-mcp: the session broke off" >&2; status=1; }; exit "$status"'
)


class ServeHere(Exception):
    """The session cannot be handed over, so this process must serve the client. The message is the reason."""


def main() -> NoReturn:
    """The command pi-mcp: hand the session over, else go on as server.py."""
    begin_process()
    options = sys.argv[1:] or ["--standalone"]
    os.execv(sys.executable, [sys.executable, f"{PROJECT}/server.py", *options])


def begin_process() -> None:
    """Begin `server.py`: hand the session over if the command line is empty."""
    # Open /dev/null for each of stdin, stdout and stderr that is closed: the next file opened would take its
    # number, and be used as it.
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            stream = open(os.devnull, "r+")  # noqa: SIM115 | it takes the lowest number, the closed one's
            os.set_inheritable(stream.fileno(), True)
            setattr(sys, name, stream)
    if not sys.argv[1:]:
        attempt()


def attempt() -> None:
    """Hand the session to the service and exec a waiter. Returns only if this process must serve the client
    itself."""
    try:
        path = next(filter(os.path.lexists, places.sockets()), "")
    except places.SettingsError:
        return  # the start that follows will say so
    if not path:
        return
    try:
        connection = _offer(path)
    except (ServeHere, OSError) as error:
        sys.stderr.write(f"pi-mcp: {NOT_HANDED} at {path}, served here: {error}\n")
    else:
        _stand_by(connection)


def identity() -> str:
    """A fingerprint of these sources. If the service has another one, it is outdated."""
    from binascii import crc32

    paths = [f"{PROJECT}/server.py"]
    for folder, _, names in os.walk(f"{PROJECT}/tools"):
        paths += [f"{folder}/{name}" for name in names if name.endswith(".py")]
    fingerprint = 0
    for path in sorted(paths):
        status = os.stat(path)
        fingerprint = crc32(f"{path} {status.st_size} {status.st_mtime_ns}\n".encode(), fingerprint)
    return f"{fingerprint:08x}"


def _offer(path: str) -> socket:
    """Offer the session to the service, and return the connection on which it was accepted. Raises ServeHere,
    OSError; SystemExit if the service is full: serving the client here would take what memory is left."""
    import _socket
    import struct

    check_owner(path)
    connection = _socket.socket(_socket.AF_UNIX)  # whatever is raised closes it with this frame
    connection.settimeout(ANSWER_S)
    connection.connect(path)
    # Send the frame, and with its first bytes the descriptors.
    environ = [b"=".join(pair) for pair in os.environb.items()]
    frame = b"\0".join([identity().encode(), os.getcwdb(), *environ]) + FRAME_END
    rights = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, struct.pack("3i", 0, 1, 2))
    try:
        sent_bytes = connection.sendmsg([frame], [rights])
        connection.sendall(frame[sent_bytes:])
    except BrokenPipeError:  # refused before it was read; the reason waits
        pass
    # Wait for the answer.
    answer = connection.recv(4096)
    if answer != TAKEN:
        reason = answer.decode(errors="replace").strip()
        if reason.startswith(FULL):
            raise SystemExit(f"pi-mcp: {reason}")
        raise ServeHere(reason or "it ended")
    connection.sendall(AGREED)
    return connection


def check_owner(path: str) -> None:
    """Check that only this user or root can have made the socket, and can connect to it. Raises ServeHere."""
    status = os.lstat(path)
    folder = os.stat(os.path.dirname(path) or ".")
    is_own = (
        stat.S_ISSOCK(status.st_mode)
        and status.st_uid == os.getuid()
        and not status.st_mode & 0o077
    )
    if not is_own or folder.st_uid not in (0, os.getuid()) or folder.st_mode & 0o022:
        raise ServeHere(
            "it is not a socket of this user alone in a folder that others cannot change"
        )


def _stand_by(connection: socket) -> NoReturn:
    """Become a shell that waits for the exit status, with a twentieth of Python's memory. The session ends
    when the shell does."""
    connection.setblocking(True)
    os.dup2(connection.fileno(), 3)
    os.set_inheritable(3, True)  # also where it was number 3 already
    os.execv("/bin/sh", ["pi-mcp", "-c", STANDBY])
