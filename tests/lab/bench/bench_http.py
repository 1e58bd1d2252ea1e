"""Over HTTP: from spawning the server until it answered `initialize`, and a first call of `greet`; its memory
(PSS) after 300 calls, 24 at a time; and calls for each second of its processor's time, at 1 and 50 connections. The
anchor is a server with a single tool over HTTP on the SDK, stateless too, without tokens; the two take turns."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial

from tests.lab.bench.measuring import ONE_TOOL, Row, at_most, medians, memory_mib
from tests.support.client import HANDSHAKE, rpc
from tests.support.http_server import HttpServer, with_token
from tests.support.services import cpu_s

READY_RUNS = 7
ROUNDS = 5
ROUND_CALLS = 400
CALLS = 300
AT_ONCE = 24
ANCHOR = "one-tool server"
GREET = rpc("tools/call", {"name": "greet", "arguments": {"name": "Анна"}})
INITIALIZE = rpc("initialize", HANDSHAKE)


class OneTool(HttpServer):
    """The anchor; it takes any token."""

    def start(self):
        self.command = [*ONE_TOOL, str(self.port)]
        super().start()

    def token(self, *_, **__):
        return "none"


def rows():
    for what, request, promise in (("ready", INITIALIZE, 0.4), ("first call", GREET, 0.75)):
        sides = [partial(answered_ms, side, request) for side in (HttpServer, OneTool)]
        ours, anchor = medians(READY_RUNS, *sides)
        yield at_most(promise, f"{what}, over HTTP", ours, "ms", anchor, ANCHOR)
    with HttpServer() as server, OneTool() as other:
        ours, anchor = map(used_mib, (server, other))
        what = f"memory after {CALLS} calls, {AT_ONCE} at a time"
        yield at_most(0.55, what, ours, "MiB", anchor, ANCHOR)
        for what, count in (("1 connection", 1), ("50 connections", 50)):
            sides = [partial(per_cpu_second, side, count) for side in (server, other)]
            ours, anchor = medians(ROUNDS, *sides)
            what = f"calls a processor second, {what}"
            yield Row(what, ours, "", anchor, ANCHOR, "at least 1.7", ours >= 1.7 * anchor)


def answered_ms(side, request):
    """The time from the start until a request was answered."""
    server = side()
    began = time.perf_counter()
    with server:
        assert server.send(request, token=server.token(scope="server"))[0] == 200
        return (time.perf_counter() - began) * 1000


def used_mib(server):
    """The memory of a server after many calls."""
    token = server.token(scope="server")
    with ThreadPoolExecutor(AT_ONCE) as threads:
        list(threads.map(lambda _: greet(server, token, 1), range(CALLS)))
    return memory_mib(server.process.pid, "Pss")


def per_cpu_second(server, count):
    """Calls for each second of the processor's time that the server takes, over `count` open connections."""
    token = server.token(scope="server")
    before = cpu_s(server.process.pid)
    with ThreadPoolExecutor(count) as threads:
        list(threads.map(lambda _: greet(server, token, ROUND_CALLS // count), range(count)))
    return ROUND_CALLS // count * count / (cpu_s(server.process.pid) - before)


def greet(server, token, times):
    with closing(server.connection()) as connection:
        for _ in range(times):
            connection.request("POST", "/mcp", json.dumps(GREET), with_token(token))
            assert "Анна" in connection.getresponse().read().decode()
