"""The limits of callers over HTTP: requests per minute, calls at a time, silent connections."""

import asyncio
import math
import resource
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any
from weakref import WeakValueDictionary

from tools.toolkit import JsonObject

# Seconds for which a connection may send no whole request, body included.
SILENT_S = 30
# Connections that may be silent at a time; for one more, the one that was silent for longest is closed.
MOST_SILENT = 256
LOOK_S = 0.25  # between two looks at the connections

# Settings of the HTTP server. It has no limit of connections: at that limit it would refuse the good ones. A
# warning per broken request would let anybody fill the log; a request that never finishes would block the
# shutdown forever.
UVICORN: JsonObject = {
    "http": "h11",
    "ws": "none",
    "lifespan": "off",
    "proxy_headers": False,
    "server_header": False,
    "access_log": False,
    "log_level": "error",
    "timeout_graceful_shutdown": 5,
}


class Rate:
    """A limit of `per_minute` requests of each caller, half of them at once."""

    def __init__(self, per_minute: float):
        self.every_s = 60 / per_minute
        # Half of them may be saved up, besides the one that is due.
        self.most_saved_s = self.every_s * (max(1, per_minute // 2) - 1)
        # By caller: the time from which the next request may come.
        self.next_s: dict[str, float] = {}

    def wait_s(self, caller: str = "") -> float:
        """Count a request of this caller. Returns 0 if it may pass, else the seconds until one may."""
        time_s = time.monotonic()
        next_s = max(self.next_s.get(caller, -math.inf), time_s - self.most_saved_s)
        if next_s > time_s:
            return next_s - time_s
        self.next_s[caller] = next_s + self.every_s
        return 0


class Turns:
    """Turns of `most` holders at a time, `most_each` of them of one caller; the others wait in their
    order."""

    def __init__(self, most: int, most_each: int):
        self.most_each = most_each
        self.shared = asyncio.Semaphore(most)
        # An entry goes once nobody holds or awaits a turn of it.
        self.by_caller: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    @asynccontextmanager
    async def turn(self, caller: str) -> AsyncIterator[None]:
        """Wait for a turn of this caller, and hold it inside."""
        turns = self.by_caller.setdefault(caller, asyncio.Semaphore(self.most_each))
        # The caller's own turn first: while waiting for it a caller takes no turn from others.
        async with turns, self.shared:
            yield


async def watch_connections(server: Any, idle_exit_s: float = 0) -> None:
    """Close connections to the HTTP server that send no whole request, after SILENT_S or once MOST_SILENT
    newer ones are as silent: they never keep a good one out. End the server once nobody was connected for
    `idle_exit_s`, unless that is 0."""
    # Connections that come between two looks can reach the usual limit of 1,024 files.
    _, most_files = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):  # the unit forbids it, and has a limit of its own
        resource.setrlimit(resource.RLIMIT_NOFILE, (most_files, most_files))
    # Since when each pair of a connection and its last request has been silent.
    silent_since: dict[Any, float] = {}
    idle_since = time.monotonic()
    while not server.should_exit:
        # Note which connections are silent, and since when.
        time_s = time.monotonic()
        silent_before = silent_since
        silent_since = {}
        for connection in server.server_state.connections:
            idle_since = time_s
            cycle = connection.cycle
            # The client is to send something: a request, or the rest of a body.
            if not cycle or cycle.response_complete or cycle.more_body:
                silent_since[connection, cycle] = silent_before.get((connection, cycle), time_s)
        # Close those that are silent for too long, or are too many: the longest silent ones.
        surplus = len(silent_since) - MOST_SILENT
        for number, pair in enumerate(sorted(silent_since, key=silent_since.__getitem__)):
            silent_s = time_s - silent_since[pair]
            # One that was not there at the last look may be a good one whose request is on its way.
            if silent_s > SILENT_S or (silent_s and number < surplus):
                pair[0].transport.close()
        if idle_exit_s and time_s - idle_since > idle_exit_s:
            server.should_exit = True
        await asyncio.sleep(LOOK_S)
