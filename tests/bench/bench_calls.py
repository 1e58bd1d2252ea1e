"""A call of `greet` in a session that is open, from writing the request until its answer is read. The anchor is the
tool of the same name of a server with a single tool on the same SDK; the two take turns."""

import statistics
import time
from collections.abc import Iterator

from tests.bench.processes import COLD, ONE_TOOL, installed
from tests.bench.rows import Row
from tests.support.client import Client
from tests.support.services import Service

ROUNDS = 500


def rows() -> Iterator[Row]:
    with Service(COLD[:2]) as service, Client(ONE_TOOL) as anchor:
        anchor.initialize()
        for name, command in (("cold", COLD), ("through the service", installed())):
            with service.caller(command) as client:
                client.initialize()
                client.request("tools/list")
                yield row(f"a call, {name}", client, anchor)


def row(what: str, client: Client, anchor: Client) -> Row:
    pairs = [(greet_ms(client), greet_ms(anchor)) for _ in range(ROUNDS)]
    ours, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
    return Row(what, ours, "ms", theirs, "one-tool server")


def greet_ms(client: Client) -> float:
    began = time.perf_counter()
    assert "Анна" in client.call("greet", name="Анна")["content"][0]["text"]
    return (time.perf_counter() - began) * 1000
