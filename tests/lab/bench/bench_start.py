"""A cold start: from spawning the server until `initialize`, `tools/list` and a first call are answered, and
its memory (RSS) then. The anchor is the time until a server with a single tool on the same SDK answers
`initialize`."""

import os
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

from tests.lab.bench.measuring import ONE_TOOL, Row, memory_mib
from tests.support.client import HANDSHAKE, SERVER, Client

RUNS = 15
STEPS = ("ready", "tools listed", "a first call")
LIMITS = {"": (0.15, 0.15, 0.75), ", no listing kept": (0.15, 0.6, 0.85)}
"""What is promised of each step, of the anchor's time: with the listing of a session before, and without."""


def rows() -> Iterator[Row]:
    for command in (SERVER, ONE_TOOL):
        measure(command)
    runs = [(measure(SERVER), measure(SERVER, forget=True), measure(ONE_TOOL)) for _ in range(RUNS)]
    kept, made, anchor = ([statistics.median(column) for column in zip(*side)] for side in zip(*runs))  # noqa: B905
    for (case, limits), took_ms in zip(LIMITS.items(), (kept, made), strict=True):
        for step, limit, ours in zip(STEPS, limits, took_ms, strict=False):
            promise, holds = f"at most {limit}", ours <= limit * anchor[0]
            yield Row(f"{step}, cold{case}", ours, "ms", anchor[0], "one-tool server", promise, holds)
    more = kept[-1] - anchor[-1]
    yield Row("memory, cold", kept[-1], "MiB", anchor[-1], "one-tool server", "at most 6 MiB more", more <= 6)


def measure(command: list[str], forget: bool = False) -> tuple[float, ...]:
    """Milliseconds until each step, MiB after the last."""
    for file in Path(os.environ["MCP_STATE_DIR"]).glob("listing-*") if forget else ():
        file.unlink()
    began = time.perf_counter()
    with Client(command) as client:
        client.request("initialize", **HANDSHAKE)
        times = [time.perf_counter()]
        client.send(method="notifications/initialized")
        for method, params in (
            ("tools/list", {}),
            ("tools/call", {"name": "greet", "arguments": {"name": "Pi"}}),
        ):
            assert "result" in client.request(method, **params)
            times.append(time.perf_counter())
        return *((moment - began) * 1000 for moment in times), memory_mib(client.process.pid)
