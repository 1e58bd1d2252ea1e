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
    caller, folder, *environ = frame.split(b"\0")
    loss = "" if len(handles) == 3 else "stdin, stdout and stderr did not all reach the service"
    if reason := _mismatch(caller.decode(errors="replace"), identity) or loss or _enter(folder, environ):
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
    # Together with handles the kernel gives 36 kB at most.
    data, handles, _, _ = socket.recv_fds(connection, 2**16, 3)
    while len(data) < 5 or len(data) < 5 + int.from_bytes(data[1:5], "big"):
        part = connection.recv(2**16)
        if not part:
            raise ConnectionResetError("the caller left in the middle of its offer")
        data += part
    return data[5:], handles


def _mismatch(caller: str, service: str) -> str:
    """The reason why sources with the caller's identity are not those of the service, if so."""
    if caller == service:
        return ""
    installed, project = service.rpartition(" ")[0], caller.rpartition(" ")[0]
    if installed != project:
        return f"the service is installed for {installed}; run ./setup.sh --systemd in {project}"
    return "the service runs another version; `sudo systemctl restart pi-mcp` brings it up to date"


def _enter(folder: bytes, environ: list[bytes]) -> str:
    """Make the client's environment and folder this process's; return the reason if that is impossible."""
    _replace_environment(environ)
    settings.forget()
    time.tzset()
    try:
        os.chdir(folder)
    except OSError as error:
        return f"the service cannot enter {os.fsdecode(folder)}: {error.strerror}"
    with suppress(settings.SettingsError):  # the session says what is wrong with them
        for path in settings.written_folders():
            existing = next(parent for parent in (path, *path.parents) if parent.exists())
            if not existing.is_dir() or not os.access(existing, os.W_OK):  # nor can it be made
                return f"the service may not write {path}"
    return ""


def _replace_environment(environ: list[bytes]) -> None:
    """Take over the client's environment; a setting that it lacks stays as the service has it. Only what
    differs is written, because a write ends the sharing of that memory with the service."""
    settings_names = {name.encode() for name in settings.names()}
    pairs = [variable.partition(b"=") for variable in environ]
    values = {name: value for name, _, value in pairs}
    for name in os.environb.keys() - values.keys() - settings_names:
        del os.environb[name]
    for name, value in values.items():
        if os.environb.get(name) != value:
            os.environb[name] = value


def refuse(connection: socket.socket, kind: str, reason: str) -> None:
    """Send the caller a line that says why this session is not served here."""
    with suppress(OSError):
        connection.send(f"{kind}: {reason}\n".encode(), socket.MSG_DONTWAIT)


def ended(code: int) -> None:
    """Send the caller, if there is one, the exit status of its session."""
    if leaving.handover_connection is not None:
        with suppress(OSError):
            leaving.handover_connection.send(b"%d\n" % code, socket.MSG_DONTWAIT)
