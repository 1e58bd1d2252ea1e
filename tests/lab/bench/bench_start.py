"""A cold start: from spawning the server until `initialize`, `tools/list` and a first call are answered, and
its memory (PSS) then, and after a snapshot and a search. The anchor is the time until a server with a single tool on the same SDK answers
`initialize`."""

import os
import statistics
import time
from pathlib import Path

from tests.lab.bench.measuring import ONE_TOOL, at_most, memory_mib
from tests.support.client import SERVER, Client

RUNS = 15
ANCHOR = "one-tool server"
STEPS = ("ready", "tools listed", "a first call", "a snapshot of OnePercent")
# What is promised of each step, of the anchor's time: with the listing of a session before, and without.
LIMITS = {"": (0.12, 0.15, 0.25, 0.4), ", no listing saved": (0.12, 0.6, 0.6, 0.7)}
# What is promised of the memory, of the anchor's after a first call.
FIRST = "memory, after a first call"
LATER = "memory, after a snapshot and a search"
MEMORY = {FIRST: 0.3, LATER: 0.45}


def rows():
    for command in (SERVER, ONE_TOOL):
        measure(command)
    runs = [(measure(SERVER), measure(SERVER, forget=True), measure(ONE_TOOL)) for _ in range(RUNS)]
    saved, unsaved, anchor = map(medians, zip(*runs, strict=True))
    for (case, limits), took_ms in zip(LIMITS.items(), (saved, unsaved), strict=True):
        for step, limit in zip(STEPS, limits, strict=True):
            what = f"{step}, cold{case}"
            yield at_most(limit, what, took_ms[step], "ms", anchor["ready"], ANCHOR)
    for what, limit in MEMORY.items():
        yield at_most(limit, what, saved[what], "MiB", anchor[FIRST], ANCHOR)


def medians(runs):
    return {what: statistics.median(run[what] for run in runs) for what in runs[0]}


def measure(command, forget=False):
    """Milliseconds until each of STEPS, MiB of MEMORY."""
    if forget:
        for file in Path(os.environ["MCP_STATE_DIR"]).glob("listing-*"):
            file.unlink()
    figures = {}
    began = time.perf_counter()
    with Client(command) as client:

        def note(step):
            figures[step] = (time.perf_counter() - began) * 1000

        client.initialize()
        note("ready")
        client.request("tools/list")
        note("tools listed")
        client.call("greet", name="Pi")
        note("a first call")
        figures[FIRST] = memory_mib(client.process.pid, "Pss")
        if command == SERVER:
            client.call("get_user_snapshot")
            note("a snapshot of OnePercent")
            client.call("search_docs", query="bltouch")
            figures[LATER] = memory_mib(client.process.pid, "Pss")
    return figures
