"""The resident service: one process that imported everything, and a child forked from it for each session.

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
from pathlib import Path
from typing import Any, NoReturn

from tools.core import places, settings
from tools.resident import handover, listening, session

logger = logging.getLogger("pi-mcp")

ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
# Seconds until the next try after a session could not be started; without them the loop would spin.
PAUSE_S = 0.5
# At the other end, as the kernel knows them: process, user, group.
PEER = struct.Struct("iII")


class Service:
    """Accepts sessions on `listener` and forks a child for each, which calls `serve`.

    `lock` keeps a second service away from a listener that this one made; without a lock the listener is
    systemd's, and the service ends after MCP_IDLE_EXIT seconds without a session. `identity` is the
    fingerprint of the sources it was started with.
    """

    # The contract of the loop:
    # - One thread, and fork only from here: a child inherits no lock that somebody held.
    # - The parent never reads from a connection, so no client can make it wait. It accepts, checks the
    #   caller's user, forks, and closes its end; the child does the talking and gives up after
    #   session.OFFER_S.
    # - A child counts as a session from its fork on, whether its caller says anything or not.
    # - Signals only wake the loop up (through a pipe, so that none is lost between looking and waiting). One
    #   that ends the service ends no session: each lives on until its own caller leaves.

    def __init__(self, listener: socket.socket, lock: int | None, serve: Callable[[], None], identity: str):
        self.listener = listener
        self.lock = lock
        self.serve = serve
        self.identity = identity
        self.most = settings.current().max_sessions
        self.idle_exit_s = settings.current().idle_exit_s if lock is None else 0
        self.children: set[int] = set()
        self.idle_since = time.monotonic()

    def run(self) -> None:
        """Serve until a signal, or until idle for long enough. Running sessions go on by themselves."""
        signals = _signals()
        awaited: list[Any] = [signals, self.listener]
        gc.collect()
        gc.freeze()  # else a child's first collection would copy every page
        listening.notify_systemd("READY=1")
        while (left_s := self._left_s()) > 0:
            ready, _, _ = select.select(awaited, [], [], left_s)
            if signals in ready and not set(ENDING).isdisjoint(os.read(signals, 4096)):
                return
            self._reap()
            if self.listener in ready:
                try:
                    self._accept()
                except OSError as error:
                    logger.warning("A session cannot be started: %s", error.strerror)
                    time.sleep(PAUSE_S)

    def _left_s(self) -> float:
        """Seconds until the service was idle for long enough, or an hour."""
        if not self.idle_exit_s or self.children:
            return 3600
        return self.idle_since + self.idle_exit_s - time.monotonic()

    def _reap(self) -> None:
        while self.children:
            pid, _ = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            self.children.discard(pid)
            self.idle_since = time.monotonic()

    def _accept(self) -> None:
        connection, _ = self.listener.accept()
        with connection:
            peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, PEER.size)
            if PEER.unpack(peer)[1] != os.getuid():
                logger.warning("A connection of another user was closed")
            elif len(self.children) >= self.most:
                text = f"{self.most} sessions are running; end one, or raise MCP_MAX_SESSIONS for the service"
                session.refuse(connection, handover.FULL, text)
            elif pid := os.fork():
                self.children.add(pid)
            else:
                self._become_session(connection)

    def _become_session(self, connection: socket.socket) -> NoReturn:
        """In the child: serve the client at the other end, and never go back into the parent's loop."""
        code = 1
        try:
            signal.set_wakeup_fd(-1)
            for number in (*ENDING, signal.SIGCHLD):
                signal.signal(number, signal.SIG_DFL)
            os.setsid()  # a Ctrl-C at the service's terminal is not for its sessions
            self.listener.close()
            if self.lock is not None:
                os.close(self.lock)  # else the session would hold it until its end
            if session.accept(connection, self.identity):
                self.serve()
        except SystemExit as error:
            code = error.code if isinstance(error.code, int) else 1
        except (ConnectionError, TimeoutError):
            pass  # the caller is gone, or says nothing
        except BaseException:
            traceback.print_exc()
        finally:
            session.ended(code)
            os._exit(code)


def _signals() -> int:
    """The end of a pipe from which the numbers of signals can be read."""
    reader, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    for number in (*ENDING, signal.SIGCHLD):
        signal.signal(number, lambda *_: None)
    return reader


def main(serve: Callable[[], None], identity: str) -> int:
    """Be the service, once everything that a session needs is imported. Exit status 2: it cannot listen."""
    path, lock = Path(places.sockets(os.environ)[0]), None
    try:
        listener = listening.from_systemd()
        if not listener:
            listener, lock = listening.at(path)
    except listening.CannotListen as error:
        sys.stderr.write(f"pi-mcp: {error}\n")
        return 2
    Service(listener, lock, serve, identity).run()
    if lock is not None:
        path.unlink(missing_ok=True)
    return 0
