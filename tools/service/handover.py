"""A client's session, handed to the resident service: the caller's side and what both sides agree on.

The caller sends one frame (NUL, four bytes of length, fields separated by NUL) with its stdin, stdout and stderr, and
reads a line: `ok`, or a JSON-RPC error. It answers `ok` with one byte, so that never two serve one client, and reads
the exit status at the end. Whoever sends anything but NUL first is served over the connection itself.
"""

from __future__ import annotations

import os
import stat
import sys

from tools.core import env_file

TYPE_CHECKING = False  # typing's own takes longer to import than all else here
if TYPE_CHECKING:
    from _socket import socket
    from collections.abc import Iterator, Mapping
    from typing import NoReturn

PROJECT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
VENV = os.path.join(PROJECT, ".venv")
VENV_TRIED = "PI_MCP_VENV"
"""The environment variable that says which .venv this process was started by."""

FRAME = b"\0"
TAKEN = b"ok\n"
AGREED = b"!"
FULL = -32000
"""The JSON-RPC code of a refusal for all: no room. With any other the caller serves by itself."""
MISMATCH = -32001

ANSWER_S = 5
START_S = 30
"""How long a service may take to answer that systemd is only starting now, on a small Pi."""
STANDBY = 'read -r status <&3 || { echo "pi-mcp: the session broke off" >&2; status=1; }; exit "$status"'


class ServeHere(Exception):
    """Why this process should rather serve by itself."""


class NoRoom(Exception):
    """The service has no room, and a process of our own would take what is left."""


def main() -> NoReturn:
    """The command pi-mcp: hand the session over, else go on as server.py."""
    complete_stdio()
    words = sys.argv[1:]
    if not words:
        attempt(os.environ)
    os.execv(sys.executable, [sys.executable, os.path.join(PROJECT, "server.py"), *(words or ["--standalone"])])


def begin() -> None:
    """What `server.py` does first: hand the session over where it was told nothing else, then go on as the project's
    own Python, which has the SDK, whatever python3 this was started by."""
    complete_stdio()
    if sys.version_info < (3, 10):  # noqa: UP036
        sys.stderr.write("pi-mcp: Python 3.10 or newer is needed, this is %s\n" % sys.version.split()[0])  # noqa: UP031
        raise SystemExit(2)
    if not sys.argv[1:] and VENV_TRIED not in os.environ:
        attempt(os.environ)
    python = os.path.join(VENV, "bin", "python")
    tried = os.environ.pop(VENV_TRIED, "") == VENV  # a damaged .venv does not know itself; no second try
    if not tried and not _is_in_venv() and os.path.exists(python):
        os.environ[VENV_TRIED] = VENV
        os.execv(python, [python, os.path.join(PROJECT, "server.py"), *sys.argv[1:]])


def _is_in_venv() -> bool:
    """Whether this Python has what is installed there; from 3.14 on its prefix says so even under -S."""
    return os.path.realpath(sys.prefix) == os.path.realpath(VENV) and not sys.flags.no_site


def complete_stdio() -> None:
    """Have stdin, stdout and stderr, if only as /dev/null: what is opened next would take the number of a closed one,
    and be used as it."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode)  # noqa: SIM115 | it takes the lowest number, which is the closed one's
            os.set_inheritable(stream.fileno(), True)
            setattr(sys, name, stream)


def attempt(environ: Mapping[str, str]) -> None:
    """Hand the session over and become what waits for its end. Comes back where this process should serve by itself."""
    try:
        path = next(filter(os.path.lexists, env_file.sockets(environ)), None)
        connection = _offer(path) if path else None
    except (ServeHere, OSError, ValueError) as error:
        sys.stderr.write(f"pi-mcp: not handed to the service, served here: {error}\n")
    except env_file.SettingsError:
        return  # the start that follows says so
    except NoRoom as refusal:
        _turn_away(str(refusal))
    else:
        if connection:
            _stand_by(connection)


def identity() -> str:
    """Which sources and packages these are. Others on the other side mean that the service should be restarted."""
    from binascii import crc32

    stamps = sorted(_stamps(os.path.join(PROJECT, "tools")))
    for name in ("server.py", ".venv/pyvenv.cfg", ".venv/requirements.txt", ".venv/requirements-http.txt"):
        try:
            stamps.append(_stamp(name, os.stat(os.path.join(PROJECT, name))))
        except FileNotFoundError:
            continue
    return "%s %08x" % (PROJECT, crc32("\n".join(stamps).encode()))  # noqa: UP031


def _stamps(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                yield _stamp(entry.path, entry.stat())
            elif entry.name != "__pycache__" and entry.is_dir():
                yield from _stamps(entry.path)


def _stamp(path: str, status: os.stat_result) -> str:
    return f"{path} {status.st_size} {status.st_mtime_ns}"


def _offer(path: str) -> socket:
    """The connection on which the service took the session."""
    import _socket  # of which `socket` is a comfortable half that takes as long to import as Python takes to start

    _trust(path)
    connection = _socket.socket(_socket.AF_UNIX)
    try:
        _agree(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _agree(connection: socket, path: str) -> None:
    connection.settimeout(ANSWER_S)
    try:
        connection.connect(path)
        connection.settimeout(START_S if _is_starting(connection) else ANSWER_S)
        answer = _ask(connection)
    except TimeoutError:
        raise ServeHere(f"{path} does not answer") from None
    except OSError as error:
        raise ServeHere(f"{path}: {error.strerror or error}") from None
    if answer != TAKEN:
        _refused(answer)
    connection.sendall(AGREED)


def _trust(path: str) -> None:
    """Only what nobody but this user and root can have put there, and nobody else can connect to."""
    status, folder = os.lstat(path), os.stat(os.path.dirname(path) or ".")
    if not stat.S_ISSOCK(status.st_mode):
        raise ServeHere(f"{path} is not a socket")
    if status.st_uid != os.getuid():
        raise ServeHere(f"{path} belongs to another user")
    if status.st_mode & 0o077:
        raise ServeHere(f"{path} is open to other users")
    if folder.st_uid not in (0, os.getuid()) or folder.st_mode & 0o022:
        raise ServeHere(f"the folder of {path} is open to other users")


def _is_starting(connection: socket) -> bool:
    """Whether systemd keeps the socket for a service that does not run yet: whoever listened last is root or gone."""
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
    return credentials.unpack(connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, credentials.size))


def _ask(connection: socket) -> bytes:
    """What the service answers to the offer of this process's session."""
    import _socket
    import struct

    frame = _frame([identity().encode(), _folder(), *(b"=".join(pair) for pair in os.environb.items())])
    try:
        standard = struct.pack("3i", 0, 1, 2)
        sent = connection.sendmsg([frame], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, standard)])
        connection.sendall(frame[sent:])
    except BrokenPipeError:  # refused before it was read; the reason waits
        pass
    answer = b""
    while not answer.endswith(b"\n"):  # a byte at a time: what follows is for the shell
        byte = connection.recv(1)
        if not byte:
            raise ServeHere("the service ended")
        answer += byte
    return answer


def _folder() -> bytes:
    try:
        return os.getcwdb()
    except FileNotFoundError:
        raise ServeHere("the folder this was started in is gone") from None


def _frame(fields: list[bytes]) -> bytes:
    body = b"\0".join(fields)
    return FRAME + len(body).to_bytes(4, "big") + body


def _refused(answer: bytes) -> NoReturn:
    import json

    try:
        error = json.loads(answer)["error"]
        reason = (NoRoom if error["code"] == FULL else ServeHere)(error["message"])
    except (ValueError, TypeError, LookupError):
        raise ServeHere("what listens there is not pi-mcp") from None
    raise reason


def _turn_away(reason: str) -> NoReturn:
    """Give the reason to the log and as the answer to what the client asks first, which is what people get to see."""
    import json

    sys.stderr.write(f"pi-mcp: {reason}\n")
    if not sys.stdin.isatty():
        request = json.loads(sys.stdin.readline() or "{}")
        error = {"jsonrpc": "2.0", "id": request.get("id"), "error": {"code": FULL, "message": reason}}
        sys.stdout.write(json.dumps(error) + "\n")
    raise SystemExit(1)


def _stand_by(connection: socket) -> NoReturn:
    """Become a shell that waits for the exit status: it weighs a twentieth of Python, and with it ends the session."""
    connection.setblocking(True)
    os.dup2(connection.fileno(), 3)
    os.set_inheritable(3, True)  # also where it was number 3 already
    os.execv("/bin/sh", ["pi-mcp", "-c", STANDBY])
