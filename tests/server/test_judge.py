"""Our session beside the SDK's own server over the same answers: every method, era, capability and odd
request."""

import json
import os
import random
import threading
from itertools import product

import pytest

from tests.support.client import json_lines, rpc
from tests.support.judge import compared, is_message, parse, sdk_answers
from tests.support.session import Session
from tools import protocol

# Of clients: the first ten as the protocol allows, the others odd.
CAPABILITIES = json_lines("""
{}
{"roots": {}}
{"roots": {"listChanged": true}, "sampling": {}}
{"elicitation": {"form": {}, "url": {}}}
{"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}}
{"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/plain"]}}}
{"extensions": {"io.modelcontextprotocol/ui": {}}}
{"experimental": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}}
{"extensions": {"no/such": {}}, "experimental": {}}
{"nonsense": {"a": 1}}
{"roots": 5}
{"elicitation": []}
{"extensions": {"io.modelcontextprotocol/ui": null}}
null
[]
""")
PAGES = CAPABILITIES[4]
VERSIONS = [
    *protocol.HANDSHAKE_VERSIONS,
    protocol.MODERN_VERSION,
    *json.loads('["1999-01-01", "", 7, null, [], {}]'),
]
# Every version without and with pages; every way to announce something in one version.
HANDSHAKES = [
    *product(VERSIONS, ({}, PAGES)),
    *product(protocol.HANDSHAKE_VERSIONS[-1:], CAPABILITIES),
]
INFOS = json_lines("""
{"name": "x", "version": "1"}
{"name": "x", "version": "1", "title": "X", "websiteUrl": "https://x.example", "description": "й"}
{"name": "x", "version": "1", "icons": [{"src": "https://x.example/i.png"}]}
{"name": "x", "version": "1", "odd": {}}
{"name": "x"}
{"name": 5, "version": "1"}
"x"
""")
CLIENT = INFOS[0]
IDS = [*json.loads('[0, 1, -1, "a", "", "й", 1.5, true, null, [], {}]'), 2**40, 2**60]
PARAMS = json_lines("""
{}
null
[]
"x"
5
{"cursor": "x"}
{"cursor": 5}
{"cursor": null}
{"_meta": {"progressToken": 1}}
{"_meta": {"progressToken": []}}
{"_meta": {"progressToken": null}}
{"_meta": {}}
{"_meta": null}
{"_meta": 5}
{"odd": 1}
{"name": "greet"}
{"name": "greet", "arguments": {"name": "Pi"}}
{"name": "greet", "arguments": null}
{"name": "greet", "arguments": []}
{"name": "greet", "arguments": {"name": "Pi"}, "requestState": 5}
{"name": "greet", "arguments": {"name": "Pi"}, "inputResponses": 5}
{"name": "no_such", "arguments": {}}
{"name": 5}
{"name": "klipper_question", "arguments": {"question": "BLTouch?"}}
{"name": "klipper_question", "arguments": {"question": 5}}
{"name": "klipper_question"}
{"uri": "onepercent://actions"}
{"uri": "x://y"}
{"uri": 5}
{"uri": "skill://klipper-question/SKILL.md"}
{"ref": {"type": "ref/prompt", "name": "klipper_question"}, "argument": {"name": "language", "value": "r"}}
{"ref": {"type": "ref/resource", "uri": "klipper://docs/{path}"}, "argument": {"name": "path", "value": "b"}}
{"ref": {"type": "ref/odd", "name": "x"}, "argument": {"name": "path", "value": "b"}}
{"ref": {"type": "ref/prompt"}, "argument": {"name": "path", "value": "b"}}
{"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "path"}}
{"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "y", "value": ""}, "context": {"arguments": {"a": 5}}}
{"notifications": {}}
{"notifications": {"toolsListChanged": true}}
{"notifications": null}
""")
# The first is tried by itself; the SDK looks at the others' params before it says that it has none.
NOT_COMPARED = ("initialize", "logging/setLevel", "resources/subscribe")
METHODS = [*protocol.SHAPES, "nonsense", "", *NOT_COMPARED[1:], "tasks/list"]
COMPARED = [method for method in METHODS if method not in NOT_COMPARED]
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
SESSIONS = int(os.environ.get("MIX_SESSIONS", "160"))
LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list", "skills/list")


def ask(request_id, method, **params):
    return rpc(method, params, request_id)


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


def enveloped(params, meta):
    """These params in an envelope, unless they are too odd to have one."""
    if isinstance(params, dict) and isinstance(params.get("_meta", {}), dict):
        return {**params, "_meta": meta | params.get("_meta", {})}
    return params


def line_of(message):
    if isinstance(message, bytes):
        return message
    return json.dumps(message, ensure_ascii=False).encode() + b"\n"


def our_answers(lines, write=None):
    """What our session answers to these lines, by the id of the request, as the judge gives it."""
    answers = {}
    with Session() as client:
        if write:
            write(client.stdin)
        else:
            client.stdin.write(b"".join(lines))
        client.end()
        while (message := client.receive()) is not None:
            if message.get("method") == protocol.ACKNOWLEDGED:
                request_id = message["params"]["_meta"][protocol.SUBSCRIPTION_ID]
            elif "method" in message:
                continue
            else:
                request_id = message["id"]
            answers.setdefault(json.dumps(request_id), []).append(message)
    return answers


def simple(answers):
    """Answers as they are compared; to a line that is no message the SDK says nothing."""
    return {
        key: sorted(map(compared, messages))
        for key, messages in answers.items()
        if key not in (None, "null")
    }


def check(messages):
    """Hold our answers to a session against the judge's; the number of results."""
    lines = [line_of(message) for message in messages]
    theirs = sdk_answers(lines)
    ours = our_answers(lines)
    if None in theirs:
        assert all(is_message(line) == (parse(line) is not None) for line in lines), messages
        theirs.pop(None)
        ours = {key: answers for key, answers in ours.items() if key in theirs}
    assert simple(ours) == simple(theirs), messages
    return sum("result" in answer for answers in theirs.values() for answer in answers)


def test_handshakes_of_every_version_capability_and_client():
    handshakes = [initialize(*handshake) for handshake in HANDSHAKES]
    handshakes += [initialize(info=info) for info in INFOS]
    rest = [ask(9, "ping"), INITIALIZED, *lists()]
    assert sum(check([handshake, *rest]) for handshake in handshakes) > 150


def test_the_2026_era_with_every_capability_client_and_version():
    metas = [envelope(capabilities) for capabilities in CAPABILITIES]
    metas += [envelope(info=info) for info in INFOS]
    metas += [envelope(version=version) for version in VERSIONS]
    for name in envelope():
        metas.append(envelope())
        del metas[-1][name]
    metas.append(envelope() | {"progressToken": 1})
    sessions = [[ask(0, "tools/list", _meta=meta)] for meta in metas]
    sessions.append([ask(0, "server/discover", _meta=envelope()), *lists(envelope())])
    assert sum(map(check, sessions)) > 20


HALF_BEGUN = [initialize(request_id="b")]
BEGINNINGS = {
    "handshake": [*HALF_BEGUN, INITIALIZED],
    "half a handshake": HALF_BEGUN,
    "2026": [ask("b", "server/discover", _meta=envelope())],
}


@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_every_method_with_odd_params(beginning):
    """Each as a session of its own, so that one request's era is not another's."""
    count = 0
    for method in COMPARED:
        requests = [*BEGINNINGS[beginning]]
        for number, params in enumerate(PARAMS, 10):
            if beginning == "2026":
                params = enveloped(params, envelope())
            requests.append(rpc(method, params, number))
        count += check(requests)
    assert count >= 10


@pytest.mark.parametrize("method", COMPARED)
def test_every_method_with_odd_params_before_a_handshake(method):
    for params in PARAMS[:16]:
        check([rpc(method, params)])


ODD_LINES = b"""\
{"jsonrpc": "1.0", "id": 5, "method": "ping"}
{"id": 5, "method": "ping"}
{"jsonrpc": "2.0", "id": 5}
{"jsonrpc": "2.0", "id": 5, "method": 7}
{"jsonrpc": "2.0", "id": 5, "method": "ping", "odd": 1}
{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": []}}
{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {}}
{"jsonrpc": "2.0", "method": "notifications/odd", "params": {"a": 1}}
{"jsonrpc": "2.0", "id": 77, "result": {}}
{"jsonrpc": "2.0", "id": 77, "error": {"code": 1, "message": "no"}}
{"jsonrpc": "2.0", "id": 77, "error": {}}
{"jsonrpc": "2.0", "id": [], "result": {}}
[{"jsonrpc": "2.0", "id": 5, "method": "ping"}, {"jsonrpc": "2.0", "id": 6, "method": "ping"}]
garbage
\xef\xbb\xbf{"jsonrpc": "2.0", "id": 5, "method": "ping"}
{"jsonrpc": "2.0", "id": "\\ud83d", "method": "ping"}
{"jsonrpc": "2.0", "id": 5, "method": "ping", "id": 6}
Content-Length: 46\r
""".splitlines(keepends=True)
ODD_LINES.append(json.dumps(ask(5, "ping")).encode("utf-16").replace(b"\n", b" ") + b"\n")
ODD_IDS = [ask(request_id, "tools/list") for request_id in IDS]


@pytest.mark.parametrize("line", [*ODD_IDS, *ODD_LINES])
def test_odd_messages(line):
    check([*BEGINNINGS["handshake"], line, ask(99, "ping")])
    check([*HALF_BEGUN, line, ask(99, "ping")])
    check([line, INITIALIZED, ask(99, "ping")])


def test_a_stream_of_changes_is_acknowledged():
    """Claude Code 2.1.330 asks for one after server/discover, and lists nothing before it is acknowledged."""
    kinds = [name.removesuffix("?") for name in protocol.STREAM]
    wishes = [{}, {"odd": 1}, *(dict.fromkeys(kinds[:3], wanted) for wanted in (True, False, None))]
    wishes += [{kinds[0]: True}, {kinds[3]: ["onepercent://actions"]}, {kinds[3]: 5}]
    for wish in wishes:
        listen = ask("listen:0", protocol.LISTEN, _meta=envelope(), notifications=wish)
        assert check([ask(0, "server/discover", _meta=envelope()), listen, *lists(envelope())]) == 6


def session_of(chance):
    """The messages of a client that asks at random, as the protocol allows."""
    if chance.random() < 0.5:
        meta = {"_meta": envelope(chance.choice(CAPABILITIES[:10]))}
        first = [ask(0, "server/discover", **meta)]
    else:
        meta = {}
        handshake = chance.choice(VERSIONS[:6]), chance.choice(CAPABILITIES[:10])
        first = [initialize(*handshake), INITIALIZED]
    requests = []
    for number in range(1, chance.randint(2, 12)):
        method, params = chance.choice(METHODS), chance.choice([{}, {}, *PARAMS])
        if method in NOT_COMPARED:
            method = chance.choice(LISTS)
        if meta:
            params = enveloped(params, meta["_meta"])
        requests.append(rpc(method, params, chance.choice([number, f"{number}x"])))
    requests += [ask(20, "tools/call", name="greet", arguments={"name": "x"}, **meta)]
    chance.shuffle(requests)
    return [*first, *requests]


@pytest.mark.parametrize("part", range(8))
def test_random_sessions_cut_and_pipelined_at_random(part):
    for seed in range(part, SESSIONS, 8):
        chance = random.Random(seed)
        stream = b"".join(map(line_of, session_of(chance)))
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
        assert threading.active_count() < 100


HERE = envelope()
DIFFERENCES = [
    (
        [
            ask(1, "server/discover", _meta=HERE),
            initialize(request_id=2),
            INITIALIZED,
            ask(3, "ping"),
        ],
        [None, None, None],
        [None, -32022, -32602],
    ),
    (
        [initialize(request_id=1), ask(2, "server/discover", _meta=HERE)],
        [None, None],
        [None, -32600],
    ),
    ([ask(1, "ping", _meta={"progressToken": True})], [-32602], [None]),
    (
        [ask(1, protocol.LISTEN, _meta=HERE, notifications={"toolsListChanged": 1})],
        [-32602],
        [None],
    ),
    ([ask(1, "skills/list", _meta=envelope(info="x"))], [-32602], [None]),
]


def codes(answers):
    return [answers[key][0].get("error", {}).get("code") for key in sorted(answers)]


@pytest.mark.parametrize("messages, ours, theirs", DIFFERENCES)
def test_the_differences_that_are_meant(messages, ours, theirs):
    """Eras: a message chooses its own, where the SDK fixes a connection's by the first request. Shapes: no 1 for
    true and no true for 1; the envelope is looked at whatever the method."""
    lines = [line_of(message) for message in messages]
    assert codes(our_answers(lines)) == ours
    assert codes(sdk_answers(lines)) == theirs
