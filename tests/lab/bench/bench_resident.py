"""Sessions of the resident service: from spawning the command `pi-mcp` until it is ready, the memory (PSS) that each of
several sessions takes, its caller included, and what the service has kept after hundreds. The anchor is a server with
a single tool on the same SDK, as many of them as there are sessions."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

from tests.lab.bench.measuring import ONE_TOOL, Row, installed, medians, memory_mib
from tests.support.client import HANDSHAKE, SERVER, Client
from tests.support.services import Service, wait_until

RUNS = 21
COUNTS = {1: "1 session", 8: "8 sessions"}
MANY = 400
ANCHOR = "one-tool server"


def rows() -> Iterator[Row]:
    caller = installed()
    with started() as service:
        ours, anchor = medians(RUNS, lambda: ready_ms(service, caller), lambda: ready_ms(service, ONE_TOOL))
        promise = "at least 15 times sooner"
        yield Row("ready, through the service", ours, "ms", anchor, ANCHOR, promise, anchor >= 15 * ours)
    yield from memory(caller)
    yield many(caller)


def started() -> Service:
    return Service(SERVER[:2], MCP_MAX_SESSIONS="100")


def ready_ms(service: Service, command: list[str]) -> float:
    began = time.perf_counter()
    with service.caller(command) as client:
        client.request("initialize", **HANDSHAKE)
        return (time.perf_counter() - began) * 1000


def memory(caller: list[str]) -> Iterator[Row]:
    anchors = dict(growing(lambda: Client(ONE_TOOL), list))
    with started() as service:
        alone = memory_mib(service.process.pid, "Pss")
        promise = "no more than its anchor"
        yield Row("memory, the service alone", alone, "MiB", anchors[1], ANCHOR, promise, alone <= anchors[1])
        others = lambda: [service.process.pid, *service.children()]  # noqa: E731
        for count, total in growing(lambda: service.caller(caller), others):
            each, anchor = (total - alone) / count, anchors[count] / count
            limit = ("at most 9 MiB", each <= 9) if count == 8 else ()
            yield Row(f"memory, each of {COUNTS[count]}", each, "MiB", anchor, ANCHOR, *limit)


def growing(start: Callable[[], Client], others: Callable[[], list[int]]) -> Iterator[tuple[int, float]]:
    """(number, MiB) for more and more clients that have their list of tools; `others` are counted in."""
    clients = []
    with ExitStack() as ends:
        for count in COUNTS:
            while len(clients) < count:
                clients.append(ends.enter_context(start()))
                clients[-1].initialize()
                clients[-1].request("tools/list")
            yield count, sum(memory_mib(pid, "Pss") for pid in [one.process.pid for one in clients] + others())


def many(caller: list[str]) -> Row:
    """Every one of them must be answered, or this ends in an error."""
    with started() as service:
        for _ in range(20):
            ready_ms(service, caller)
        before = memory_mib(service.process.pid)
        for _ in range(MANY):
            ready_ms(service, caller)
        wait_until(lambda: service.children() == [])
        after = memory_mib(service.process.pid)
    what = f"memory, the service after {MANY:,} sessions"
    return Row(what, after, "MiB", before, "before them", "at most 1 MiB more", after <= before + 1)
