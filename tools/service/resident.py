"""The resident service: one process that imported everything, and a child forked from it for each session.

The parent runs neither threads nor an event loop, and reads nothing from a client: what a child would inherit stays
small and certain. Each child takes its client's descriptors, environment and folder, and ends with its caller.
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
from typing import NoReturn

from tools.core import settings
from tools.service import handover, listening, session

logger = logging.getLogger("pi-mcp")

ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
PID = struct.Struct("i")
ARRIVAL_S = 2
"""How long a connection counts as a session without having become one."""
MOST_ARRIVING = 64
PAUSE_S = 0.5
"""How long a connection that cannot be accepted is left alone; it would keep the loop spinning."""


class Service:
    """Accepts sessions on `listener` and forks a child for each, which calls `serve`.

    `identity` are the sources it was started with; `most` sessions run at a time; after `idle_exit_s` seconds without
    one it ends (0: never). `private` are handles that no child should keep.
    """

    def __init__(
        self,
        listener: socket.socket,
        serve: Callable[[], None],
        *,
        identity: str,
        most: int,
        idle_exit_s: int = 0,
        private: tuple[int, ...] = (),
    ):
        self.listener = listener
        self.serve = serve
        self.identity = identity
        self.most = most
        self.idle_exit_s = idle_exit_s
        self.private = private
        self.running: set[int] = set()
        """Children that have a client."""
        self.arriving: dict[int, float] = {}
        """Children whose client did not agree yet, and when they were started."""
        self.agreements = os.pipe()
        """Children write their process id here once they have a client."""
        self.idle_since = time.monotonic()
        self.ending = False

    def run(self) -> None:
        """Serve until a signal or until idle for long enough. Sessions that run then go on by themselves."""
        self.wakeup = self._catch_signals()
        gc.collect()
        gc.freeze()  # else a child's first collection would copy every page
        listening.tell_systemd("READY=1")
        while not self.ending and not self._is_idle():
            ready = self._wait()
            if self.wakeup[0].fileno() in ready:
                self.wakeup[0].recv(4096)
            if self.agreements[0] in ready:
                self._note_agreements()
            self._reap()
            if self.listener.fileno() in ready:
                self._accept()

    def _wait(self) -> set[int]:
        """The handles that something happened at. New connections wait while others that came just before might take
        the last room."""
        events = select.poll()
        events.register(self.wakeup[0], select.POLLIN)
        events.register(self.agreements[0], select.POLLIN)
        undecided_s = self._undecided_s()
        if not undecided_s:
            events.register(self.listener, select.POLLIN)
        return {handle for handle, _ in events.poll(self._patience_ms() if not undecided_s else undecided_s * 1000 + 1)}

    def _undecided_s(self) -> float:
        """How long it may still take until it is known whether there is room; 0 if it is."""
        now_s = time.monotonic()
        recent = [since for since in self.arriving.values() if now_s - since < ARRIVAL_S]
        if len(self.running) >= self.most or len(self.running) + len(recent) < self.most:
            return 0
        return min(recent) + ARRIVAL_S - now_s

    def _note_agreements(self) -> None:
        data = os.read(self.agreements[0], 512 * PID.size)
        for (pid,) in PID.iter_unpack(data):
            if self.arriving.pop(pid, None) is not None:
                self.running.add(pid)

    def _catch_signals(self) -> tuple[socket.socket, socket.socket]:
        """A pair of sockets; the first is readable after a signal."""
        pair = socket.socketpair()
        for endpoint in (*pair, self.listener):
            endpoint.setblocking(False)
        signal.set_wakeup_fd(pair[1].fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in ENDING:
            signal.signal(number, self._end)
        return pair

    def _end(self, *_: object) -> None:
        self.ending = True

    def _is_idle(self) -> bool:
        return bool(self.idle_exit_s) and not self._children() and self._left_s() <= 0

    def _children(self) -> int:
        return len(self.running) + len(self.arriving)

    def _left_s(self) -> float:
        return self.idle_since + self.idle_exit_s - time.monotonic()

    def _patience_ms(self) -> int | None:
        if not self.idle_exit_s or self._children():
            return None
        return int(max(0, self._left_s()) * 1000) + 1

    def _reap(self) -> None:
        while self._children():
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            self.running.discard(pid)
            self.arriving.pop(pid, None)
            self.idle_since = time.monotonic()
            if os.WIFSIGNALED(status):
                logger.warning("Session %d ended by signal %d", pid, os.WTERMSIG(status))

    def _accept(self) -> None:
        try:
            connection, _ = self.listener.accept()
        except BlockingIOError:  # gone again
            return
        except OSError as error:
            logger.warning("No connection can be accepted: %s", error.strerror)
            time.sleep(PAUSE_S)
            return
        with connection:
            if handover.peer(connection)[1] != os.getuid():
                logger.warning("A connection of another user was closed")
            elif len(self.running) >= self.most:
                text = f"{self.most} sessions are running; end one, or raise MCP_MAX_SESSIONS for the service"
                session.refuse(connection, handover.FULL, text)
            elif len(self.arriving) >= MOST_ARRIVING:
                session.refuse(connection, handover.MISMATCH, "too many connections to the service say nothing")
            else:
                self._fork(connection)

    def _fork(self, connection: socket.socket) -> None:
        try:
            if len(os.listdir("/proc/self/task")) > 1:
                raise RuntimeError("the service has a second thread; a child would inherit its locks, not the thread")
            pid = os.fork()
        except OSError as error:
            session.refuse(connection, handover.FULL, f"no session can be started: {error.strerror}")
            return
        if pid:
            self.arriving[pid] = time.monotonic()
            self.idle_since = time.monotonic()
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
            wakeup = [endpoint.fileno() for endpoint in self.wakeup]
            for handle in (self.listener.fileno(), self.agreements[0], *wakeup, *self.private):
                os.close(handle)
            if session.take(connection, self.identity, self._tell_agreed):
                self.serve()
            code = 0
        except SystemExit as error:
            code = error.code if isinstance(error.code, int) else 1
        except (ConnectionError, TimeoutError) as error:
            logger.debug("The caller is gone or says nothing: %s", error)
        except BaseException:
            traceback.print_exc()
        finally:
            session.ended(code)
            os._exit(code)

    def _tell_agreed(self) -> None:
        """In the child: the parent may count it."""
        os.write(self.agreements[1], PID.pack(os.getpid()))
        os.close(self.agreements[1])


def main(serve: Callable[[], None], identity: str) -> int:
    """Be the service, once everything that a session needs is imported. Exit status 2: it cannot listen."""
    own = settings.current()
    lock = None
    try:
        kept = listener = listening.from_systemd()
        if not listener:
            listener, lock = listening.at(own.socket)
    except listening.CannotListen as error:
        sys.stderr.write(f"pi-mcp: {error}\n")
        return 2
    place = listening.identity_of(own.socket)
    service = Service(
        listener,
        serve,
        identity=identity,
        most=own.max_sessions,
        idle_exit_s=own.idle_exit_s if kept else 0,
        private=() if lock is None else (lock,),
    )
    service.run()
    if lock is not None and listening.identity_of(own.socket) == place:  # else a newer service made it anew
        with suppress(OSError):
            own.socket.unlink()
    return 0
