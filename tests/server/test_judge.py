"""Our session beside the SDK's own server over the same answers: every method, era, capability and odd
request."""

import json
import os
import random
import threading
from itertools import product

import pytest

from tests.support.client import TIMEOUT_S
from tests.support.judge import REFUSED, is_message, parse, sdk_answers
from tests.support.session import Session
from tools import protocol

PAGES = {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}}
CAPABILITIES = [
    {},
    {"roots": {}},
    {"roots": {"listChanged": True}, "sampling": {}},
    {"elicitation": {"form": {}, "url": {}}},
    PAGES,
    {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/plain"]}}},
    {"extensions": {"io.modelcontextprotocol/ui": {}}},
    {"experimental": PAGES["extensions"]},
    {"extensions": {"no/such": {}}, "experimental": {}},
    {"nonsense": {"a": 1}},
    {"roots": 5},
    {"elicitation": []},
    {"extensions": {"io.modelcontextprotocol/ui": None}},
    None,
    [],
]
VERSIONS = [
    *protocol.HANDSHAKE_VERSIONS,
    protocol.MODERN_VERSION,
    "1999-01-01",
    "",
    7,
    None,
    [],
    {},
]
# Every version without and with pages; every way to announce something in one version.
HANDSHAKES = [
    *product(VERSIONS, ({}, PAGES)),
    *product(protocol.HANDSHAKE_VERSIONS[-1:], CAPABILITIES),
]
INFOS = [
    {"name": "x", "version": "1"},
    {
        "name": "x",
        "version": "1",
        "title": "X",
        "websiteUrl": "https://x.example",
        "description": "й",
    },
    {"name": "x", "version": "1", "icons": [{"src": "https://x.example/i.png"}]},
    {"name": "x", "version": "1", "odd": {}},
    {"name": "x"},
    {"name": 5, "version": "1"},
    "x",
]
CLIENT = INFOS[0]
IDS = [0, 1, -1, "a", "", "й", 2**40, 2**60, 1.5, True, None, [], {}]
PARAMS = [
    {},
    None,
    [],
    "x",
    5,
    {"cursor": "x"},
    {"cursor": 5},
    {"cursor": None},
    {"_meta": {"progressToken": 1}},
    {"_meta": {"progressToken": []}},
    {"_meta": {"progressToken": None}},
    {"_meta": {}},
    {"_meta": None},
    {"_meta": 5},
    {"odd": 1},
    {"name": "greet"},
    {"name": "greet", "arguments": {"name": "Pi"}},
    {"name": "greet", "arguments": None},
    {"name": "greet", "arguments": []},
    {"name": "greet", "arguments": {"name": "Pi"}, "requestState": 5},
    {"name": "greet", "arguments": {"name": "Pi"}, "inputResponses": 5},
    {"name": "no_such", "arguments": {}},
    {"name": 5},
    {"name": "klipper_question", "arguments": {"question": "BLTouch?"}},
    {"name": "klipper_question", "arguments": {"question": 5}},
    {"name": "klipper_question"},
    {"uri": "onepercent://actions"},
    {"uri": "x://y"},
    {"uri": 5},
    {"uri": "skill://klipper-question/SKILL.md"},
    {"ref": {"type": "ref/prompt", "name": "klipper_question"}, "argument": {"name": "language", "value": "r"}},
    {"ref": {"type": "ref/resource", "uri": "klipper://docs/{path}"}, "argument": {"name": "path", "value": "b"}},
    {"ref": {"type": "ref/odd", "name": "x"}, "argument": {"name": "path", "value": "b"}},
    {"ref": {"type": "ref/prompt"}, "argument": {"name": "path", "value": "b"}},
    {"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "path"}},
    {"ref": {"type": "ref/prompt", "name": "klipper_question"}, "argument": {"name": "language", "value": ""},
     "context": {"arguments": {"a": 5}}},
    {"notifications": {}},
    {"notifications": {"toolsListChanged": True}},
    {"notifications": None},
]  # fmt: skip
METHODS = [
    *protocol.SHAPES,
    "nonsense",
    "",
    "logging/setLevel",
    "resources/subscribe",
    "tasks/list",
]
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
SETTINGS = [
    {"MCP_TOOLSETS": "klipper,server"},
    {"MCP_READ_ONLY": "1"},
    {"MCP_TOOL_NAMES": "dotted"},
    {"MCP_LANGUAGE": "en"},
    {"MCP_PAGES": "on"},
    {"MCP_PAGES": "off"},
]
SESSIONS = int(os.environ.get("MIX_SESSIONS", "160"))
LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list", "skills/list")


def ask(request_id, method, **params):
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def initialize(version="2025-11-25", capabilities=None, info=CLIENT, request_id=0):
    params = {"protocolVersion": version, "capabilities": capabilities or {}, "clientInfo": info}
    return ask(request_id, "initialize", **params)


def envelope(capabilities=None, info=CLIENT, version=protocol.MODERN_VERSION):
    names = (protocol.PROTOCOL_VERSION, protocol.CLIENT_INFO, protocol.CLIENT_CAPABILITIES)
    return dict(
        zip(names, (version, info, {} if capabilities is None else capabilities), strict=True)
    )


def lists(meta=None):
    params = {"_meta": meta} if meta else {}
    return [ask(number, method, **params) for number, method in enumerate(LISTS, 1)]


def encode(messages):
    return [
        message
        if isinstance(message, bytes)
        else json.dumps(message, ensure_ascii=False).encode() + b"\n"
        for message in messages
    ]


def our_answers(lines, write=None):
    """What our session answers to these lines, by the id of the request, as the judge gives it."""
    got = {}
    with Session() as client:
        if write:
            write(client.stdin)
        else:
            client.stdin.write(b"".join(lines))
        client.end()
        while (message := client.receive()) is not None:
            if message.get("method") == protocol.ACKNOWLEDGED:
                key = json.dumps(message["params"]["_meta"][protocol.SUBSCRIPTION_ID])
            elif "method" in message:
                continue
            else:
                key = json.dumps(message["id"])
            got.setdefault(key, []).append(message)
    return got


def simple(answers):
    """Answers as they are compared: of an error the code alone, since its words are our own."""
    by_id = {}
    for key, messages in answers.items():
        if key is None or key == "null":  # a line that is no message: the SDK says nothing
            continue
        by_id[key] = sorted(
            json.dumps(
                message
                if "error" not in message
                else {**message, "error": message["error"]["code"]},
                sort_keys=True,
            )
            for message in messages
        )
    return by_id


def check(messages):
    """Hold our answers to a session against the judge's; the number of results."""
    lines = encode(messages)
    theirs, ours = sdk_answers(lines), our_answers(lines)
    if None in theirs:
        assert all(is_message(line) == (parse(line) is not None) for line in lines), messages
        theirs.pop(None)
        ours = {key: answers for key, answers in ours.items() if key in theirs}
    assert simple(ours) == simple(theirs), messages
    return sum("result" in answer for answers in theirs.values() for answer in answers)


def test_handshakes_of_every_version_capability_and_client():
    sessions = [
        [initialize(version, capabilities), ask(9, "ping"), INITIALIZED, *lists()]
        for version, capabilities in HANDSHAKES
    ]
    sessions += [[initialize(info=info), INITIALIZED, *lists()] for info in INFOS]
    assert sum(map(check, sessions)) > 150


def test_the_2026_era_with_every_capability_client_and_version():
    metas = [envelope(capabilities) for capabilities in CAPABILITIES[:10]]
    metas += [envelope(info=info) for info in INFOS[:4]]
    sessions = [[ask(0, "server/discover", _meta=meta), *lists(meta)] for meta in metas]
    sessions += [[ask(0, "tools/list", _meta=envelope(info=info))] for info in INFOS]
    sessions += [
        [ask(0, "tools/list", _meta=envelope(capabilities))] for capabilities in CAPABILITIES
    ]
    sessions += [lists(envelope(version=version)) for version in VERSIONS]
    sessions += [
        lists({key: value for key, value in envelope().items() if key != name})
        for name in envelope()
    ]
    sessions += [[ask(0, "tools/list", _meta=envelope() | {"progressToken": 1})]]
    assert sum(map(check, sessions)) > 80


@pytest.mark.parametrize("values", SETTINGS, ids=str)
def test_every_setting_that_shapes_the_lists(env, values):
    env(**values)
    for capabilities in ({}, PAGES):
        assert check([initialize(capabilities=capabilities), INITIALIZED, *lists()]) == 6
        assert check([ask(0, "server/discover", _meta=envelope(capabilities))]) == 1
        assert check(lists(envelope(capabilities))) == 5


@pytest.mark.parametrize("beginning", ["handshake", "2026", "nothing", "half a handshake"])
def test_every_method_with_odd_params(beginning):
    """Each as a session of its own, so that one request's era is not another's."""
    begun = {
        "handshake": [initialize(request_id="b"), INITIALIZED],
        "half a handshake": [initialize(request_id="b")],
    }
    count = 0
    for method in METHODS:
        if method in ("initialize", "logging/setLevel", "resources/subscribe"):
            continue  # the first is tried above; the SDK looks at the others' params before it says that it has none
        messages = []
        for number, params in enumerate(PARAMS, 10):
            if (
                beginning == "2026"
                and isinstance(params, dict)
                and isinstance(params.get("_meta", {}), dict)
            ):
                params = {**params, "_meta": envelope() | params.get("_meta", {})}
            messages.append({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        if beginning == "nothing":
            count += sum(check([message]) for message in messages[:16])
        else:
            first = begun.get(beginning, [ask("b", "server/discover", _meta=envelope())])
            count += check([*first, *messages])
    assert count >= 10


def test_odd_messages():
    begun = [initialize(request_id="begun"), INITIALIZED]
    requests = [{"jsonrpc": "2.0", "id": request_id, "method": "tools/list"} for request_id in IDS]
    requests += [
        {"jsonrpc": "1.0", "id": 5, "method": "ping"},
        {"id": 5, "method": "ping"},
        {"jsonrpc": "2.0", "id": 5},
        {"jsonrpc": "2.0", "id": 5, "method": 7},
        {"jsonrpc": "2.0", "id": 5, "method": "ping", "odd": 1},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": []}},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {}},
        {"jsonrpc": "2.0", "method": "notifications/odd", "params": {"a": 1}},
        {"jsonrpc": "2.0", "id": 77, "result": {}},
        {"jsonrpc": "2.0", "id": 77, "error": {"code": 1, "message": "no"}},
        {"jsonrpc": "2.0", "id": 77, "error": {}},
        {"jsonrpc": "2.0", "id": [], "result": {}},
        [ask(5, "ping"), ask(6, "ping")],
        b"garbage\n",
        b'\xef\xbb\xbf{"jsonrpc":"2.0","id":5,"method":"ping"}\n',
        b'{"jsonrpc":"2.0","id":"\\ud83d","method":"ping"}\n',
        b'{"jsonrpc":"2.0","id":5,"method":"ping","id":6}\n',
        json.dumps(ask(5, "ping")).encode("utf-16").replace(b"\n", b" ") + b"\n",
        b"Content-Length: 46\r\n",
    ]
    for request in requests:
        for beginning in (begun, begun[:1], []):
            check([*beginning, request, *(begun[1:] if not beginning else []), ask(99, "ping")])


def test_a_stream_of_changes_is_acknowledged():
    """Claude Code 2.1.330 asks for one after server/discover, and lists nothing before it is acknowledged."""
    kinds = [name.removesuffix("?") for name in protocol.STREAM]
    wishes = [{}, {"odd": 1}, *(dict.fromkeys(kinds[:3], wanted) for wanted in (True, False, None))]
    wishes += [{kinds[0]: True}, {kinds[3]: ["onepercent://actions"]}, {kinds[3]: 5}]
    for wish in wishes:
        listen = ask("listen:0", protocol.LISTEN, _meta=envelope(), notifications=wish)
        assert check([ask(0, "server/discover", _meta=envelope()), listen, *lists(envelope())]) == 6


def session_of(chance):
    """The lines of a client that asks at random, as the protocol allows."""
    is_modern = chance.random() < 0.5
    meta = {"_meta": envelope(chance.choice(CAPABILITIES[:10]))} if is_modern else {}
    first = (
        [ask(0, "server/discover", **meta)]
        if is_modern
        else [
            initialize(chance.choice(VERSIONS[:6]), chance.choice(CAPABILITIES[:10])),
            INITIALIZED,
        ]
    )
    requests = []
    for number in range(1, chance.randint(2, 12)):
        method, params = chance.choice(METHODS), chance.choice([{}, {}, *PARAMS])
        if method in ("initialize", "logging/setLevel", "resources/subscribe"):
            method = chance.choice(LISTS)
        if isinstance(params, dict) and isinstance(params.get("_meta", {}), dict):
            params = {**params, **meta}
        requests.append(
            {
                "jsonrpc": "2.0",
                "id": chance.choice([number, f"{number}x"]),
                "method": method,
                "params": params,
            }
        )
    requests += [ask(20, "tools/call", name="greet", arguments={"name": "x"}, **meta)]
    chance.shuffle(requests)
    return [*first, *requests]


@pytest.mark.parametrize("part", range(8))
def test_random_sessions_cut_and_pipelined_at_random(part):
    for seed in range(part, SESSIONS, 8):
        chance = random.Random(seed)
        lines = encode(session_of(chance))
        stream = b"".join(lines)
        if chance.random() < 0.4:
            stream = stream[: chance.randrange(len(stream))]
            lines = stream.splitlines(keepends=True)

        def write(stdin, rest=stream, chance=chance):
            while rest:
                size = chance.choice([1, 30, 200, 2000])
                stdin.write(rest[:size])
                stdin.flush()
                rest = rest[size:]

        ours = our_answers(lines, write)
        theirs = sdk_answers([line for line in lines if parse(line) is not None])
        assert simple({key: ours[key] for key in ours if key in theirs}) == simple(theirs), seed
        assert threading.active_count() < 100, TIMEOUT_S


def test_the_differences_that_are_meant():
    """Eras: a message chooses its own, where the SDK fixes a connection's by the first request. Shapes: no 1 for
    true and no true for 1; the envelope is looked at whatever the method."""
    meta = envelope()
    both = [
        ask(1, "server/discover", _meta=meta),
        initialize(request_id=2),
        INITIALIZED,
        ask(3, "ping"),
    ]
    for messages, ours, theirs in (
        (both, [None, None, None], [None, -32022, -32602]),
        (
            [initialize(request_id=1), ask(2, "server/discover", _meta=meta)],
            [None, None],
            [None, -32600],
        ),
        ([ask(1, "ping", _meta={"progressToken": True})], [-32602], [None]),
        (
            [ask(1, protocol.LISTEN, _meta=meta, notifications={"toolsListChanged": 1})],
            [-32602],
            [None],
        ),
        ([ask(1, "skills/list", _meta=envelope(info="x"))], [-32602], [None]),
    ):
        for answers, codes in (
            (our_answers(encode(messages)), ours),
            (sdk_answers(encode(messages)), theirs),
        ):
            got = [answers[key][0].get("error", {}).get("code") for key in sorted(answers)]
            assert got == codes, messages


def test_what_the_judge_refuses_as_no_message_is_refused():
    assert sdk_answers([b"garbage\n"]) == {None: REFUSED}
    [answers] = our_answers([b"garbage\n"]).values()
    assert [answer["error"]["code"] for answer in answers] == [-32700]
