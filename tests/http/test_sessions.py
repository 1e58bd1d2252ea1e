"""What requests of the 2025 era have in common over HTTP: whether their client shows pages, and withdrawn
calls."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.client import ENVELOPE, HANDSHAKE, messages
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


def session(server, token, capabilities=None):
    """The id that the answer to `initialize` names."""
    params = {**HANDSHAKE, "capabilities": capabilities or {}}
    status, headers, _ = server.send(request("initialize", params), token=token)
    assert status == 200
    return headers[SESSION]


def request(method, params, request_id=1):
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def call_of(name, request_id=1, **arguments):
    return request("tools/call", {"name": name, "arguments": arguments}, request_id)


def tools_with_pages(server, token, session_id):
    result = server.ask("tools/list", token=token, headers={SESSION: session_id})["result"]
    return {tool["name"] for tool in result["tools"] if "visibility" in str(tool.get("_meta"))}


def test_a_client_that_shows_pages_says_so_once_and_a_restart_forgets_nothing(server):
    token = server.token()
    with_pages, without = session(server, token, SHOWS_PAGES), session(server, token)
    assert not tools_with_pages(server, token, without)
    with InMemory() as again:
        assert "apply_by_press" in tools_with_pages(again, token, with_pages)


def test_odd_session_ids_and_capabilities_name_no_pages_and_refuse_nobody(server):
    token = server.token()
    for session_id in (None, "", "A" * 32, f"{'0' * 32}-pages\u00e9", "0" * 5000):
        assert not tools_with_pages(server, token, session_id)
    for capabilities in ({"extensions": []}, {"extensions": {mcp_apps.EXTENSION: 1}}, 7, None):
        body = request("initialize", {**HANDSHAKE, "capabilities": capabilities})
        status, headers, _ = server.send(body, token=token)
        assert status < 500
        assert not headers.get(SESSION, "").endswith("-pages")


class Counting:
    """A call that counts up for a minute, and writes into `mark` when it is told to stop."""

    def __init__(self, server, token, session_id, mark, request_id=7, **more):
        self.mark = mark
        message = call_of("test_counts", request_id, steps=6000, mark=str(mark))
        message["params"]["_meta"] = {"progressToken": "p"}
        self.exchange = server.begin(message, token=token, headers={SESSION: session_id, **more})
        self.goes_on()

    def goes_on(self):
        """Wait for two more notifications of progress: it is not told to stop."""
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


def withdraw(server, token, session_id, request_id=7):
    body = request("notifications/cancelled", {"requestId": request_id})
    del body["id"]
    assert server.status(body, token=token, headers={SESSION: session_id}) == 202


def test_only_the_call_of_that_id_session_and_token_is_withdrawn_and_ends_without_an_answer(
    server, tmp_path
):
    token = server.token()
    session_id = session(server, token)
    call = Counting(server, token, session_id, tmp_path / "mark")
    withdraw(server, server.token(), session_id)
    withdraw(server, token, session(server, token))
    for request_id in (8, "7", None, [7]):
        withdraw(server, token, session_id, request_id)
    call.goes_on()
    withdraw(server, token, session_id)
    assert b'"result"' not in call.end()
    assert not call.exchange.sent[-1].get("more_body")


def test_calls_without_a_session_are_withdrawn_by_nobody(server, tmp_path):
    """Two devices may have one token, and both count from 1."""
    token = server.token()
    call = Counting(server, token, None, tmp_path / "mark")
    withdraw(server, token, None)
    call.goes_on()
    call.hang_up()


def test_a_call_whose_client_hangs_up_ends_and_gives_its_turn_back(server, tmp_path):
    token = server.token()
    session_id = session(server, token)
    marks = [tmp_path / f"{number}" for number in range(8)]
    for call in [Counting(server, token, session_id, mark) for mark in marks]:
        call.hang_up()
    assert not server.call("greet", token=token, name="Ada")["isError"]


def test_a_call_that_came_in_chunks_keeps_no_other_of_its_person_waiting(server, tmp_path):
    """Chunks do not announce how long they are: they wait for their turn to be read, and not to be answered."""
    chunked = {"Content-Length": None, "Transfer-Encoding": "chunked"}
    token = server.token()
    session_id = session(server, token)
    call = Counting(server, token, session_id, tmp_path / "mark", **chunked)
    assert server.status(request("tools/list", {}), token=token, headers=chunked) == 200
    call.goes_on()
    withdraw(server, token, session_id)
    call.end()


def test_of_two_calls_of_one_id_both_are_served_and_a_finished_one_is_withdrawn_in_vain(server):
    token = server.token()
    session_id = session(server, token)

    def slept(seconds):
        params = {"name": "test_sleeps", "arguments": {"seconds": seconds}}
        answer = server.ask("tools/call", params, token=token, headers={SESSION: session_id})
        return not answer["result"]["isError"]

    with ThreadPoolExecutor(2) as callers:
        assert all(callers.map(slept, [0.1, 0.1]))
    withdraw(server, token, session_id, 1)
    assert slept(0)


def sleeping(server, token):
    """As many calls as a person may have at a time, which sleep until AWAKE."""
    call = call_of("test_sleeps", seconds=20)
    return [server.begin(call, token=token) for _ in range(protocol.MOST_CALLS // 4)]


def test_a_call_that_is_withdrawn_before_its_turn_never_runs(server):
    token = server.token()
    session_id = session(server, token)
    headers = {SESSION: session_id}
    sleepers = sleeping(server, token)
    writing = call_of("test_notes", 7, text="written")
    waiting = [server.begin(writing, token=token, headers=headers) for _ in range(2)]
    wait_until(lambda: all(exchange.read for exchange in (*sleepers, *waiting)))
    withdraw(server, token, session_id)
    waiting[0].ends = True
    wait_until(lambda: all(exchange.sent and "body" in exchange.sent[-1] for exchange in waiting))
    server.tools.AWAKE.set()
    assert {exchange.status() for exchange in (*sleepers, *waiting)} == {200}
    assert server.tools.NOTE == [""]
    assert not any(b'"result"' in exchange.text() for exchange in waiting)


@pytest.mark.parametrize("era", ["2025", "2026"])
def test_a_silent_call_says_now_and_then_that_it_goes_on(server, monkeypatch, era):
    """A proxy cuts a connection in which nothing comes."""
    monkeypatch.setattr(endpoint, "PING_S", 0.01)
    message = call_of("test_sleeps", seconds=20)
    headers = {}
    if era == "2026":
        message["params"]["_meta"] = ENVELOPE
        headers = {"Mcp-Method": "tools/call", "Mcp-Name": "test_sleeps"}
        headers["MCP-Protocol-Version"] = protocol.MODERN_VERSION
    call = server.begin(message, token=server.token(), headers=headers)
    wait_until(lambda: call.text().count(b": ping\r\n\r\n") > 1)
    server.tools.AWAKE.set()
    assert call.status() == 200
    [message] = messages(call.answer()[1], call.text())
    assert message["result"]["structuredContent"]["slept"] == 20


def test_whoever_gets_no_turn_in_time_is_told_so_and_others_have_theirs(server, monkeypatch):
    monkeypatch.setattr(endpoint, "TURN_S", 0.05)
    token = server.token()
    sleepers = sleeping(server, token)
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
