"""Our end of HTTP beside the SDK's own application over the same answers: every method, era, odd parameter,
header, body and length. `MIX_SESSIONS=5000` compares that many random sessions."""

import json
import os
import random
from contextlib import ExitStack
from itertools import product

import pytest

from tests.server.test_judge import (
    CAPABILITIES,
    HANDSHAKES,
    IDS,
    INFOS,
    LISTS,
    METHODS,
    PARAMS,
    SETTINGS,
    VERSIONS,
    ask,
    envelope,
    initialize,
)
from tests.server.test_judge import session_of as messages_of
from tests.support.http_judge import USER, Judge, essence
from tests.support.http_memory import InMemory
from tools import protocol
from tools.core import calls

SESSIONS = int(os.environ.get("MIX_SESSIONS", "160"))
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
VERSION = "MCP-Protocol-Version"
# The SDK looks at their params before it says that it does not have them: the first two in the era of 2025.
UNSERVED = ("logging/setLevel", "resources/subscribe", protocol.LISTEN)
SESSION_IDS = [None, "x", "0" * 32, "0" * 32 + "-pages", ""]


in_both_eras = pytest.mark.parametrize("is_modern", [False, True], ids=["2025", "2026"])


class Beside:
    """Ours and the judge, asked the same."""

    def __init__(self, ours, judge):
        self.ours, self.judge = ours, judge
        self.token = ours.token(user=USER, scope=" ".join(calls.scopes()))

    def check(self, body, headers=(), **options):
        """Hold our answer to one request against the judge's; gives its status."""
        theirs = essence(self.judge.send(body, headers=headers, **options))
        ours = essence(self.ours.send(body, token=self.token, headers=headers, **options))
        if (
            theirs[0] >= 400 and not theirs[1]
        ):  # ours is a JSON-RPC error even so, under the id if there is one
            ours, theirs = ours[:1], theirs[:1]
        assert ours == theirs, (body, headers, options)
        return ours[0]

    def statuses(self, body, headers=(), **options):
        """The statuses of both, where a difference is meant."""
        ours = self.ours.send(body, token=self.token, headers=headers, **options)
        return ours[0], self.judge.send(body, headers=headers, **options)[0]


@pytest.fixture
def beside(env):
    env(MCP_HTTP_RATE=10**9, ONEPERCENT_RATE_LIMIT="off", ONEPERCENT_TZ="UTC")
    with ExitStack() as running:
        yield Beside(*map(running.enter_context, (InMemory(), Judge())))


def modern(message, **changes):
    """The headers of a request of the 2026 era; a change of None leaves one out."""
    params = message.get("params")
    headers = {VERSION: protocol.MODERN_VERSION, "Mcp-Method": str(message.get("method"))}
    key = NAMED.get(message.get("method"))
    if isinstance(params, dict) and key in params:
        headers["Mcp-Name"] = str(params[key])
    return {**headers, **{name.replace("_", "-"): value for name, value in changes.items()}}


def in_era(is_modern, method, params, request_id=1):
    """A request of an era, and its headers."""
    if is_modern and isinstance(params, dict) and isinstance(params.get("_meta", {}), dict):
        params = {**params, "_meta": envelope() | params.get("_meta", {})}
    message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
    return message, modern(message) if is_modern else {VERSION: "2025-06-18"}


@in_both_eras
def test_every_method_with_odd_params(beside, is_modern):
    statuses = set()
    for method, params in product(METHODS, PARAMS):
        if method not in UNSERVED[2 * is_modern :]:
            statuses.add(beside.check(*in_era(is_modern, method, params)))
    assert statuses == ({200, 400, 404} if is_modern else {200, 400})
    assert beside.check(*in_era(is_modern, protocol.LISTEN, {"notifications": {}})) == (
        404 if is_modern else 200
    )


def test_handshakes_of_every_version_capability_and_client(beside):
    for version, capabilities in HANDSHAKES:
        beside.check(initialize(version, capabilities))
    for info in INFOS:
        beside.check(initialize(info=info))


def test_the_2026_era_with_every_capability_client_and_version(beside):
    metas = [envelope(capabilities) for capabilities in CAPABILITIES]
    metas += [envelope(info=info) for info in INFOS]
    metas += [envelope(version=version) for version in VERSIONS if isinstance(version, str)]
    metas += [
        {key: value for key, value in envelope().items() if key != name} for name in envelope()
    ]
    for meta, method in product(metas, ("server/discover", "tools/list")):
        message = ask(1, method, _meta=meta)
        beside.check(message, modern(message))


@pytest.mark.parametrize("values", SETTINGS, ids=str)
def test_every_setting_that_shapes_the_lists(env, values):
    env(MCP_HTTP_RATE=10**9, **values)
    with InMemory() as ours, Judge() as judge:
        beside = Beside(ours, judge)
        for method, session_id in product(LISTS, SESSION_IDS):
            assert beside.check(ask(1, method), {"Mcp-Session-Id": session_id}) == 200
        for method, capabilities in product((*LISTS, "server/discover"), CAPABILITIES[:8]):
            message = ask(1, method, _meta=envelope(capabilities))
            assert beside.check(message, modern(message)) == 200


# Of a request of the 2025 era, and of one of 2026: a header with another value, or without one.
ODD_HEADERS = [
    {"Host": value}
    for value in ("", "evil.example", "127.0.0.1.evil.example", "127.0.0.1:1", "localhost:x", None)
]
ODD_HEADERS += [
    {"Origin": value}
    for value in (
        "null",
        "https://evil.example",
        "http://[",
        "http://localhost",
        "https://localhost:3",
        "",
    )
]
ODD_HEADERS += [
    {"Content-Type": value}
    for value in (
        None,
        "",
        "text/plain",
        "application/json; charset=utf-8",
        "application/jso",
    )
]
ODD_HEADERS += [
    {"Accept": value}
    for value in (
        None, "", "*/*", "text/html", "application/json", "text/event-stream", "application/*, text/*", "*/*;q=0.1",
        "text/event-stream;q=0.5 , Application/JSON", "application/json,text/event-stream", "application/jsonx, */x",
    )
]  # fmt: skip
ODD_HEADERS += [
    {VERSION: value}
    for value in (
        None,
        "",
        *protocol.HANDSHAKE_VERSIONS,
        protocol.MODERN_VERSION,
        "1999-01-01",
        "\xff",
        "2026-07-28 ",
    )
]
ODD_HEADERS += [
    {"Mcp-Method": value} for value in (None, "", "tools/call", "TOOLS/LIST", "=?base64?dG9vbHM=?=")
]
ODD_HEADERS += [
    {"Mcp-Name": value}
    for value in (
        None,
        "",
        "greet",
        "Greet",
        "=?base64?Z3JlZXQ=?=",
        "=?base64?Z3JlZXR=?=",
        "=?base64?%?=",
        "=?base64?/w==?=",
    )
]
ODD_HEADERS += [{"Mcp-Session-Id": value} for value in ("", "x", "0" * 5000, "\xff")]
ODD_HEADERS += [
    {"Last-Event-ID": "1"},
    {"Mcp-Param-Name": "x"},
    {"Content-Encoding": "gzip"},
    {"Expect": "x"},
]
NOTE = {"jsonrpc": "2.0", "method": "notifications/initialized"}
ASKED = [
    ask(1, "tools/list"),
    ask("a", "tools/call", name="greet", arguments={"name": "Pi"}),
    ask(2, "prompts/get", name="klipper_question", arguments={}),
    ask(3, "nonsense"),
    NOTE,
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
]


@in_both_eras
def test_odd_headers(beside, is_modern):
    statuses = set()
    for message, odd in product(ASKED, ODD_HEADERS):
        if "id" not in message and VERSION in odd:
            continue  # a difference that is meant
        if is_modern:
            message = {**message, "params": {**message.get("params", {}), "_meta": envelope()}}
        headers = modern(message) if is_modern else {}
        statuses.add(beside.check(message, {**headers, **odd}))
    assert statuses == {200, 202, 400, 403, 404, 406, 421} - (set() if is_modern else {404})


def test_routing_headers_that_come_twice(beside):
    message = ask(1, "tools/call", name="greet", arguments={}, _meta=envelope())
    for name, value in modern(message).items():
        assert beside.check(message, modern(message), again=[(name, value)]) == 400


@in_both_eras
def test_odd_messages(beside, is_modern):
    good, headers = in_era(is_modern, "tools/list", {})
    text = json.dumps(good).encode()
    bodies = [
        {**good, "id": request_id}
        for request_id in IDS
        if is_modern or type(request_id) in (int, str)
    ]
    bodies += [{**good, "jsonrpc": value} for value in ("1.0", 2, None)]
    bodies += [{**good, "method": value} for value in (7, None, [])]
    bodies += [
        {name: good[name] for name in good if name != missing}
        for missing in ("jsonrpc", "params", "method")
    ]
    bodies += [{**good, "odd": 1}, [good], [], [good, good], 5, "x", None, True, {}]
    bodies += [{"jsonrpc": "2.0", "id": 7, "error": {}}, {"jsonrpc": "2.0", "id": [], "result": {}}]
    bodies += [
        b"",
        b" ",
        b"garbage",
        b"{}",
        b"null",
        b"[" * 1000,
        text[:-1],
        text + b"}",
        b"\0" + text,
        b"\xff",
    ]
    bodies += [
        b"\r\n " + text + b" \n",
        text.replace(b"{", b"{ \n", 1),
        json.dumps(good).encode("utf-16-le")[1:],
    ]
    bodies += [
        text.replace(b'"params"', b'"params": {}, "params"'),
        b'{"a":' * 100_000,
        text.replace(b"{", b"{,", 1),
    ]
    bodies += [
        text[:1] + b'"odd": %b,' % value + text[1:]
        for value in (b"1e999", b"-0", b"1.", b"01", b"1" * 400)
    ]
    statuses = {beside.check(body, headers) for body in bodies}
    assert statuses == {200, 400}


@in_both_eras
def test_bodies_of_every_length_and_cut(beside, is_modern):
    good, headers = in_era(is_modern, "tools/list", {})
    text = json.dumps(good).encode()
    chunked = {**headers, "Content-Length": None, "Transfer-Encoding": "chunked"}
    for parts in (
        [text],
        [text[:9], text[9:]],
        [bytes([byte]) for byte in text],
        [text, b""],
        [b"", b"", text],
    ):
        assert beside.check(None, headers, parts=parts) == 200
        assert beside.check(None, chunked, parts=parts) == 200
    for length, status in ((4 * 2**20, 200), (4 * 2**20 + 1, 413)):
        assert beside.check(text.ljust(length), headers) == status
        assert (
            beside.check(
                None, chunked, parts=[text, b" " * 2**20, b" " * (length - 2**20 - len(text))]
            )
            == status
        )


def session_of(chance):
    """The requests of a client, and their headers: most of them as the protocol allows."""
    requests = [message for message in messages_of(chance) if "id" in message]
    is_modern = requests[0]["method"] == "server/discover"
    shared = {"Mcp-Session-Id": chance.choice(SESSION_IDS)}
    if not is_modern:
        shared[VERSION] = chance.choice([None, *protocol.HANDSHAKE_VERSIONS])
    for message in requests:
        headers = {**shared, **(modern(message) if is_modern else {})}
        if chance.random() < 0.2:
            headers |= chance.choice(ODD_HEADERS)
        if message["method"] not in UNSERVED:
            yield message, headers


@pytest.mark.parametrize("part", range(8))
def test_random_sessions_whose_bodies_are_cut_at_random(beside, part):
    for seed in range(part, SESSIONS, 8):
        chance = random.Random(seed)
        for message, headers in session_of(chance):
            text = json.dumps(message, ensure_ascii=False).encode()
            if chance.random() < 0.1:
                text = text[: chance.randrange(len(text))]
            place = chance.randrange(len(text) + 1)
            beside.check(None, headers, parts=[text[:place], text[place:]])


def test_the_differences_that_are_meant(beside):
    """First our status, then the judge's. Ours takes no text that is not UTF-8 (RFC 8259), takes names of hosts and
    media types in any case, and refuses in both eras what one of them refuses: an id that is none, a header that
    comes twice. What needs no answer is taken, whatever its era. There are no streams to be opened by GET."""
    good = ask(1, "tools/list")
    message = ask(1, "tools/list", _meta=envelope())
    text = json.dumps(message)
    for body, headers, options, statuses in (
        (message, modern(message), {"method": "GET"}, (405, 405)),
        (good, {}, {"method": "DELETE"}, (405, 405)),
        (good, {}, {"method": "PUT"}, (405, 405)),
        (text.encode("utf-16"), modern(message), {}, (400, 200)),
        (b"\xef\xbb\xbf" + text.encode(), modern(message), {}, (400, 200)),
        (good, {"Content-Type": "Application/JSON"}, {}, (200, 415)),
        (message, {**modern(message), "Content-Type": "application/json-seq"}, {}, (400, 200)),
        (good, {"Host": "LocalHost"}, {}, (200, 421)),
        (good, {"Origin": "HTTP://LocalHost"}, {}, (200, 403)),
        (NOTE, {VERSION: "1999-01-01"}, {}, (202, 400)),
        ({"jsonrpc": "2.0", "id": 1, "result": {}}, modern(good), {}, (202, 400)),
        ({**good, "id": 1.5}, {}, {}, (400, 202)),
        ({**good, "id": None}, {}, {}, (400, 202)),
        (good, {VERSION: "2025-06-18"}, {"again": [(VERSION, "2025-06-18")]}, (400, 200)),
        (
            good,
            {"Origin": "http://localhost"},
            {"again": [("Origin", "http://localhost")]},
            (403, 200),
        ),
    ):
        assert beside.statuses(body, headers, **options) == statuses, (body, headers, options)
