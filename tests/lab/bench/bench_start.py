"""A cold start: from spawning the server until `initialize`, `tools/list` and a first call are answered, and
its memory (PSS) then, and after a snapshot and a search. The anchor is the time until a server with a single tool on the same SDK answers
`initialize`."""

import os
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

from tests.lab.bench.measuring import ONE_TOOL, Row, at_most, memory_mib
from tests.support.client import HANDSHAKE, SERVER, Client

RUNS = 15
ANCHOR = "one-tool server"
STEPS = ("ready", "tools listed", "a first call", "a snapshot of OnePercent")
# What is promised of each step, of the anchor's time: with the listing of a session before, and without.
LIMITS = {"": (0.12, 0.15, 0.25, 0.4), ", no listing saved": (0.12, 0.6, 0.6, 0.7)}
# What is promised of the memory, of the anchor's.
MEMORY = {"after a first call": 0.3, "after a snapshot and a search": 0.45}


def medians(side: tuple[tuple[float, ...], ...]) -> list[float]:
    return [statistics.median(column) for column in zip(*side, strict=True)]


def rows() -> Iterator[Row]:
    for command in (SERVER, ONE_TOOL):
        measure(command)
    runs = [(measure(SERVER), measure(SERVER, forget=True), measure(ONE_TOOL)) for _ in range(RUNS)]
    kept, made, anchor = (medians(side) for side in zip(*runs, strict=True))
    for (case, limits), took_ms in zip(LIMITS.items(), (kept, made), strict=True):
        for step, limit, ours in zip(STEPS, limits, took_ms, strict=False):
            yield at_most(limit, f"{step}, cold{case}", ours, "ms", anchor[0], ANCHOR)
    for (what, limit), ours in zip(MEMORY.items(), kept[-2:], strict=True):
        yield at_most(limit, f"memory, {what}", ours, "MiB", anchor[-2], ANCHOR)


def measure(command: list[str], forget: bool = False) -> tuple[float, ...]:
    """Milliseconds until each step, MiB after a first call and after the last."""
    for file in Path(os.environ["MCP_STATE_DIR"]).glob("listing-*") if forget else ():
        file.unlink()
    began = time.perf_counter()
    with Client(command) as client:
        client.request("initialize", **HANDSHAKE)
        times = [time.perf_counter()]
        client.send(method="notifications/initialized")
        listed = client.request("tools/list")["result"]["tools"]
        times.append(time.perf_counter())
        is_ours = len(listed) > 1
        client.call("greet", name="Pi")
        times.append(time.perf_counter())
        memory = [memory_mib(client.process.pid, "Pss")]
        if is_ours:
            client.call("get_user_snapshot")
        times.append(time.perf_counter())
        if is_ours:
            client.call("search_docs", query="bltouch")
        memory.append(memory_mib(client.process.pid, "Pss"))
        return *((moment - began) * 1000 for moment in times), *memory
