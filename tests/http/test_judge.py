"""Our end of HTTP beside the SDK's own application over the same answers: every method, era, odd parameter,
header, body and length. `MIX_SESSIONS=5000` compares that many random sessions."""

import json
import os
import random
from itertools import product

import pytest

from tests.server.test_judge import (
    METHODS,
    NOT_COMPARED,
    PARAMS,
    ask,
    envelope,
    enveloped,
    session_of,
)
from tests.support.client import cases, json_lines, rpc
from tests.support.http_judge import USER, Judge, essence
from tests.support.http_memory import InMemory
from tools import protocol
from tools.core import calls

SESSIONS = int(os.environ.get("MIX_SESSIONS", "160"))
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
VERSION = "MCP-Protocol-Version"
UNSERVED = (*NOT_COMPARED[1:], protocol.LISTEN)
SESSION_IDS = [None, "x", "0" * 32, "0" * 32 + "-pages", ""]


in_both_eras = pytest.mark.parametrize("is_modern", [False, True], ids=["2025", "2026"])


class Beside:
    """Our server and the judge, which get the same requests."""

    def __init__(self, ours, judge):
        self.ours = ours
        self.judge = judge
        self.token = ours.token(user=USER, scope=" ".join(calls.scopes()))

    def answers(self, body, headers=(), **options):
        """What is compared of both answers to a request: ours, the judge's."""
        ours = self.ours.send(body, token=self.token, headers=headers, **options)
        return essence(ours), essence(self.judge.send(body, headers=headers, **options))

    def check(self, body, headers=(), **options):
        """Compare our answer to a request with the judge's, and return its status."""
        ours, theirs = self.answers(body, headers, **options)
        if theirs[0] >= 400 and not theirs[1]:
            # Ours is a JSON-RPC error even so, under the id if there is one.
            ours, theirs = ours[:1], theirs[:1]
        assert ours == theirs, (body, headers, options)
        return ours[0]


@pytest.fixture
def beside(env):
    """Both, with the settings of the environment."""
    env(MCP_HTTP_RATE=10**9)
    with InMemory() as ours, Judge() as judge:
        yield Beside(ours, judge)


def modern(message):
    """The headers of a request of the 2026 era."""
    method = message.get("method")
    params = message.get("params")
    headers = {VERSION: protocol.MODERN_VERSION, "Mcp-Method": str(method)}
    key = NAMED.get(method)
    if isinstance(params, dict) and key in params:
        headers["Mcp-Name"] = str(params[key])
    return headers


def in_era(is_modern, method, params):
    """A request of an era, and its headers."""
    if not is_modern:
        return rpc(method, params), {VERSION: "2025-06-18"}
    message = rpc(method, enveloped(params, envelope()))
    return message, modern(message)


@in_both_eras
def test_every_method_with_odd_params(beside, is_modern):
    unserved = UNSERVED[2:] if is_modern else UNSERVED
    statuses = {
        beside.check(*in_era(is_modern, method, params))
        for method, params in product(METHODS, PARAMS)
        if method not in unserved
    }
    assert statuses == ({200, 400, 404} if is_modern else {200, 400})
    listening = in_era(is_modern, protocol.LISTEN, {"notifications": {}})
    assert beside.check(*listening) == (404 if is_modern else 200)


# Of a request of the 2025 era, and of one of 2026: a header with another value; without a colon it is left out.
ODD_LINES = """\
Host
Host:
Host: evil.example
Host: 127.0.0.1.evil.example
Host: 127.0.0.1:1
Host: localhost:x
Origin:
Origin: null
Origin: https://evil.example
Origin: http://[
Origin: http://localhost
Origin: https://localhost:3
Content-Type
Content-Type:
Content-Type: text/plain
Content-Type: application/json; charset=utf-8
Content-Type: application/jso
Accept
Accept:
Accept: */*
Accept: text/html
Accept: application/json
Accept: text/event-stream
Accept: application/*, text/*
Accept: */*;q=0.1
Accept: text/event-stream;q=0.5 , Application/JSON
Accept: application/json,text/event-stream
Accept: application/jsonx, */x
MCP-Protocol-Version
MCP-Protocol-Version:
MCP-Protocol-Version: 1999-01-01
MCP-Protocol-Version: \xff
MCP-Protocol-Version: 2026-07-28\x20
Mcp-Method
Mcp-Method:
Mcp-Method: tools/call
Mcp-Method: TOOLS/LIST
Mcp-Method: =?base64?dG9vbHM=?=
Mcp-Name
Mcp-Name:
Mcp-Name: greet
Mcp-Name: Greet
Mcp-Name: =?base64?Z3JlZXQ=?=
Mcp-Name: =?base64?Z3JlZXR=?=
Mcp-Name: =?base64?%?=
Mcp-Name: =?base64?/w==?=
Mcp-Session-Id:
Mcp-Session-Id: x
Mcp-Session-Id: \xff
Last-Event-ID: 1
Mcp-Param-Name: x
Content-Encoding: gzip
Expect: x"""


def odd_header(line):
    name, colon, value = line.partition(":")
    return {name: value.removeprefix(" ") if colon else None}


ODD_HEADERS = [odd_header(line) for line in ODD_LINES.split("\n")]
ODD_HEADERS += [
    {VERSION: version} for version in (*protocol.HANDSHAKE_VERSIONS, protocol.MODERN_VERSION)
]
ODD_HEADERS.append({"Mcp-Session-Id": "0" * 5000})
NOTE = {"jsonrpc": "2.0", "method": "notifications/initialized"}
ASKED = json_lines("""
{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
{"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {"name": "greet", "arguments": {"name": "Pi"}}}
{"jsonrpc": "2.0", "id": 2, "method": "prompts/get", "params": {"name": "klipper_question", "arguments": {}}}
{"jsonrpc": "2.0", "id": 3, "method": "nonsense", "params": {}}
{"jsonrpc": "2.0", "method": "notifications/initialized"}
{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
""")


@in_both_eras
def test_odd_headers(beside, is_modern):
    statuses = set()
    for message, odd in product(ASKED, ODD_HEADERS):
        if "id" not in message and VERSION in odd:
            continue  # a difference that is meant
        headers = {}
        if is_modern:
            message = {**message, "params": {**message.get("params", {}), "_meta": envelope()}}
            headers = modern(message)
        statuses.add(beside.check(message, {**headers, **odd}))
    assert statuses == {200, 202, 400, 403, 404, 406, 421} - (set() if is_modern else {404})


def test_routing_headers_that_come_twice(beside):
    message = ask(1, "tools/call", name="greet", arguments={}, _meta=envelope())
    for header in modern(message).items():
        assert beside.check(message, modern(message), again=[header]) == 400


# What changes a good request as text, once: the part and what is in its place (“” for nothing).
CHANGES = r"""
"2.0" | "1.0"
"2.0" | 2
"2.0" | null
"jsonrpc": "2.0", | “”
"tools/list" | 7
"tools/list" | null
"tools/list" | []
"method": "tools/list", | “”
, "params" | , "odd": 1, "params"
"params" | "params": {}, "params"
"params" | "other"
"id": 1 | "id": 0
"id": 1 | "id": -1
"id": 1 | "id": "a"
"id": 1 | "id": ""
"id": 1 | "id": "й"
"id": 1 | "id": 1099511627776
"id": 1 | "id": 1152921504606846976
{ | {,
{ | {"odd": 1e999,
{ | {"odd": -0,
{ | {"odd": 1.,
{ | {"odd": 01,
"""
# The SDK's ids of the 2025 era differ: those that are none are a difference that is meant.
ODD_IDS = """
"id": 1 | "id": 1.5
"id": 1 | "id": true
"id": 1 | "id": null
"id": 1 | "id": []
"id": 1 | "id": {}
"""
OTHERS = json_lines("""
[]
5
"x"
null
true
{}
{"jsonrpc": "2.0", "id": 7, "error": {}}
{"jsonrpc": "2.0", "id": [], "result": {}}
""")
BYTES = [b"", b" ", b"garbage", b"{}", b"null", b"[" * 1000, b"\xff", b'{"a":' * 100_000]


@in_both_eras
def test_odd_messages(beside, is_modern):
    good, headers = in_era(is_modern, "tools/list", {})
    text = json.dumps(good)
    bodies = [[good], [good, good], *OTHERS, *BYTES]
    changes = cases(CHANGES)
    if is_modern:
        changes += cases(ODD_IDS)
    for part, new in changes:
        assert part in text
        bodies.append(text.replace(part, new.strip("“”"), 1).encode())
    for odd in (text[:-1], text + "}", "\0" + text, f"\r\n {text} \n", text.replace("{", "{ \n")):
        bodies.append(odd.encode())
    bodies.append(text.replace("{", '{"odd": %s,' % ("1" * 400), 1).encode())
    bodies.append(text.encode("utf-16-le")[1:])
    assert {beside.check(body, headers) for body in bodies} == {200, 400}


@in_both_eras
def test_bodies_of_every_length_and_cut(beside, is_modern):
    good, headers = in_era(is_modern, "tools/list", {})
    text = json.dumps(good).encode()
    chunked = {**headers, "Content-Length": None, "Transfer-Encoding": "chunked"}
    singly = [bytes([byte]) for byte in text]
    for parts in ([text], [text[:9], text[9:]], singly, [text, b""], [b"", b"", text]):
        assert beside.check(None, headers, parts=parts) == 200
        assert beside.check(None, chunked, parts=parts) == 200
    for length, status in ((4 * 2**20, 200), (4 * 2**20 + 1, 413)):
        body = text.ljust(length)
        assert beside.check(body, headers) == status
        assert (
            beside.check(None, chunked, parts=[body[:9], body[9 : 2**20], body[2**20 :]]) == status
        )


def requests_of(chance):
    """The requests of a client, and their headers: most of them as the protocol allows."""
    requests = [message for message in session_of(chance) if "id" in message]
    is_modern = requests[0]["method"] == "server/discover"
    shared = {"Mcp-Session-Id": chance.choice(SESSION_IDS)}
    if not is_modern:
        shared[VERSION] = chance.choice([None, *protocol.HANDSHAKE_VERSIONS])
    for message in requests:
        headers = shared | modern(message) if is_modern else shared
        if chance.random() < 0.2:
            headers = headers | chance.choice(ODD_HEADERS)
        if message["method"] not in UNSERVED:
            yield message, headers


@pytest.mark.parametrize("part", range(8))
def test_random_sessions_whose_bodies_are_cut_at_random(beside, part):
    for seed in range(part, SESSIONS, 8):
        chance = random.Random(seed)
        for message, headers in requests_of(chance):
            text = json.dumps(message, ensure_ascii=False).encode()
            if chance.random() < 0.1:
                text = text[: chance.randrange(len(text))]
            place = chance.randrange(len(text) + 1)
            beside.check(None, headers, parts=[text[:place], text[place:]])


GOOD = ask(1, "tools/list")
MODERN = ask(1, "tools/list", _meta=envelope())
TEXT = json.dumps(MODERN)
HOME = ("Origin", "http://localhost")
DIFFERENCES = [
    (TEXT.encode("utf-16"), modern(MODERN), {}, (400, 200)),
    (TEXT.encode("utf-8-sig"), modern(MODERN), {}, (400, 200)),
    (GOOD, {"Content-Type": "Application/JSON"}, {}, (200, 415)),
    (MODERN, {**modern(MODERN), "Content-Type": "application/json-seq"}, {}, (400, 200)),
    (GOOD, {"Host": "LocalHost"}, {}, (200, 421)),
    (GOOD, {"Origin": "HTTP://LocalHost"}, {}, (200, 403)),
    (NOTE, {VERSION: "1999-01-01"}, {}, (202, 400)),
    ({"jsonrpc": "2.0", "id": 1, "result": {}}, modern(GOOD), {}, (202, 400)),
    ({**GOOD, "id": 1.5}, {}, {}, (400, 202)),
    ({**GOOD, "id": None}, {}, {}, (400, 202)),
    (GOOD, {VERSION: "2025-06-18"}, {"again": [(VERSION, "2025-06-18")]}, (400, 200)),
    (GOOD, dict([HOME]), {"again": [HOME]}, (403, 200)),
]


def test_the_differences_that_are_meant(beside):
    """First our status, then the judge's. Ours takes no text that is not UTF-8 (RFC 8259), takes names of
    hosts and media types in any case, and refuses in both eras what one of them refuses: an id that is none,
    a header that comes twice. What needs no answer is taken, whatever its era."""
    for body, headers, options, statuses in DIFFERENCES:
        ours, theirs = beside.answers(body, headers, **options)
        assert (ours[0], theirs[0]) == statuses, (body, headers, options)
