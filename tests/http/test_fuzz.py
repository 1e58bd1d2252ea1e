"""Random requests over HTTP: headers, bodies and tokens that are nearly right. `FUZZ_HTTP=20000` sends that
many."""

import json
import os
import random
import select
import socket
from collections import Counter
from urllib.parse import urlencode

import pytest

from tests.http.test_sign_in import BACK, VERIFIER, Person
from tests.support.client import LIST, TIMEOUT_S
from tests.support.fuzzer import damaged
from tests.support.http_memory import InMemory
from tests.support.http_server import HttpServer

pytestmark = pytest.mark.slow

COUNT = int(os.environ.get("FUZZ_HTTP", "400"))
SEED = int(os.environ.get("FUZZ_SEED", "17"))
# After so long without an answer no more is sent, since the server may be waiting for more.
INCOMPLETE_S = 0.1
ODD = json.loads('[null, true, -1, 1e99, "", [], {}, [[[]]], {"a": {"b": []}}, "../..", ["x"]]')
# Whatever comes beside the lines of a good request.
LINES = [b"Transfer-Encoding: chunked", b"Upgrade: websocket", b": empty", b" folded"]
LINES += [b"Expect: 100-continue", b"X: " + b"y" * 9000, b"X: y\r\n" * 200]
PARTS = """x code S256 plain refresh_token authorization_code javascript:x https://[ \U0001f600 %00 https://127.0.0.1/c
"><script> &resource=x {}""".split()
PARTS += ["", "\0", "\r\nX: y", "Bearer x", "a" * 9000, "[" * 9000]


def test_fuzzed_requests_are_refused_or_right_and_the_next_good_one_is_served():
    chance = random.Random(SEED)
    statuses = Counter()
    with HttpServer() as server:
        token = server.token()
        for number in range(COUNT):
            statuses[status(server, fuzzed(chance, token))] += 1
            if number % 100 == 99:
                assert server.listed(token) == 200
        assert all(status < 500 for status in statuses)
        assert {200, 400, 401} <= set(statuses)
        assert "Traceback" not in server.log()


def test_fuzzed_sign_ins_are_refused_or_right(env):
    env(MCP_HTTP_URL="https://pi.example/mcp")
    chance = random.Random(SEED)
    statuses = Counter()
    with InMemory() as server:
        person = Person(server)
        for _ in range(COUNT):
            method, path, query, body = odd_sign_in(chance, person)
            host = chance.choice(["pi.example"] * 9 + ["evil"])
            status, headers, text = person.send(method, path, body, query, Host=host)
            statuses[path, status] += 1
            assert status < 500
            if status in (200, 303) and path == "/authorize":
                assert b"<script>" not in text
                assert headers.get("location", BACK).startswith("https://claude.example/")
        assert person.signed_in()["access_token"]
    for good in (("/authorize", 303), ("/authorize", 200), ("/token", 200), ("/register", 201)):
        assert statuses[good]


def odd_sign_in(chance, person):
    """A request to one of the endpoints of the sign-in, with some of its fields changed."""
    path = chance.choice(["/authorize", "/authorize", "/token", "/token", "/register"])
    method = chance.choice([*["POST"] * 9, *["GET"] * 4, "\u00e9"])
    secret = "x"
    if chance.random() < 0.2:
        secret = person.server.invited() if path == "/authorize" else person.code()
    grant = chance.choice(["authorization_code", "refresh_token"])
    fields = {**person.asked(), "code": secret, "refresh_token": secret, "grant_type": grant}
    fields |= {"code_verifier": VERIFIER, "redirect_uris": [BACK], "client_name": "x"}
    for _ in range(chance.choice([0, 0, 1, 2, 3])):
        fields[chance.choice([*fields, "scope", "lang"])] = chance.choice([*PARTS, ODD])
    text = json.dumps(fields) if path == "/register" else urlencode(fields)
    if chance.random() < 0.2:
        place = chance.randrange(len(text) + 1)
        text = text[:place] + chance.choice(PARTS) + text[place + chance.randrange(9) :]
    if method == "GET":
        return method, path, text, b""
    return method, path, "", text.encode(errors="replace")


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


def fuzzed(chance, token):
    """The bytes of a good request, most of the time with some damage in its lines, its body or both."""
    body = json.dumps(LIST).encode()
    if chance.random() < 0.3:
        body = damaged(chance, body)
    lines = [
        b"POST /mcp HTTP/1.1",
        b"Host: localhost",
        b"Content-Type: application/json",
        b"Accept: application/json, text/event-stream",
        b"Authorization: Bearer " + token.encode()[: chance.choice([None, None, -1])],
        b"Content-Length: %d" % len(body),
    ]
    if chance.random() < 0.3:
        lines.append(chance.choice([*LINES, *lines]))
    head = b"\r\n".join(lines)
    for _ in range(chance.choice([0, 0, 1, 3])):
        head = damaged(chance, head)
    return head + b"\r\n\r\n" + body
