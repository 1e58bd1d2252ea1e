"""Over HTTP: from spawning the server until it answered `initialize`, and calls of `greet` for each second of
the server's processor time, at 1 and 50 connections. The anchor is a server with a single tool over HTTP on
the same SDK, stateless too, without tokens; the two take turns."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

from tests.lab.bench.measuring import ONE_TOOL, Row, medians
from tests.support.client import HANDSHAKE, HEADERS
from tests.support.http_server import HttpServer
from tests.support.services import cpu_s

READY_RUNS, ROUNDS, ROUND_CALLS = 7, 5, 400
ANCHOR = "one-tool server"
GREET = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "greet", "arguments": {"name": "Анна"}},
}
INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HANDSHAKE}


class OneTool(HttpServer):
    """The anchor; it takes any token."""

    def start(self) -> None:
        self.command = [*ONE_TOOL, str(self.port)]
        super().start()

    def token(self, *_: object, **__: object) -> str:
        return "none"


def rows() -> Iterator[Row]:
    ours, anchor = medians(READY_RUNS, lambda: ready_ms(HttpServer()), lambda: ready_ms(OneTool()))
    yield Row("ready, over HTTP", ours, "ms", anchor, ANCHOR)
    with HttpServer() as server, OneTool() as other:
        for what, count in (("1 connection", 1), ("50 connections", 50)):
            sides = [lambda side=side, count=count: per_cpu_second(side, count) for side in (server, other)]
            ours, anchor = medians(ROUNDS, *sides)
            what = f"calls a processor second, {what}"
            yield Row(what, ours, "", anchor, ANCHOR, "at least 0.85", ours >= 0.85 * anchor)


def ready_ms(server: HttpServer) -> float:
    began = time.perf_counter()
    with server:
        assert server.send(INITIALIZE, token=server.token())[0] == 200
        return (time.perf_counter() - began) * 1000


def per_cpu_second(server: HttpServer, count: int) -> float:
    """Calls for each second of the processor's time that the server takes, over `count` open connections."""
    token, before = server.token(), cpu_s(server.process.pid)
    with ThreadPoolExecutor(count) as threads:
        list(threads.map(lambda _: greet(server, token, ROUND_CALLS // count), range(count)))
    return ROUND_CALLS // count * count / (cpu_s(server.process.pid) - before)


def greet(server: HttpServer, token: str, times: int) -> None:
    body, headers = json.dumps(GREET), {**HEADERS, "Authorization": f"Bearer {token}"}
    with closing(server.connection()) as connection:
        for _ in range(times):
            connection.request("POST", "/mcp", body, headers)
            assert "Анна" in connection.getresponse().read().decode()
