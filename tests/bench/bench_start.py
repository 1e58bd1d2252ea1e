"""A cold start: from spawning the server until it answered `initialize`, and its memory (RSS) once it answered
`tools/list`. The anchor is a server with a single tool on the same SDK; the two take turns."""

import statistics
import time
from collections.abc import Iterator

from tests.bench.processes import COLD, ONE_TOOL, rss_mib
from tests.bench.rows import Row
from tests.support.client import HANDSHAKE, Client

RUNS = 15


def rows() -> Iterator[Row]:
    for command in (COLD, ONE_TOOL):
        measure(command)
    pairs = [(measure(COLD), measure(ONE_TOOL)) for _ in range(RUNS)]
    (ready, memory), (anchor_ready, anchor_memory) = (middle(one) for one in zip(*pairs, strict=True))
    yield Row("ready, cold", ready, "ms", anchor_ready, "one-tool server", "at most 0.7", ready <= 0.7 * anchor_ready)
    more = memory - anchor_memory
    yield Row("memory, cold", memory, "MiB", anchor_memory, "one-tool server", "at most 6 MiB more", more <= 6)


def measure(command: list[str]) -> tuple[float, float]:
    """Milliseconds until ready, MiB after tools/list."""
    began = time.perf_counter()
    with Client(command) as client:
        client.request("initialize", **HANDSHAKE)
        ready_s = time.perf_counter() - began
        client.send(method="notifications/initialized")
        client.request("tools/list")
        return ready_s * 1000, rss_mib(client.process.pid)


def middle(measured: tuple[tuple[float, float], ...]) -> list[float]:
    return [statistics.median(column) for column in zip(*measured, strict=True)]
