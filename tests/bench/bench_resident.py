#!/usr/bin/env python3
"""The resident service beside a one-tool server on the same SDK: readiness, memory, many sessions, in one run.

usage: bench_resident.py [ROW …]      rows: ready memory many (default: all)
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT))

from tests.client import HANDSHAKE, Client  # noqa: E402
from tests.services import Service, wait_until  # noqa: E402

PYTHON = str(PROJECT / ".venv" / "bin" / "python")
ONE_TOOL = [PYTHON, str(PROJECT / "tests" / "bench" / "one_tool_server.py")]
CALLER = [str(Path(tempfile.mkdtemp()) / "pi-mcp")]
"""The command that setup.sh installs."""
RUNS = 21


def install() -> None:
    text = (PROJECT / "systemd" / "pi-mcp").read_text(encoding="utf-8")
    command = Path(CALLER[0])
    command.write_text(text.replace("@python@", os.path.realpath(PYTHON)).replace("@project@", str(PROJECT)))
    command.chmod(0o755)


def started() -> Service:
    return Service([PYTHON, str(PROJECT / "server.py")], MCP_MAX_SESSIONS="100")


def ready_s(command: list[str], service: Service) -> float:
    """Seconds from spawn to the initialize reply."""
    began = time.perf_counter()
    with service.caller(command) as client:
        client.request("initialize", **HANDSHAKE)
        return time.perf_counter() - began


def weight_mib(pid: int, kind: str = "Pss") -> float:
    text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith(f"{kind}:")) / 1024


def bench_ready() -> None:
    """Ready: spawn to `initialize` reply; the two take turns."""
    with started() as service:
        pairs = [(ready_s(ONE_TOOL, service), ready_s(CALLER, service)) for _ in range(RUNS)]
    cold, warm = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"ready    one-tool {cold * 1000:.0f} ms, through the service {warm * 1000:.0f} ms")
    print(f"         {cold / warm:.1f} times sooner (at least 15)")


def bench_memory() -> None:
    """Memory after `tools/list` of every session, caller included."""
    with started() as service:
        with service.caller(ONE_TOOL) as one:
            one.initialize()
            one.request("tools/list")
            floor, floor_rss = weight_mib(one.process.pid), weight_mib(one.process.pid, "Rss")
            alone, alone_rss = weight_mib(service.process.pid), weight_mib(service.process.pid, "Rss")
        print(f"memory   the service alone {alone_rss:.1f} MiB RSS, {alone / floor:.2f} of a one-tool server's PSS")
        print(f"         ({alone_rss - floor_rss:+.1f} MiB RSS)")
        before, clients = weight_mib(service.process.pid), []
        for count in (1, 4, 8, 16):
            while len(clients) < count:
                clients.append(service.caller(CALLER))
                clients[-1].initialize()
                clients[-1].request("tools/list")
            each = (all_of(service, clients) - before) / count
            print(f"         {count:2} sessions: {each:.1f} MiB (PSS) more each{' (at most 9)' * (count == 8)}")
        for client in clients:
            client.__exit__()


def all_of(service: Service, clients: list[Client]) -> float:
    callers = [client.process.pid for client in clients]
    return sum(map(weight_mib, [service.process.pid, *service.children(), *callers]))


def bench_many() -> None:
    """400 sessions in a row, then 1,000 in all: every one answered, nothing left, the parent as large as before."""
    with started() as service:
        for _ in range(20):
            serve_one(service)
        before = weight_mib(service.process.pid, "Rss"), weight_mib(service.process.pid, "Private_Dirty")
        for _ in range(400):
            ready_s(CALLER, service)
        print("many     400 sessions in a row, all answered")
        for _ in range(600):
            serve_one(service)
        wait_until(lambda: service.children() == [])
        after = weight_mib(service.process.pid, "Rss"), weight_mib(service.process.pid, "Private_Dirty")
        handles = len(os.listdir(f"/proc/{service.process.pid}/fd"))
        print(
            f"         after 1,000 the service has {after[0] - before[0]:+.2f} MiB RSS (at most +1), {handles} handles, no child"
        )


def serve_one(service: Service) -> None:
    """A session over a plain connection, which spares this machine the caller."""
    with service.connect() as connection, connection.makefile("rb") as answers:
        connection.sendall(b'{"jsonrpc":"2.0","id":1,"method":"server/discover"}\n')
        assert answers.readline()


ROWS = {"ready": bench_ready, "memory": bench_memory, "many": bench_many}


def main() -> None:
    install()
    for name in sys.argv[1:] or ROWS:
        ROWS[name]()


if __name__ == "__main__":
    version = subprocess.run([PYTHON, "-V"], capture_output=True, text=True, check=True).stdout.strip()
    print(f"{version}, {os.cpu_count()} processors")
    main()
