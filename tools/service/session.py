"""One session of the resident service: a forked child becomes the process its client started."""

import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields
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
    if reason := _unfit(theirs, identity) or _enter(folder, environ) or _lacking(handles):
        refuse(connection, handover.UNFIT, reason)
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


def _unfit(theirs: bytes, identity: str) -> str:
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
    own = _settings_of(os.environ)
    os.environb.clear()
    os.environ.update(own)
    os.environb.update(pair.split(b"=", 1) for pair in environ)
    _refresh()
    try:
        os.chdir(folder)
    except OSError as error:
        return f"the service cannot enter {os.fsdecode(folder)}: {error.strerror}"
    return next((f"the service may not write {path}" for path in _written() if not _is_writable(path)), "")


def _refresh() -> None:
    """Forget what the service found when it started: the settings, the machine's time zone."""
    settings.current.cache_clear()
    time.tzset()


def _settings_of(environ: Mapping[str, str]) -> dict[str, str]:
    """What the service's environment sets for its sessions, where theirs says nothing."""
    names = {one.metadata["name"] for section in settings.sections() for one in fields(section)}
    return {name: value for name, value in environ.items() if name in names}


def _written() -> Iterator[Path]:
    """Where a session writes, so far as its settings are right; the session says what is wrong with them."""
    with suppress(settings.SettingsError):
        yield from settings.written_folders()


def _is_writable(path: Path) -> bool:
    """Whether it can be written, or made."""
    path = path.absolute()
    found = next(one for one in (path, *path.parents) if one.exists())
    return found.is_dir() and os.access(found, os.W_OK)


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
