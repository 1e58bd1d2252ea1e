"""Random requests over HTTP: headers, bodies and tokens that are nearly right. `FUZZ_HTTP=20000` sends that many."""

import base64
import json
import os
import random
import select
import socket
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.support.client import ENVELOPE, HANDSHAKE, TIMEOUT_S
from tests.support.http_server import HttpServer

COUNT = int(os.environ.get("FUZZ_HTTP", "400"))
SEED = int(os.environ.get("FUZZ_SEED", "17"))
MOST_CPU_S = 1.0
"""Processor time of the server for a request: what it takes on a busy machine says nothing."""
INCOMPLETE_S = 0.1
"""After so long without an answer no more is sent, since the server may be waiting for more."""
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
CALL = {"name": "greet", "arguments": {"name": "Ada"}}
MESSAGES = [
    LIST,
    {"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": CALL},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "get_user_snapshot", "arguments": {}}},
    {"jsonrpc": "2.0", "id": 3, "method": "initialize", "params": HANDSHAKE},
    {
        "jsonrpc": "2.0",
        "id": 4,
        "method": "prompts/get",
        "params": {"name": "free_request", "arguments": {"text": "x"}},
    },
    {"jsonrpc": "2.0", "id": 5, "method": "resources/read", "params": {"uri": "onepercent://today"}},
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
    {"jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": {**CALL, "_meta": ENVELOPE}},
    {"jsonrpc": "2.0", "id": 7, "method": "server/discover", "params": {"_meta": ENVELOPE}},
]
ODD = [
    None,
    True,
    -1,
    2**70,
    1.5,
    "",
    "\ud800",
    "x" * 5000,
    [],
    {},
    [[[]]],
    {"a": {"b": []}},
    "notifications/x",
    "../..",
]
LINES = [
    b"MCP-Protocol-Version: 2026-07-28",
    b"MCP-Protocol-Version: 2025-06-18",
    b"MCP-Protocol-Version: \xff",
    b"Mcp-Method: tools/call",
    b"Mcp-Name: greet",
    b"Mcp-Session-Id: 1",
    b"Mcp-Session-Id: " + b"0" * 32 + b"-pages",
    b"Last-Event-ID: 1",
    b"Expect: 100-continue",
    b"Transfer-Encoding: chunked",
    b"Content-Length: 0",
    b"Content-Encoding: gzip",
    b"Upgrade: websocket",
    b"Connection: close",
    b"Origin: null",
    b"X: " + b"y" * 9000,
    b": empty",
    b" folded",
]


@pytest.fixture
def server():
    with HttpServer() as running:
        yield running


def test_fuzzed_requests_are_refused_or_right_and_the_next_good_one_is_served(server):
    chance, statuses, most_cpu_s, slowest_s = random.Random(SEED), Counter(), 0.0, 0.0
    token = server.token()
    for number in range(COUNT):
        request = fuzzed(chance, server, token)
        used_s, began = cpu_s(server), time.monotonic()
        statuses[status(server, request)] += 1
        slowest_s = max(slowest_s, time.monotonic() - began)
        most_cpu_s = max(most_cpu_s, cpu_s(server) - used_s)
        assert most_cpu_s < MOST_CPU_S, request
        if number % 100 == 99:
            assert server.send(LIST, token=token)[0] == 200
    print(f"{COUNT} requests, answered {dict(sorted(statuses.items()))} (0: an incomplete one, closed)")
    print(f"the most of the processor's time for one: {most_cpu_s:.2f} s; the slowest took {slowest_s:.2f} s")
    assert server.send(LIST, token=token)[0] == 200
    assert all(status < 500 for status in statuses)
    assert {200, 400, 401, 405} <= set(statuses)
    assert "Traceback" not in server.log()


def cpu_s(server):
    fields = Path(f"/proc/{server.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def status(server, request):
    """The status of the answer to a request of these bytes; 0 if the connection ends without one."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT_S) as connection:
        try:
            connection.sendall(request)
            if not select.select([connection], [], [], INCOMPLETE_S)[0]:
                connection.shutdown(socket.SHUT_WR)
            line = connection.recv(12)
        except (BrokenPipeError, ConnectionResetError):
            return 0
    return int(line[9:12]) if line else 0


def fuzzed(chance, server, token):
    """The bytes of a good request with some things changed: each layer half of the time."""
    message = json.loads(json.dumps(chance.choice(MESSAGES)))
    if chance.random() < 0.5:
        change_message(chance, message)
    body = bytearray(json.dumps(message).encode())
    if chance.random() < 0.3:
        change_bytes(chance, body)
    if chance.random() < 0.3:
        token = changed_token(chance, token)
    lines = [
        b"POST /mcp HTTP/1.1",
        b"Host: localhost",
        b"Content-Type: application/json",
        b"Accept: application/json, text/event-stream",
        b"Authorization: Bearer " + token.encode("utf-8", "surrogatepass"),
        b"Content-Length: %d" % len(body),
    ]
    if "_meta" in message.get("params", {}) if isinstance(message.get("params"), dict) else False:
        lines += [
            b"MCP-Protocol-Version: 2026-07-28",
            b"Mcp-Method: " + str(message.get("method")).encode("ascii", "replace"),
        ]
    if chance.random() < 0.5:
        change_lines(chance, lines)
    return b"\r\n".join(lines) + b"\r\n\r\n" + bytes(body)


def change_message(chance, message):
    """Put something odd at one place of a message, or take that away."""
    place = message
    while True:
        key = chance.choice(list(place))
        if isinstance(place[key], dict) and place[key] and chance.random() < 0.7:
            place = place[key]
            continue
        break
    match chance.randrange(4):
        case 0:
            del place[key]
        case 1:
            place[chance.choice(["id", "method", "params", "cursor", "_meta", "x\x00"])] = chance.choice(ODD)
        case _:
            place[key] = chance.choice(ODD)


def change_bytes(chance, body):
    for _ in range(chance.randrange(1, 4)):
        place = chance.randrange(len(body) + 1)
        match chance.randrange(4):
            case 0:
                body[place : place + chance.randrange(20)] = b""
            case 1:
                body[place:place] = chance.randbytes(chance.randrange(30))
            case 2:
                body[place:place] = b"[" * chance.choice([1, 100, 100_000])
            case 3:
                body[place : place + 1] = bytes([chance.randrange(256)])


def changed_token(chance, token):
    header, payload, signature = token.split(".")
    match chance.randrange(7):
        case 0:
            header = encoded({"alg": chance.choice(["none", "HS512", "RS256", "", None, 7]), "typ": "JWT"})
        case 1:
            claims = json.loads(base64.urlsafe_b64decode(payload + "=="))
            claims[chance.choice([*claims, "nbf", "crit"])] = chance.choice(ODD)
            payload = encoded(claims)
        case 2:
            signature = chance.choice(["", "=", signature[:-1], signature + "A", signature[::-1], "é"])
        case 3:
            return chance.choice(["", ".", "..", "...", "a.b.c", " ", "\x00", "x" * 20_000, f"{token} {token}"])
        case 4:
            place = chance.randrange(len(token))
            return token[:place] + chr(chance.randrange(33, 300)) + token[place + 1 :]
        case 5:
            return ".".join(chance.sample([header, payload, signature], 3))
        case 6:
            header = encoded({"alg": "HS256", "crit": ["x"], "x": 1})
    return f"{header}.{payload}.{signature}"


def encoded(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def change_lines(chance, lines):
    for _ in range(chance.randrange(1, 4)):
        place = chance.randrange(len(lines) + 1)
        match chance.randrange(7):
            case 0:
                del lines[place : place + 1]
            case 1:
                lines.insert(place, chance.randbytes(chance.randrange(30)))
            case 2:
                lines[place : place + 1] = [changed(chance, line) for line in lines[place : place + 1]]
            case 3:
                lines.append(chance.choice(LINES))
            case 4:
                lines.append(chance.choice(lines) if lines else b"")
            case 5:
                method = chance.choice([b"GET", b"DELETE", b"OPTIONS", b"PRI", b"post", b"CONNECT", b"HEAD"])
                path = chance.choice(
                    [b"/mcp", b"/mcp/", b"/", b"*", b"/mcp?token=x", b"/%2e%2e/mcp", b"http://x/mcp", b"//mcp"]
                )
                lines[:1] = [method + b" " + path + chance.choice([b" HTTP/1.1", b" HTTP/1.0", b" HTTP/2.0", b""])]
            case 6:
                lines[place:place] = chance.choices(LINES, k=chance.choice([1, 3, 200]))


def changed(chance, line):
    line = bytearray(line or b"x")
    line[chance.randrange(len(line))] = chance.randrange(256)
    return bytes(line)
