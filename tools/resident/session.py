"""One session of the resident service: a forked child becomes the process its client started."""

import os
import socket
import time
from contextlib import suppress

from tools.core import leaving, settings
from tools.resident import handover

# Seconds that a caller may take to offer its session and to agree.
OFFER_S = 10
OUTDATED = "it runs other sources; `sudo systemctl restart pi-mcp`, or ./setup.sh --systemd in this folder"


def accept(connection: socket.socket, identity: str) -> bool:
    """Become the session of the caller at the other end; False if it was refused or does not agree.

    Raises ConnectionError, TimeoutError: the caller is gone, or says nothing.
    """
    connection.settimeout(OFFER_S)
    frame, handles = _receive(connection)
    caller, folder, *environ = frame.split(b"\0")
    reason = _enter(folder, environ) if caller == identity.encode() else OUTDATED
    if reason:
        refuse(connection, handover.REFUSED, reason)
        return False
    connection.sendall(handover.TAKEN)
    if connection.recv(1) != handover.AGREED:
        return False
    connection.settimeout(None)
    for handle, target in zip(handles, (0, 1, 2), strict=True):
        os.dup2(handle, target)
        os.close(handle)
    leaving.handover_connection = connection
    leaving.AT_LEAVING.insert(0, ended)  # called last: then nothing of the session is left
    return True


def _receive(connection: socket.socket) -> tuple[bytes, list[int]]:
    # Together with handles the kernel gives 36 kB at most.
    frame, handles, _, _ = socket.recv_fds(connection, 2**16, 3)
    while not frame.endswith(handover.END):
        part = connection.recv(2**16)
        if not part:
            raise ConnectionResetError("the caller left in the middle of its offer")
        frame += part
    return frame.removesuffix(handover.END), handles


def _enter(folder: bytes, environ: list[bytes]) -> str:
    """Make the client's environment and folder this process's; return the reason if that is impossible."""
    os.environb.clear()
    for variable in environ:
        name, _, value = variable.partition(b"=")
        os.environb[name] = value
    settings.forget()
    time.tzset()
    try:
        os.chdir(folder)
    except OSError as error:
        return f"it cannot enter {os.fsdecode(folder)}: {error.strerror}"
    with suppress(settings.SettingsError):  # the session says what is wrong with them
        for path in settings.written_folders():
            existing = path
            while not existing.exists():
                existing = existing.parent
            if not existing.is_dir() or not os.access(existing, os.W_OK):  # nor can it be made
                return f"it may not write {path}"
    return ""


def refuse(connection: socket.socket, kind: str, reason: str) -> None:
    """Send the caller a line that says why this session is not served here."""
    with suppress(OSError):
        connection.send(f"{kind}: {reason}\n".encode(), socket.MSG_DONTWAIT)


def ended(code: int) -> None:
    """Send the caller, if there is one, the exit status of its session."""
    if leaving.handover_connection is not None:
        with suppress(OSError):
            leaving.handover_connection.send(b"%d\n" % code, socket.MSG_DONTWAIT)
