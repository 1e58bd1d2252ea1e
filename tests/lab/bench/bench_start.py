"""A cold start: from spawning the server until `initialize`, `tools/list` and a first call are answered, and its memory
(RSS) then. The anchor is the time until a server with a single tool on the same SDK answers `initialize`."""

import os
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

from tests.lab.bench.processes import COLD, ONE_TOOL, rss_mib
from tests.lab.bench.rows import Row
from tests.support.client import HANDSHAKE, Client

RUNS = 15
STEPS = ("ready", "tools listed", "a first call")
LIMITS = {"": (0.12, 0.15, 0.75), ", no listing kept": (0.12, 0.6, 0.85)}
"""What is promised of each step, of the anchor's time: with the listing of a session before, and without."""


def rows() -> Iterator[Row]:
    for command in (COLD, ONE_TOOL):
        measure(command)
    runs = [(measure(COLD), measure(COLD, forget=True), measure(ONE_TOOL)) for _ in range(RUNS)]
    kept, made, anchor = (middle(columns) for columns in zip(*runs, strict=True))
    for (case, limits), measured in zip(LIMITS.items(), (kept, made), strict=True):
        for step, limit, took_ms in zip(STEPS, limits, measured, strict=False):
            promise = f"at most {limit}"
            yield Row(
                f"{step}, cold{case}",
                took_ms,
                "ms",
                anchor[0],
                "one-tool server",
                promise,
                took_ms <= limit * anchor[0],
            )
    more = kept[-1] - anchor[-1]
    yield Row("memory, cold", kept[-1], "MiB", anchor[-1], "one-tool server", "at most 6 MiB more", more <= 6)


def measure(command: list[str], forget: bool = False) -> tuple[float, ...]:
    """Milliseconds until each step, MiB after the last."""
    for file in Path(os.environ["MCP_STATE_DIR"]).glob("listing-*.json") if forget else ():
        file.unlink()
    began = time.perf_counter()
    with Client(command) as client:
        client.request("initialize", **HANDSHAKE)
        times = [time.perf_counter()]
        client.send(method="notifications/initialized")
        for method, params in (("tools/list", {}), ("tools/call", {"name": "greet", "arguments": {"name": "Pi"}})):
            assert "result" in client.request(method, **params)
            times.append(time.perf_counter())
        return *((moment - began) * 1000 for moment in times), rss_mib(client.process.pid)


def middle(measured: tuple[tuple[float, ...], ...]) -> list[float]:
    return [statistics.median(column) for column in zip(*measured, strict=True)]
