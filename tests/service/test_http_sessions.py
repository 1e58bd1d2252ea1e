"""What requests of the 2025 era have in common over HTTP: whether their client shows pages, and withdrawn calls."""

import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest

from tests.support.client import HANDSHAKE, TIMEOUT_S
from tests.support.http_server import HEADERS, TEST_SERVER, HttpServer
from tools.core import pages

SHOWS_PAGES = {"extensions": {pages.EXTENSION: {"mimeTypes": [pages.MIME_TYPE]}}}
SESSION = "mcp-session-id"


@pytest.fixture(scope="module")
def server():
    with HttpServer(TEST_SERVER) as running:
        yield running


def session(server, token, capabilities=None):
    """The id that the answer to `initialize` names."""
    params = {**HANDSHAKE, "capabilities": capabilities or {}}
    status, headers, _ = server.send(request("initialize", params), token=token)
    assert status == 200
    return headers[SESSION]


def request(method, params, request_id=1):
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def tools_with_pages(server, token, session_id):
    listed = server.ask("tools/list", token=token, headers={SESSION: session_id}.items())["result"]["tools"]
    return {tool["name"] for tool in listed if "ui" in tool.get("_meta", {})}


def test_a_client_that_shows_pages_says_so_once(server):
    token = server.token()
    assert "preview_actions" in tools_with_pages(server, token, session(server, token, SHOWS_PAGES))
    assert not tools_with_pages(server, token, session(server, token))


@pytest.mark.parametrize("session_id", [None, "", "x", "-pages", "A" * 32, "0" * 32 + "-pages\u00e9", "0" * 5000])
def test_another_session_id_tells_nothing_and_refuses_nobody(server, session_id):
    assert not tools_with_pages(server, server.token(), session_id)


@pytest.mark.parametrize("capabilities", [{"extensions": []}, {"extensions": {pages.EXTENSION: 1}}, 7, None])
def test_odd_capabilities_name_no_pages_and_break_nothing(server, capabilities):
    params = {**HANDSHAKE, "capabilities": capabilities}
    status, headers, _ = server.send(request("initialize", params), token=server.token())
    assert status < 500
    assert not headers.get(SESSION, "").endswith("-pages")
    assert "Traceback" not in server.log()


def test_a_session_outlives_a_restart(server):
    with HttpServer(TEST_SERVER) as again:
        token = again.token()
        session_id = session(again, token, SHOWS_PAGES)
        again.process.kill()
        again.process.wait(TIMEOUT_S)
        again.start()
        assert "preview_actions" in tools_with_pages(again, token, session_id)


class Counting:
    """A call that counts up for a minute, and writes into `mark` when it is told to stop."""

    def __init__(self, server, token, session_id, mark, request_id=7):
        self.mark = mark
        self.connection = server.connection()
        arguments = {"steps": 6000, "mark": str(mark)}
        params = {"name": "test_counts", "arguments": arguments, "_meta": {"progressToken": "p"}}
        host = {"Host": urlsplit(server.url).netloc}
        sent = {**HEADERS, **host, "Authorization": f"Bearer {token}", SESSION: session_id}
        self.connection.request("POST", "/mcp", json.dumps(request("tools/call", params, request_id)), sent)
        self.answer = self.connection.getresponse()
        self.progress()

    def progress(self):
        """Wait for a progress notification."""
        while b"notifications/progress" not in (line := self.answer.readline()):
            assert line, "it ended without progress"

    def end(self):
        """Wait until it has stopped, and give what came on its stream from now on."""
        rest = self.answer.read()
        deadline = time.monotonic() + TIMEOUT_S
        while not (self.mark.exists() and self.mark.read_text(encoding="utf-8").startswith("stopped")):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        self.connection.close()
        return rest


def withdraw(server, token, session_id, request_id=7):
    body = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}}
    assert server.send(body, token=token, headers={SESSION: session_id}.items())[0] == 202


def test_a_withdrawn_call_stops_and_its_stream_ends_without_an_answer(server, tmp_path):
    token = server.token()
    session_id = session(server, token)
    call = Counting(server, token, session_id, tmp_path / "mark")
    withdraw(server, token, session_id)
    assert b'"result"' not in call.end()
    assert "without completing response" not in server.log()


def test_only_the_call_of_that_id_session_and_token_is_withdrawn(server, tmp_path):
    token = server.token()
    session_id = session(server, token)
    call = Counting(server, token, session_id, tmp_path / "mark")
    withdraw(server, server.token(), session_id)
    withdraw(server, token, session(server, token))
    withdraw(server, token, session_id, 8)
    withdraw(server, token, session_id, "7")
    withdraw(server, token, session_id, None)
    call.progress()
    call.progress()
    assert not call.mark.exists()
    withdraw(server, token, session_id)
    call.end()


def test_of_two_calls_of_one_id_both_are_served_and_a_finished_one_is_withdrawn_in_vain(server):
    token = server.token()
    headers = {SESSION: session(server, token)}.items()
    ask = lambda seconds: server.ask(  # noqa: E731
        "tools/call", {"name": "test_sleeps", "arguments": {"seconds": seconds}}, token=token, headers=headers
    )
    with ThreadPoolExecutor(2) as callers:
        answers = list(callers.map(ask, [0.3, 0.3]))
    assert [answer["result"]["isError"] for answer in answers] == [False, False]
    withdraw(server, token, dict(headers)[SESSION], 1)
    assert not ask(0)["result"]["isError"]


def test_a_session_id_is_of_visible_characters_and_another_each_time(server):
    token = server.token()
    ids = {session(server, token) for _ in range(3)}
    assert len(ids) == 3
    assert all(re.fullmatch("[0-9a-f]{32}", session_id) for session_id in ids)


def test_only_the_answer_to_initialize_names_a_session(server):
    status, headers, _ = server.send(request("tools/list", {}), token=server.token())
    assert (status, headers.get(SESSION)) == (200, None)
