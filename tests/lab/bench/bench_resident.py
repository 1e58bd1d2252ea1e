"""Sessions of the resident service: from spawning the command `pi-mcp` until it is ready, the memory (PSS)
that each of several sessions takes, its caller included; the soak says what the service keeps after them. The
anchor is a server with a single tool on the same SDK, as many of them as there are sessions."""

import time
from contextlib import ExitStack

from tests.lab.bench.measuring import ONE_TOOL, Row, installed, medians, memory_mib
from tests.support.client import SERVER, Client
from tests.support.services import Service

RUNS = 21
MOST_MIB = {"1 session": 6, "8 sessions": 6, "8 that called and searched": 9}
SERVICE_MIB = 26
ANCHOR = "one-tool server"
CALLS = (
    ("greet", {"name": "Pi"}),
    ("get_user_snapshot", {}),
    ("search_docs", {"query": "bltouch"}),
)


def rows():
    caller = installed()
    with started() as service:
        ours, anchor = medians(
            RUNS, lambda: ready_ms(service, caller), lambda: ready_ms(service, ONE_TOOL)
        )
        promise = "at least 15 times sooner"
        yield Row(
            "ready, through the service", ours, "ms", anchor, ANCHOR, promise, anchor >= 15 * ours
        )
    yield from memory(caller)


def started():
    return Service(SERVER[:2], MCP_MAX_SESSIONS="100")


def ready_ms(service, command):
    began = time.perf_counter()
    with service.caller(command) as client:
        client.initialize()
        return (time.perf_counter() - began) * 1000


def memory(caller):
    anchors = {what: total for what, _, total in growing(lambda: Client(ONE_TOOL), list)}
    with started() as service:
        alone = memory_mib(service.process.pid, "Pss")
        promise = f"at most {SERVICE_MIB} MiB"
        anchor = anchors["1 session"]
        yield Row(
            "memory, the service alone", alone, "MiB", anchor, ANCHOR, promise, alone <= SERVICE_MIB
        )
        others = lambda: [service.process.pid, *service.children()]  # noqa: E731
        for what, count, total in growing(lambda: service.caller(caller), others):
            each = (total - alone) / count
            anchor = anchors[what] / count
            most = MOST_MIB[what]
            promise = f"at most {most:g} MiB"
            yield Row(f"memory, each of {what}", each, "MiB", anchor, ANCHOR, promise, each <= most)


def growing(start, others):
    """(what, number, MiB) for more and more clients that have their list of tools; `others` are counted
    in."""
    clients = []
    with ExitStack() as ends:
        for what in MOST_MIB:
            while len(clients) < int(what.split()[0]):
                clients.append(ends.enter_context(start()))
                clients[-1].initialize()
                clients[-1].request("tools/list")
            for client in clients if "call" in what else ():
                for tool, arguments in CALLS:
                    client.call(tool, **arguments)
            processes = [client.process.pid for client in clients] + others()
            yield what, len(clients), sum(memory_mib(pid, "Pss") for pid in processes)
