"""One session of the resident service: a forked child becomes the process its client started."""

import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from tools.core import leaving, settings
from tools.service import handover

FIRST_BYTE_S = 60
"""How long who connects by hand may think about the first request."""
OFFER_S = 10
"""How long a caller may take to offer its session and to agree."""


def take(connection: socket.socket, identity: str, agreed: Callable[[], None]) -> bool:
    """Become the session of whoever connected; False if it was refused, is gone or says nothing. `agreed` is called
    once it is certain that there is a client."""
    connection.settimeout(FIRST_BYTE_S)
    first = connection.recv(1, socket.MSG_PEEK)
    connection.settimeout(OFFER_S)
    if first == handover.FRAME:
        return _take_over(connection, identity, agreed)
    connection.settimeout(None)
    agreed()
    _refresh()
    os.dup2(connection.fileno(), 0)
    os.dup2(connection.fileno(), 1)
    return bool(first)


def _take_over(connection: socket.socket, identity: str, agreed: Callable[[], None]) -> bool:
    frame, handles = _receive(connection)
    theirs, _, rest = frame.partition(b"\0")
    folder, *environ = rest.split(b"\0")
    if reason := _mismatch(theirs, identity) or _enter(folder, environ) or _lacking(handles):
        refuse(connection, handover.MISMATCH, reason)
        return False
    connection.sendall(handover.TAKEN)
    if connection.recv(1) != handover.AGREED:
        return False
    connection.settimeout(None)
    agreed()
    for handle, target in zip(handles, (0, 1, 2), strict=True):
        os.dup2(handle, target)
        os.close(handle)
    leaving.caller = connection.dup()
    leaving.FUNCTIONS.insert(0, ended)  # called last: when the caller is told, nothing of the session is left
    return True


def _receive(connection: socket.socket) -> tuple[bytes, list[int]]:
    data, handles, _, _ = socket.recv_fds(connection, 2**16, 3)  # with handles, the kernel gives 36 kB at most
    while len(data) < 5 or len(data) < 5 + int.from_bytes(data[1:5], "big"):
        more = connection.recv(2**16)
        if not more:
            raise ConnectionResetError("the caller left in the middle of its offer")
        data += more
    return data[5:], handles


def _mismatch(theirs: bytes, identity: str) -> str:
    here, there = theirs.decode(errors="replace").rpartition(" "), identity.rpartition(" ")
    if here == there:
        return ""
    if here[0] != there[0]:
        return f"the service is installed for {there[0]}; run ./setup.sh --systemd in {here[0]}"
    return "the service runs another version; `sudo systemctl restart pi-mcp` brings it up to date"


def _lacking(handles: list[int]) -> str:
    return "" if len(handles) == 3 else "stdin, stdout and stderr did not all reach the service"


def _enter(folder: bytes, environ: list[bytes]) -> str:
    """Make the client's environment and folder this process's; says why that cannot be."""
    _replace_environment(environ)
    _refresh()
    try:
        os.chdir(folder)
    except OSError as error:
        return f"the service cannot enter {os.fsdecode(folder)}: {error.strerror}"
    return next((f"the service may not write {path}" for path in _written() if not _is_writable(str(path))), "")


def _refresh() -> None:
    """Forget what the service found when it started, if it is another now: the settings, the machine's time zone."""
    settings.refresh()
    time.tzset()


def _replace_environment(environ: list[bytes]) -> None:
    """Have the client's environment; a setting that it lacks stays as the service has it. Only what differs is written:
    every write is to memory that the session shared with the service until then."""
    kept = {name.encode() for name in settings.names()}
    theirs = dict(_pair(variable) for variable in environ)
    for name in os.environb.keys() - theirs.keys() - kept:
        del os.environb[name]
    for name, value in theirs.items():
        if os.environb.get(name) != value:
            os.environb[name] = value


def _pair(variable: bytes) -> tuple[bytes, bytes]:
    name, _, value = variable.partition(b"=")
    return name, value


def _written() -> Iterator[Path]:
    """Where a session writes, so far as its settings are right; the session says what is wrong with them."""
    with suppress(settings.SettingsError):
        yield from settings.written_folders()


def _is_writable(folder: str) -> bool:
    """Whether it can be written, or made."""
    while not os.path.exists(folder):
        folder = os.path.dirname(folder)
    return os.path.isdir(folder) and os.access(folder, os.W_OK)


def refuse(connection: socket.socket, code: int, text: str) -> None:
    """Answer with a JSON-RPC error, which a caller understands as well as a client that connected by itself."""
    import json

    error = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": text}}
    with suppress(OSError):
        connection.send(json.dumps(error).encode() + b"\n", socket.MSG_DONTWAIT)


def ended(code: int) -> None:
    """Tell the caller, where there is one, the exit status of its session."""
    if leaving.caller is not None:
        with suppress(OSError):
            leaving.caller.send(b"%d\n" % code, socket.MSG_DONTWAIT)
