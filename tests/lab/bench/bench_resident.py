"""Sessions of the resident service: from spawning the command `pi-mcp` until it is ready, the memory (PSS) that each of
several sessions takes, its caller included, and what the service has kept after hundreds. The anchor is a server with
a single tool on the same SDK, as many of them as there are sessions."""

import statistics
import time
from collections.abc import Iterator
from contextlib import ExitStack

from tests.lab.bench.processes import COLD, ONE_TOOL, installed, pss_mib, rss_mib
from tests.lab.bench.rows import Row
from tests.support.client import HANDSHAKE, Client
from tests.support.services import Service, wait_until

RUNS = 21
COUNTS = (1, 8)
MANY = 400
ANCHOR = "one-tool server"


def rows() -> Iterator[Row]:
    caller = installed()
    yield from ready(caller)
    yield from memory(caller)
    yield many(caller)


def started() -> Service:
    return Service(COLD[:2], MCP_MAX_SESSIONS="100")


def ready(caller: list[str]) -> Iterator[Row]:
    commands = (caller, ONE_TOOL)
    with started() as service:
        turns = [[ready_ms(service, command) for command in commands] for _ in range(RUNS)]
    ours, anchor = (statistics.median(column) for column in zip(*turns, strict=True))
    promise = "at least 15 times sooner"
    yield Row("ready, through the service", ours, "ms", anchor, ANCHOR, promise, anchor >= 15 * ours)


def ready_ms(service: Service, command: list[str]) -> float:
    began = time.perf_counter()
    with service.caller(command) as client:
        client.request("initialize", **HANDSHAKE)
        return (time.perf_counter() - began) * 1000


def memory(caller: list[str]) -> Iterator[Row]:
    with ExitStack() as open_clients:
        anchors = dict(growing(lambda: Client(ONE_TOOL), open_clients, list))
    with started() as service, ExitStack() as open_clients:
        alone = pss_mib(service.process.pid)
        promise = "no more than its anchor"
        yield Row("memory, the service alone", alone, "MiB", anchors[1], ANCHOR, promise, alone <= anchors[1])
        others = lambda: [service.process.pid, *service.children()]  # noqa: E731
        for count, total in growing(lambda: service.caller(caller), open_clients, others):
            each, anchor = (total - alone) / count, anchors[count] / count
            limit = {"promise": "at most 8.5 MiB", "kept": each <= 8.5} if count == 8 else {}
            yield Row(f"memory, each of {sessions(count)}", each, "MiB", anchor, ANCHOR, **limit)


def sessions(count: int) -> str:
    return "1 session" if count == 1 else f"{count} sessions"


def growing(client, open_clients: ExitStack, others) -> Iterator[tuple[int, float]]:
    """(number, MiB) for more and more clients that have their list of tools; `others` are counted in."""
    clients = []
    for count in COUNTS:
        while len(clients) < count:
            clients.append(open_clients.enter_context(client()))
            clients[-1].initialize()
            clients[-1].request("tools/list")
        yield count, sum(map(pss_mib, [one.process.pid for one in clients] + others()))


def many(caller: list[str]) -> Row:
    """Every one of them must be answered, or this ends in an error."""
    with started() as service:
        for _ in range(20):
            ready_ms(service, caller)
        before = rss_mib(service.process.pid)
        for _ in range(MANY):
            ready_ms(service, caller)
        wait_until(lambda: service.children() == [])
        after = rss_mib(service.process.pid)
    promise = "at most 1 MiB more"
    what = f"memory, the service after {MANY:,} sessions"
    return Row(what, after, "MiB", before, "before them", promise, after <= before + 1)
