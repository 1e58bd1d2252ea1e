"""Over HTTP: from spawning the server until it answered `initialize`, and calls of `greet` for each second of the
server's processor time, at 1 and 50 connections. The anchor is a server with a single tool over HTTP on the same SDK,
stateless too, without tokens; the two take turns."""

import http.client
import json
import statistics
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from tests.lab.bench.processes import cpu_s
from tests.lab.bench.rows import Row
from tests.support.client import HANDSHAKE, HEADERS, PROJECT
from tests.support.http_server import HttpServer

READY_RUNS, ROUNDS, ROUND_CALLS = 7, 5, 400
CONNECTIONS = (1, 50)
ANCHOR = "one-tool server"
GREET = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "greet", "arguments": {"name": "Анна"}}}
INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HANDSHAKE}


class OneTool(HttpServer):
    """The anchor; it takes any token."""

    def start(self) -> None:
        server = PROJECT / "tests" / "lab" / "bench" / "one_tool_http_server.py"
        self.command = [sys.executable, str(server), str(self.port)]
        super().start()

    def token(self, *_: object, **__: object) -> str:
        return "none"


def rows() -> Iterator[Row]:
    yield ready()
    with HttpServer() as ours, OneTool() as anchor:
        for count in CONNECTIONS:
            yield calls(ours, anchor, count)


def ready() -> Row:
    pairs = [(ready_ms(HttpServer()), ready_ms(OneTool())) for _ in range(READY_RUNS)]
    ours, anchor = (statistics.median(column) for column in zip(*pairs, strict=True))
    return Row("ready, over HTTP", ours, "ms", anchor, ANCHOR)


def ready_ms(server: HttpServer) -> float:
    began = time.perf_counter()
    with server:
        assert server.send(INITIALIZE, token=server.token())[0] == 200
        return (time.perf_counter() - began) * 1000


def calls(ours: HttpServer, anchor: HttpServer, count: int) -> Row:
    pairs = [(per_cpu_second(ours, count), per_cpu_second(anchor, count)) for _ in range(ROUNDS)]
    rate, anchor_rate = (statistics.median(column) for column in zip(*pairs, strict=True))
    what = f"calls a processor second, {count} connection{'s' * (count > 1)}"
    return Row(what, rate, "", anchor_rate, ANCHOR, "at least 0.9", rate >= 0.9 * anchor_rate)


def per_cpu_second(server: HttpServer, count: int) -> float:
    """Calls for each second of the processor's time that the server takes, over `count` open connections."""
    token, before = server.token(), cpu_s(server.process.pid)
    with ThreadPoolExecutor(count) as threads:
        list(threads.map(lambda _: greet(server, token, ROUND_CALLS // count), range(count)))
    return ROUND_CALLS // count * count / (cpu_s(server.process.pid) - before)


def greet(server: HttpServer, token: str, times: int) -> None:
    connection, body = server.connection(), json.dumps(GREET)
    headers = {**HEADERS, "Authorization": f"Bearer {token}"}
    for _ in range(times):
        connection.request("POST", "/mcp", body, headers)
        assert "Анна" in answer(connection)
    connection.close()


def answer(connection: http.client.HTTPConnection) -> str:
    return connection.getresponse().read().decode()
