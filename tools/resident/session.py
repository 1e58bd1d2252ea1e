"""One session of the resident service: a forked child becomes the process its client started."""

import os
import socket
import time
from contextlib import suppress

from tools.core import leaving, settings
from tools.resident import handover

# Seconds that a caller may take to offer its session and to agree.
OFFER_S = 10


def accept(connection: socket.socket, identity: str) -> bool:
    """Become the session of the caller at the other end; False if it was refused or does not agree.

    Raises ConnectionError, TimeoutError: the caller is gone, or says nothing.
    """
    connection.settimeout(OFFER_S)
    frame, handles = _receive(connection)
    theirs, _, rest = frame.partition(b"\0")
    folder, *environ = rest.split(b"\0")
    lacking = "" if len(handles) == 3 else "stdin, stdout and stderr did not all reach the service"
    if reason := _mismatch(theirs, identity) or lacking or _enter(folder, environ):
        refuse(connection, handover.REFUSED, reason)
        return False
    connection.sendall(handover.TAKEN)
    if connection.recv(1) != handover.AGREED:
        return False
    connection.settimeout(None)
    for handle, target in zip(handles, (0, 1, 2), strict=True):
        os.dup2(handle, target)
        os.close(handle)
    leaving.handover_connection = connection.dup()
    leaving.AT_LEAVING.insert(0, ended)  # called last: then nothing of the session is left
    return True


def _receive(connection: socket.socket) -> tuple[bytes, list[int]]:
    data, handles, _, _ = socket.recv_fds(
        connection, 2**16, 3
    )  # with handles, the kernel gives 36 kB at most
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


def _enter(folder: bytes, environ: list[bytes]) -> str:
    """Make the client's environment and folder this process's; gives the reason if that is impossible."""
    _replace_environment(environ)
    settings.forget()
    time.tzset()
    try:
        os.chdir(folder)
    except OSError as error:
        return f"the service cannot enter {os.fsdecode(folder)}: {error.strerror}"
    with suppress(settings.SettingsError):  # the session says what is wrong with them
        for path in settings.written_folders():
            there = next(folder for folder in (path, *path.parents) if folder.exists())
            if not there.is_dir() or not os.access(there, os.W_OK):  # nor can it be made
                return f"the service may not write {path}"
    return ""


def _replace_environment(environ: list[bytes]) -> None:
    """Have the client's environment; a setting that it lacks stays as the service has it. Only what differs
    is written: every write is to memory that the session shared with the service until then."""
    kept = {name.encode() for name in settings.names()}
    theirs = {name: value for name, _, value in (variable.partition(b"=") for variable in environ)}
    for name in os.environb.keys() - theirs.keys() - kept:
        del os.environb[name]
    for name, value in theirs.items():
        if os.environb.get(name) != value:
            os.environb[name] = value


def refuse(connection: socket.socket, kind: str, reason: str) -> None:
    """Tell the caller in a line that this session is not served here."""
    with suppress(OSError):
        connection.send(f"{kind}: {reason}\n".encode(), socket.MSG_DONTWAIT)


def ended(code: int) -> None:
    """Tell the caller, if there is one, the exit status of its session."""
    if leaving.handover_connection is not None:
        with suppress(OSError):
            leaving.handover_connection.send(b"%d\n" % code, socket.MSG_DONTWAIT)
