"""The resident service's parent process, and the child that it forks for each session.

The parent runs neither threads nor an event loop, and reads nothing from a client: what a child would inherit
stays small and certain. Each child takes its client's descriptors, environment and folder, and ends with its
caller.
"""

import gc
import logging
import os
import select
import signal
import socket
import struct
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from tools.core import leaving, places, settings
from tools.core.leaving import ENDING_SIGNALS

from . import handover, listening

logger = logging.getLogger("pi-mcp")

# Seconds until the next try after a session could not be started; without them the loop would spin.
PAUSE_S = 0.5
# Seconds that a caller may take to offer its session and to agree.
OFFER_S = 10
PEER = "iII"  # the other end of a connection, as the kernel names it: process, user, group

# The contract of the parent's loop:
# - One thread, and fork only from here: a child inherits no lock that somebody held.
# - The parent never reads from a connection, so no client can make it wait. It accepts, checks the caller's
#   user, forks, and closes its end; the child does the talking and gives up after OFFER_S.
# - A child counts as a session from its fork on, whether its caller says anything or not.
# - Signals only wake the loop up (through a pipe, so that none is lost between looking and waiting). One that
#   ends the service ends no session: each lives on until its own caller leaves.


def main(serve: Callable[[], None], identity: str) -> int:
    """Be the service, once everything that a session needs is imported: fork a child for each session, which
    calls `serve`. `identity` is the fingerprint of the sources. Exit status: 0 it ended, 2 it cannot
    listen."""
    path = Path(places.sockets()[0])
    lock = None
    try:
        listener = listening.from_systemd()
        if not listener:
            listener, lock = listening.listen_at(path)
    except OSError as error:
        sys.stderr.write(f"pi-mcp: {error}\n")
        return 2

    def run_session(connection: socket.socket) -> None:
        listener.close()
        if lock is not None:
            os.close(lock)  # else the session would hold it until its end
        _take_over(connection, identity)
        serve()

    _accept_sessions(listener, settings.current().idle_exit_s if lock is None else 0, run_session)
    if lock is not None:
        path.unlink(missing_ok=True)
    return 0


def _accept_sessions(
    listener: socket.socket, idle_exit_s: int, run_session: Callable[[socket.socket], None]
) -> None:
    """Fork a child that calls `run_session` for each connection, until a signal, or until there was no
    session for `idle_exit_s` seconds, unless that is 0. Running sessions go on by themselves."""
    signals = leaving.signal_pipe(*ENDING_SIGNALS, signal.SIGCHLD)
    awaited: list[Any] = [signals, listener]
    children: set[int] = set()
    idle_since = time.monotonic()
    gc.collect()
    gc.freeze()  # else a child's first collection would copy every page
    listening.notify_ready()
    while children or not idle_exit_s or time.monotonic() - idle_since < idle_exit_s:
        # Wait for a signal or a connection, and forget the children that ended.
        ready, _, _ = select.select(awaited, [], [], idle_exit_s or None)
        if signals in ready and not set(ENDING_SIGNALS).isdisjoint(os.read(signals, 4096)):
            return
        while children and (pid := os.waitpid(-1, os.WNOHANG)[0]):
            children.discard(pid)
            idle_since = time.monotonic()
        if listener not in ready:
            continue
        # Fork a child for the connection.
        try:
            connection, _ = listener.accept()
            with connection:
                if is_welcome(connection, len(children)):
                    pid = os.fork()
                    if not pid:
                        _run_child(run_session, connection)
                    children.add(pid)
        except OSError as error:
            logger.warning("A session cannot be started: %s", error.strerror)
            time.sleep(PAUSE_S)


def is_welcome(connection: socket.socket, session_count: int) -> bool:
    """True if the caller is this user and there is room beside the running sessions. If there is none, the
    caller gets a line that says so."""
    peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize(PEER))
    user = struct.unpack(PEER, peer)[1]
    if user != os.getuid():
        logger.warning("A connection of another user was closed")
        return False
    most = settings.current().max_sessions
    if session_count >= most:
        reason = "sessions are running; end one, or raise MCP_MAX_SESSIONS for the service"
        line = f"{handover.FULL}{most} {reason}\n"
        with suppress(OSError):
            connection.send(line.encode(), socket.MSG_DONTWAIT)
        return False
    return True


# In the child.


def _run_child(run_session: Callable[[socket.socket], None], connection: socket.socket) -> NoReturn:
    """Run a session for the caller at the other end, and never return to the parent's loop."""
    status = 1
    try:
        signal.set_wakeup_fd(-1)
        for signal_number in (*ENDING_SIGNALS, signal.SIGCHLD):
            signal.signal(signal_number, signal.SIG_DFL)
        os.setsid()  # a Ctrl-C at the service's terminal is not for its sessions
        run_session(connection)
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 1
    except (ConnectionError, TimeoutError):
        pass  # the caller is gone, or says nothing
    except BaseException:
        traceback.print_exc()
    finally:
        leaving.leave(status)


def _take_over(connection: socket.socket, identity: str) -> None:
    """Become the session of the caller at the other end. Raises SystemExit if it was refused;
    ConnectionError, TimeoutError if it is gone, does not agree, or says nothing."""
    connection.settimeout(OFFER_S)
    # With descriptors the kernel gives 36 kB at most.
    frame, descriptors, _, _ = socket.recv_fds(connection, 2**16, 3)
    while not frame.endswith(handover.FRAME_END):
        chunk = connection.recv(2**16)
        if not chunk:
            raise ConnectionResetError
        frame += chunk
    caller_identity, folder, *environ = frame.removesuffix(handover.FRAME_END).split(b"\0")
    reason = "it runs other sources; `sudo systemctl restart pi-mcp`, or ./setup.sh --systemd in this folder"
    if caller_identity == identity.encode():
        reason = _enter(folder, environ)
    if reason:
        connection.sendall(f"{reason}\n".encode())
        raise SystemExit(1)
    connection.sendall(handover.TAKEN)
    if connection.recv(1) != handover.AGREED:
        raise ConnectionResetError
    connection.settimeout(None)
    for descriptor, standard in zip(descriptors, (0, 1, 2), strict=True):
        os.dup2(descriptor, standard)
        os.close(descriptor)
    leaving.handover_connection = connection


def _enter(folder: bytes, environ: list[bytes]) -> str:
    """Take on the client's environment and folder. Returns the reason if the client cannot be served so, else
    an empty text."""
    # A variable without a name cannot be set: a Windows shell hands on `=C:=C:\\`.
    variables = dict(variable.split(b"=", 1) for variable in environ if variable.find(b"=") > 0)
    os.environb.clear()
    os.environb.update(variables)
    settings.forget()
    time.tzset()
    try:
        os.chdir(folder)
    except OSError as error:
        return f"it cannot enter {os.fsdecode(folder)}: {error.strerror}"
    with suppress(settings.SettingsError):  # the session will say what is wrong with them
        for path in settings.written_folders():
            existing = path
            while not existing.exists():
                existing = existing.parent
            if not existing.is_dir() or not os.access(existing, os.W_OK):  # nor can it be made
                return f"it may not write {path}"
    return ""
