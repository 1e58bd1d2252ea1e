#!/usr/bin/env python3
"""Cold start and memory of the server beside a one-tool server on the same SDK, in one run.

usage: bench_start.py [RUNS]      (default 15; the two take turns)
"""

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
PYTHON = HERE.parents[1] / ".venv" / "bin" / "python"
SERVERS = {
    "one-tool": [HERE / "one_tool_server.py"],
    "pi-mcp": [HERE.parents[1] / "server.py", "--standalone"],
}
HANDSHAKE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}


def measure(arguments: list) -> tuple[float, float]:
    """Seconds from spawn to the initialize reply, and MiB (RSS) after the tools/list reply."""
    python = str(PYTHON) if PYTHON.exists() else sys.executable
    began = time.perf_counter()
    server = subprocess.Popen(
        [python, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    ask(server, id=1, method="initialize", params=HANDSHAKE)
    ready_s = time.perf_counter() - began
    tell(server, method="notifications/initialized")
    ask(server, id=2, method="tools/list")
    with open(f"/proc/{server.pid}/statm", encoding="ascii") as file:
        size_mib = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    server.stdin.close()
    server.wait(timeout=30)
    return ready_s, size_mib


def tell(server: subprocess.Popen, **message) -> None:
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    server.stdin.flush()


def ask(server: subprocess.Popen, **message) -> dict:
    tell(server, **message)
    while True:
        answer = json.loads(server.stdout.readline())
        if answer.get("id") == message["id"]:
            return answer


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    for arguments in SERVERS.values():
        measure(arguments)
    found = {name: [] for name in SERVERS}
    for _ in range(runs):
        for name, arguments in SERVERS.items():
            found[name].append(measure(arguments))
    ready = {name: statistics.median(r for r, _ in rows) for name, rows in found.items()}
    size = {name: statistics.median(m for _, m in rows) for name, rows in found.items()}
    pairs = [ours[0] / theirs[0] for ours, theirs in zip(found["pi-mcp"], found["one-tool"], strict=True)]
    for name in SERVERS:
        print(f"{name:<9} ready after {ready[name] * 1000:6.0f} ms   {size[name]:6.1f} MiB after tools/list")
    ratio, paired = ready["pi-mcp"] / ready["one-tool"], statistics.median(pairs)
    least = min(r for r, _ in found["pi-mcp"]) / min(r for r, _ in found["one-tool"])
    print(
        f"ready     {ratio:.2f} of the one-tool server (pairs: median {paired:.2f}; the least: {least:.2f}; limit 1.15)"
    )
    print(f"memory    {size['pi-mcp'] - size['one-tool']:+.1f} MiB (limit +6.0)")


if __name__ == "__main__":
    main()
