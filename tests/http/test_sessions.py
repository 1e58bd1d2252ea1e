"""Sessions of the 2025 era over HTTP: whether their client shows pages, and withdrawn calls."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.http.test_guards import CHUNKED
from tests.http.test_judge import in_both_eras, in_era
from tests.support.client import HANDSHAKE, messages, rpc
from tests.support.http_memory import InMemory
from tests.support.serve_with_tools import misbehaving_tools
from tests.support.services import wait_until
from tools import endpoint, protocol
from tools.core import mcp_apps

SHOWS_PAGES = {"extensions": {mcp_apps.EXTENSION: {"mimeTypes": [mcp_apps.MIME_TYPE]}}}
SESSION = "mcp-session-id"


@pytest.fixture
def server(env):
    with misbehaving_tools("tools.server.testing") as tools, InMemory() as running:
        running.tools = tools
        yield running


@pytest.fixture
def token(server):
    return server.token()


def session(server, token, capabilities=None):
    """The options of requests in a new session, whose id came with the answer to `initialize`."""
    params = {**HANDSHAKE, "capabilities": capabilities or {}}
    status, headers, _ = server.send(rpc("initialize", params), token=token)
    assert status == 200
    return sent_in(headers[SESSION], token)


def sent_in(session_id, token):
    return {"token": token, "headers": {SESSION: session_id}}


@pytest.fixture
def options(server, token):
    """The options of requests in a session."""
    return session(server, token)


def call_of(name, request_id=1, **arguments):
    return rpc("tools/call", {"name": name, "arguments": arguments}, request_id)


def tools_with_pages(server, options):
    result = server.ask("tools/list", **options)["result"]
    return {tool["name"] for tool in result["tools"] if "visibility" in str(tool.get("_meta"))}


def test_a_client_that_shows_pages_says_so_once_and_a_restart_forgets_nothing(
    server, token, options
):
    with_pages = session(server, token, SHOWS_PAGES)
    assert not tools_with_pages(server, options)
    with InMemory() as again:
        assert "apply_by_press" in tools_with_pages(again, with_pages)


def test_odd_session_ids_and_capabilities_name_no_pages_and_refuse_nobody(server, token):
    for session_id in (None, "", "A" * 32, f"{'0' * 32}-pages\u00e9", "0" * 5000):
        assert not tools_with_pages(server, sent_in(session_id, token))
    for capabilities in ({"extensions": []}, {"extensions": {mcp_apps.EXTENSION: 1}}, 7, None):
        body = rpc("initialize", {**HANDSHAKE, "capabilities": capabilities})
        status, headers, _ = server.send(body, token=token)
        assert status < 500
        assert not headers.get(SESSION, "").endswith("-pages")


class Counting:
    """A call that counts up for a minute, and writes into `mark` when it is told to stop."""

    def __init__(self, server, options, mark):
        self.mark = mark
        message = call_of("test_counts", 7, steps=6000, mark=str(mark))
        message["params"]["_meta"] = {"progressToken": "p"}
        self.exchange = server.begin(message, **options)
        self.goes_on()

    def goes_on(self):
        """Wait for two more notifications of progress: nothing has stopped it."""
        before = self.exchange.text().count(b"notifications/progress")
        wait_until(lambda: self.exchange.text().count(b"notifications/progress") > before + 1)
        assert not self.mark.exists()

    def hang_up(self):
        self.exchange.ends = True
        self.end()

    def end(self):
        """Wait until it has stopped, and give its answer."""
        self.exchange.status()
        wait_until(lambda: self.mark.exists() and self.mark.read_text("utf-8"))
        assert self.mark.read_text("utf-8").startswith("stopped")
        return self.exchange.text()


def withdraw(server, options, request_id=7):
    body = rpc("notifications/cancelled", {"requestId": request_id})
    del body["id"]
    assert server.status(body, **options) == 202


def test_only_the_call_of_that_id_session_and_token_is_withdrawn_and_ends_without_an_answer(
    server, token, options, tmp_path
):
    call = Counting(server, options, tmp_path / "mark")
    withdraw(server, {**options, "token": server.token()})
    withdraw(server, session(server, token))
    for request_id in (8, "7", None, [7]):
        withdraw(server, options, request_id)
    call.goes_on()
    withdraw(server, options)
    assert b'"result"' not in call.end()
    assert not call.exchange.sent[-1].get("more_body")


def test_calls_without_a_session_are_withdrawn_by_nobody(server, token, tmp_path):
    """Two devices may have one token, and both count from 1."""
    options = sent_in(None, token)
    call = Counting(server, options, tmp_path / "mark")
    withdraw(server, options)
    call.goes_on()
    call.hang_up()


def test_a_call_whose_client_hangs_up_ends_and_gives_its_turn_back(
    server, token, options, tmp_path
):
    marks = [tmp_path / f"{number}" for number in range(8)]
    for call in [Counting(server, options, mark) for mark in marks]:
        call.hang_up()
    assert not server.call("greet", token=token, name="Ada")["isError"]


def test_a_call_that_came_in_chunks_keeps_no_other_of_its_person_waiting(server, options, tmp_path):
    """A body in chunks does not announce its length: it waits for its turn only until it is read."""
    in_chunks = {**options, "headers": options["headers"] | CHUNKED}
    call = Counting(server, in_chunks, tmp_path / "mark")
    assert server.status(rpc("tools/list", {}), **in_chunks) == 200
    call.goes_on()
    withdraw(server, options)
    call.end()


def test_of_two_calls_of_one_id_both_are_served_and_a_finished_one_is_withdrawn_in_vain(
    server, options
):
    def slept(seconds):
        call = call_of("test_sleeps", seconds=seconds)
        return not server.ask("tools/call", call["params"], **options)["result"]["isError"]

    with ThreadPoolExecutor(2) as callers:
        assert all(callers.map(slept, [0.1, 0.1]))
    withdraw(server, options, 1)
    assert slept(0)


def sleeping(server):
    """As many calls as a person may have at a time, which sleep until AWAKE; each has a token of its own."""
    call = call_of("test_sleeps", seconds=20)
    return [server.begin(call, token=server.token()) for _ in range(protocol.MOST_CALLS // 4)]


def test_a_call_that_is_withdrawn_before_its_turn_never_runs(server, options):
    sleepers = sleeping(server)
    writing = call_of("test_notes", 7, text="written")
    waiting = [server.begin(writing, **options) for _ in range(2)]
    wait_until(lambda: all(exchange.read for exchange in (*sleepers, *waiting)))
    withdraw(server, options)
    waiting[0].ends = True
    wait_until(lambda: all(exchange.sent and "body" in exchange.sent[-1] for exchange in waiting))
    server.tools.AWAKE.set()
    assert {exchange.status() for exchange in (*sleepers, *waiting)} == {200}
    assert server.tools.NOTE == [""]
    assert not any(b'"result"' in exchange.text() for exchange in waiting)


@in_both_eras
def test_a_silent_call_says_now_and_then_that_it_goes_on(server, token, monkeypatch, is_modern):
    """A proxy cuts a connection that is silent for long."""
    monkeypatch.setattr(endpoint, "PING_S", 0.01)
    params = call_of("test_sleeps", seconds=20)["params"]
    message, headers = in_era(is_modern, "tools/call", params)
    call = server.begin(message, token=token, headers=headers)
    wait_until(lambda: call.text().count(b": ping\r\n\r\n") > 1)
    server.tools.AWAKE.set()
    assert call.status() == 200
    [message] = messages(call.answer()[1], call.text())
    assert message["result"]["structuredContent"]["slept"] == 20


def test_whoever_gets_no_turn_in_time_is_told_so_and_others_have_theirs(server, token, monkeypatch):
    monkeypatch.setattr(endpoint, "TURN_S", 0.05)
    sleepers = sleeping(server)
    assert server.content("greet", token=token, name="Ada")["code"] == "BUSY"
    assert not server.call("greet", token=server.token(user="ben"), name="Ben")["isError"]
    assert server.ask("tools/list", token=token)["result"]["tools"]
    server.tools.AWAKE.set()
    assert {exchange.status() for exchange in sleepers} == {200}


def test_what_nobody_foresaw_is_an_error_of_the_protocol_and_tells_nothing_of_the_inside(
    server, monkeypatch
):
    monkeypatch.setattr(protocol.Request, "admit", lambda self: 1 / 0)
    error = server.ask("tools/list", token=server.token())["error"]
    assert (error["code"], "division" in error["message"]) == (protocol.INTERNAL_ERROR, False)


def test_ends_of_lines_that_only_some_readers_know_end_no_event(server):
    text = "a\x85b\u2028c\u2029d"
    # The answer is read by str.splitlines, as several clients do.
    answer = server.content("test_returns", token=server.token(), value=json.dumps({"text": text}))
    assert answer["text"] == text
