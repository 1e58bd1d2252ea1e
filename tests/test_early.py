"""The first requests, answered early: every answer beside the SDK's own, whatever is asked and wherever it is
cut."""

import json
import os
import random
import threading
import time
from contextlib import suppress
from io import BytesIO
from itertools import product
from pathlib import Path

import anyio
import pytest

import server
from tests.support.client import Client
from tests.support.services import children, wait_until
from tools import early, listing
from tools.core import registry, settings
from tools.stdio import Lines

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
    {"roots": 5},
    {"nonsense": {"a": 1}},
    {"extensions": {"io.modelcontextprotocol/ui": None}},
]
VERSIONS = [*early.HANDSHAKE_VERSIONS, "2026-07-28", "1999-01-01", "", 7, None]
INFOS = [
    {"name": "x", "version": "1"},
    {"name": "x", "version": "1", "title": "X", "websiteUrl": "https://x.example", "description": "й"},
    {"name": "x"},
    {"name": 5, "version": "1"},
    {"name": "x", "version": "1", "icons": [{"src": "https://x.example/i.png"}]},
    {"name": "x", "version": "1", "odd": {}},
]
IDS = [0, 1, -1, "a", "", "й", 2**40, 2**60, 1.5, True, None, [], {}]
PARAMS = [
    {},
    None,
    [],
    {"cursor": "x"},
    {"_meta": {"progressToken": 1}},
    {"_meta": {"progressToken": []}},
    {"odd": 1},
    {"_meta": None},
]
METHODS = [*listing.LISTS, "ping", "server/discover", "completion/complete", "nonsense", "tools/call"]
CLIENT = INFOS[0]
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
SETTINGS = [
    {},
    {"MCP_TOOLSETS": "klipper,server"},
    {"MCP_READ_ONLY": "1"},
    {"MCP_TOOL_NAMES": "dotted"},
    {"MCP_LANGUAGE": "en"},
    {"MCP_PAGES": "on"},
    {"MCP_PAGES": "off"},
]
MIX = int(os.environ.get("MIX_EARLY", "60"))


def ask(request_id, method, **params):
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def initialize(version="2025-11-25", capabilities=None, info=CLIENT, request_id=0):
    return ask(
        request_id, "initialize", protocolVersion=version, capabilities=capabilities or {}, clientInfo=info
    )


def envelope(capabilities=None, info=CLIENT, version="2026-07-28"):
    names = ("protocolVersion", "clientInfo", "clientCapabilities")
    values = (version, info, capabilities or {})
    return {f"io.modelcontextprotocol/{name}": value for name, value in zip(names, values, strict=True)}


def encode(messages):
    return [
        message if isinstance(message, bytes) else json.dumps(message, ensure_ascii=False).encode() + b"\n"
        for message in messages
    ]


@pytest.fixture(autouse=True)
def kept(env, monkeypatch):
    """Kept as a session before would have it; what a child would do is done here, but for a test that wants a
    child."""
    server.import_sdk("stdio")
    monkeypatch.setattr(listing, "keep_beside", listing.keep_later)
    listing.keep(settings.current(), listing.make(settings.current()))


def early_answers(lines):
    """The answers given early, and the opening that gave them."""
    opening, answers = early.Opening(settings.current(), listing.keep_beside), []
    for line in lines:
        try:
            answer = opening.answer(line.rstrip(b"\n"))
        except early.LeftToSdk:
            break
        answers += [json.loads(answer)] if answer else []
    return answers, opening


def sdk_answers(tmp_path, lines):
    """The SDK's answers to a session of these lines."""
    file = Path(tmp_path, "answers")
    with Lines(BytesIO(b"".join(lines)), file.open("wb")) as client:
        anyio.run(server.serve_once, client)
    return [json.loads(line) for line in file.read_bytes().splitlines()]


def check(tmp_path, messages):
    """Hold the early answers against the SDK's; the number of them."""
    lines = encode(messages)
    answers, _ = early_answers(lines)
    if not answers:
        return 0
    theirs = {json.dumps(answer["id"]): answer for answer in sdk_answers(tmp_path, lines)}
    for answer in answers:
        assert answer == theirs[json.dumps(answer["id"])]
    return len(answers)


def lists(meta=None):
    params = {"_meta": meta} if meta else {}
    return [ask(number, method, **params) for number, method in enumerate(listing.LISTS, 1)]


def test_handshakes_of_every_version_and_capability_are_answered_as_the_sdk_does(tmp_path):
    sessions = [
        [initialize(version, capabilities), ask(9, "ping"), INITIALIZED, *lists()]
        for version, capabilities in product(VERSIONS, CAPABILITIES)
    ]
    sessions += [[initialize(info=info), INITIALIZED, *lists()] for info in INFOS]
    answered = [check(tmp_path, session) for session in sessions]
    assert sum(answered) > 300
    assert sum(count == 6 for count in answered) >= 45, "a usual client's session is answered whole"


def test_the_2026_era_is_answered_as_the_sdk_does(tmp_path):
    sessions = [
        [ask(0, "server/discover", _meta=envelope(capabilities, info)), *lists(envelope(capabilities, info))]
        for capabilities, info in product(CAPABILITIES, INFOS[:4])
    ]
    sessions += [lists(envelope(version=version)) for version in VERSIONS]
    sessions += [[ask(0, "tools/list", _meta=envelope() | {"progressToken": 1})]]
    assert sum(check(tmp_path, session) for session in sessions) > 90


@pytest.mark.parametrize("values", SETTINGS, ids=str)
def test_every_setting_that_shapes_the_lists_is_seen(tmp_path, env, values):
    env(**values)
    for was_kept in (False, True):
        for capabilities in ({}, PAGES):
            session = [initialize(capabilities=capabilities), INITIALIZED, *lists()]
            assert check(tmp_path, session) == 5
            assert check(tmp_path, [ask(0, "server/discover", _meta=envelope(capabilities))]) == 1
        assert listing.kept(settings.current()) or not was_kept


def test_a_stream_of_changes_is_acknowledged_as_the_sdk_does(tmp_path):
    """Claude Code 2.1.330 asks for one after server/discover, and lists nothing before it is acknowledged."""
    meta = envelope()
    all_kinds = [dict.fromkeys(early.CHANGES, wanted) for wanted in (True, False)]
    left = [
        {"odd": 1},
        {"toolsListChanged": 1},
        None,
        [],
        {"resourceSubscriptions": ["onepercent://actions"]},
    ]
    for count, wanted in [(6, {}), *((6, kinds) for kinds in all_kinds), *((1, kinds) for kinds in left)]:
        listen = ask("listen:0", "subscriptions/listen", _meta=meta, notifications=wanted)
        lines = encode([ask(0, "server/discover", _meta=meta), listen, *lists(meta)])
        answers, _ = early_answers(lines)
        assert len(answers) == count
        theirs = sdk_answers(tmp_path, lines)
        assert all(answer in theirs for answer in answers)
    assert early_answers(encode([ask(1, "subscriptions/listen", _meta=meta)]))[0] == []
    assert (
        early_answers(encode([initialize(), INITIALIZED, listen]))[0]
        == early_answers(encode([initialize()]))[0]
    )


def test_odd_requests_are_answered_as_the_sdk_does_or_left_to_it(tmp_path):
    begun = [initialize(request_id="begun"), INITIALIZED]
    requests = [
        {"jsonrpc": "2.0", "id": 5, "method": method, "params": params}
        for method in METHODS
        for params in PARAMS
    ]
    requests += [{"jsonrpc": "2.0", "id": request_id, "method": "tools/list"} for request_id in IDS]
    requests += [
        {"jsonrpc": "1.0", "id": 5, "method": "ping"},
        {"id": 5, "method": "ping"},
        {"jsonrpc": "2.0", "id": 5, "method": "ping", "odd": 1},
        initialize(request_id=5),
        ask(5, "tools/list", _meta=envelope()),
        ask(5, "server/discover", _meta=envelope()),
        [ask(5, "ping"), ask(6, "ping")],
        b"garbage\n",
        b'\xef\xbb\xbf{"jsonrpc":"2.0","id":5,"method":"ping"}\n',
        b'{"jsonrpc":"2.0","id":"\\ud83d","method":"ping"}\n',
        b'{"jsonrpc":"2.0","id":5,"method":"ping","id":6}\n',
        b'{"jsonrpc":"2.0","id":5,"method":"ping","params":{"_meta":{"progressToken":NaN}}}\n',
        json.dumps(ask(5, "ping")).encode("utf-16") + b"\n",
    ]
    cases = [[*begun, request] for request in requests] + [[request] for request in requests]
    cases += [[begun[0], request] for request in requests] + [[*begun, INITIALIZED, ask(5, "ping")]]
    assert sum(check(tmp_path, case) > 0 for case in cases) >= 200


def test_a_listing_of_another_shape_is_ignored_and_made_anew(tmp_path):
    [file] = listing._kept_files(settings.current())
    whole = file.read_bytes()
    for broken in (b"", b"[]", b"00000000\n", b"\xff", whole[:-9], whole.replace(b"greet", b"great")):
        file.write_bytes(broken)
        assert not listing.kept(settings.current())
        assert check(tmp_path, [initialize(), INITIALIZED, *lists()]) == 5
        assert listing.kept(settings.current())


def test_a_listing_that_is_a_day_old_is_made_anew_and_a_change_is_told(monkeypatch):
    told, now = [], settings.current()
    monkeypatch.setattr(registry, "LISTENERS", [listing.forget, lambda: told.append(1)])
    whole, [file] = listing.kept(now), listing._kept_files(now)
    listing.keep(now, {**whole, "prompts/list": b'{"prompts":[]}'})
    listing.refresh_daily(now)
    assert listing.kept(now) != whole and not told
    os.utime(file, (0, 0))
    listing.refresh_daily(now)
    assert listing.kept(now) == whole and told == [1]


def test_at_most_four_listings_are_kept_the_newest(env):
    for number in range(7):
        env(ANKI_DEFAULT_DECK=f"deck {number}")
        listing.keep(settings.current(), listing.make(settings.current()))
    assert len(listing._kept_files(settings.current())) == listing.MOST_KEPT
    assert listing.kept(settings.current())


def test_a_read_only_state_folder_does_no_harm(tmp_path, env):
    env(MCP_STATE_DIR="/proc/no-such")
    assert check(tmp_path, [initialize(), INITIALIZED, *lists()]) == 1


@pytest.mark.slow
def test_a_session_without_a_listing_has_a_child_make_it_which_is_gone_though_nobody_asked_for_a_list():
    listing.forget()
    with Client() as client:
        client.initialize()
        assert client.call("greet", name="Pi")["isError"] is False
        wait_until(lambda: not children(client.process.pid))
        assert listing.kept(settings.current())
    listing.forget()
    with Client() as client:
        client.initialize()
        assert any(tool["name"] == "greet" for tool in client.request("tools/list")["result"]["tools"])
        assert listing.kept(settings.current())


def session_of(chance):
    """The lines of a client that asks at random, as the protocol allows."""
    era = chance.choice(["handshake", "2026"])
    meta = {} if era == "handshake" else {"_meta": envelope(chance.choice(CAPABILITIES[:8]))}
    first = [initialize(capabilities=chance.choice(CAPABILITIES)), INITIALIZED] if era == "handshake" else []
    methods = [*listing.LISTS, *listing.LISTS, "ping", "nonsense", "server/discover"]
    requests = [ask(number, chance.choice(methods), **meta) for number in range(1, chance.randint(2, 9))]
    requests += (
        [ask(19, "subscriptions/listen", notifications={"toolsListChanged": True}, **meta)] if meta else []
    )
    requests += [{**ask(20, "tools/call", name="greet", arguments={"name": "x"})}]
    requests[-1]["params"] |= meta
    chance.shuffle(requests)
    return [*first, *requests]


@pytest.mark.parametrize("seed", range(MIX))
def test_every_id_is_answered_once_wherever_the_session_is_cut_and_whenever_the_sdk_is_ready(seed, tmp_path):
    chance = random.Random(seed)
    if chance.random() < 0.3:
        listing.forget()
    lines = encode(session_of(chance))
    stream = b"".join(lines)
    if chance.random() < 0.4:
        stream = stream[: chance.randrange(len(stream))]
        with suppress(ValueError):  # whole but for the end of its line, a message is answered
            json.loads(stream.rpartition(b"\n")[2])
            stream += b"\n"
    (ours, theirs), (caller, _) = os.pipe(), os.pipe()
    file = Path(tmp_path, "written")

    def send():
        rest = stream
        while rest:
            size = chance.choice([1, 30, 200, 2000])
            os.write(theirs, rest[:size])
            rest = rest[size:]
            if chance.random() < 0.3:
                time.sleep(chance.random() / 100)
        os.close(theirs)

    threading.Thread(target=send, daemon=True).start()
    with Lines(os.fdopen(ours, "rb"), file.open("wb")) as client:
        cold = lambda: early.serve(client, settings.current(), lambda: time.sleep(chance.random() / 20))  # noqa: E731
        if chance.choice([cold, lambda: early.serve_idle(client, settings.current(), caller)])():
            anyio.run(server.serve_once, client)
    answers = [json.loads(line) for line in file.read_bytes().splitlines()]
    complete = [json.loads(line) for line in stream.split(b"\n")[:-1]]
    asked = {message["id"] for message in complete if "id" in message}
    acknowledged = [answer["params"]["_meta"].popitem()[1] for answer in answers if "method" in answer]
    assert acknowledged in ([], [19]), "once, unless the client left before"
    ids = [answer["id"] for answer in answers if answer.get("id") is not None]
    assert sorted({*asked} - {19}) == sorted(ids)
    if any(message.get("method") == "initialize" for message in complete) and ids:
        assert ids[0] == 0
