"""The server over HTTP: who is let in, what is refused, whose data is whose. A real process, a real socket."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from tests.support.client import ENVELOPE, HANDSHAKE, PROJECT, TIMEOUT_S
from tests.support.http_server import HttpServer, messages
from tools.service import listening, tokens

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
MODERN = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}


@pytest.fixture(scope="module")
def server():
    with HttpServer(ONEPERCENT_RATE_LIMIT="off", ONEPERCENT_TZ="UTC") as running:
        yield running


def names(server, token):
    return {tool["name"] for tool in server.ask("tools/list", token=token)["result"]["tools"]}


def test_a_token_lists_and_calls_what_its_scope_names(server):
    token = server.token(scope="onepercent server")
    assert {"greet", "get_user_snapshot", "apply_actions"} <= names(server, token)
    assert not {name for name in names(server, token) if name.startswith("anki")}
    assert server.call("greet", token=token, name="Ada")["structuredContent"]
    assert server.call("read_doc", token=token, path="x")["structuredContent"]["code"] == "UNKNOWN_TOOL"


def test_the_2026_era_is_served_too(server):
    token = server.token()
    answer = server.ask("tools/list", {"_meta": ENVELOPE}, token=token, headers=MODERN.items())
    assert {"greet", "get_user_snapshot"} <= {tool["name"] for tool in answer["result"]["tools"]}
    params = {"name": "greet", "arguments": {"name": "Ada"}, "_meta": ENVELOPE}
    headers = {**MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "greet"}
    assert (
        "Ada" in server.ask("tools/call", params, token=token, headers=headers.items())["result"]["content"][0]["text"]
    )


def test_a_reading_scope_lists_and_calls_no_writer(server):
    token = server.token(scope="onepercent:read")
    assert "get_user_snapshot" in names(server, token)
    assert "apply_actions" not in names(server, token)
    assert server.call("apply_actions", token=token, preview_id="x")["structuredContent"]["code"] == "UNKNOWN_TOOL"


def test_prompts_resources_and_completion_follow_the_scope(server):
    owner, guest = server.token(scope="klipper onepercent"), server.token(scope="server")
    assert server.ask("prompts/list", token=owner)["result"]["prompts"]
    assert not server.ask("prompts/list", token=guest)["result"]["prompts"]
    prompt = server.ask("prompts/list", token=owner)["result"]["prompts"][0]["name"]
    assert "error" in server.ask("prompts/get", {"name": prompt}, token=guest)
    listed = {
        one["uriTemplate"] for one in server.ask("resources/templates/list", token=owner)["result"]["resourceTemplates"]
    }
    assert listed
    assert not server.ask("resources/templates/list", token=guest)["result"]["resourceTemplates"]
    assert "error" in server.ask("resources/read", {"uri": "klipper://docs/Bed_Mesh.md"}, token=guest)


@pytest.mark.parametrize("scope", ["", "nothing known", "onepercent:write", "*", "all", "ONEPERCENT"])
def test_a_scope_that_names_nothing_known_is_refused(server, scope):
    status, headers, _ = server.send(LIST, token=server.token(scope=scope))
    assert status == 403
    assert "insufficient_scope" in headers["www-authenticate"]


def refusals(server):
    now = int(time.time())
    good = server.token()
    return {
        "no token": {},
        "another scheme": {"headers": {"Authorization": "Basic YTpi"}.items()},
        "a word": {"token": "word"},
        "an empty one": {"headers": {"Authorization": "Bearer "}.items()},
        "in the query": {"path": f"/mcp?access_token={good}&token={good}"},
        "expired": {"token": server.token(exp=now - 100)},
        "without an end": {"token": server.token(exp=None)},
        "not valid yet": {"token": server.token(nbf=now + 1000)},
        "for another address": {"token": server.token(aud="https://other.example/mcp")},
        "of another issuer": {"token": server.token(iss="other")},
        "without a user": {"token": server.token(sub=None)},
        "another key": {"token": tokens.sign(tokens.new_claims("anna", ["onepercent"], server.url, 60), b"f" * 32)},
        "cut": {"token": good[:-2]},
        "not ASCII": {"headers": {"Authorization": "Bearer \xe9.\xe9.\xe9"}.items()},
    }


def test_without_a_good_token_it_is_401_and_the_same_words(server):
    bodies = set()
    for name, options in refusals(server).items():
        status, headers, body = server.send(LIST, **options)
        assert status == 401, name
        assert headers["www-authenticate"].startswith("Bearer"), name
        bodies.add(body)
    assert len(bodies) == 1


def test_a_revoked_token_is_refused_at_once_without_a_restart(server):
    token = server.token(jti="lost")
    assert server.send(LIST, token=token)[0] == 200
    done = subprocess.run(
        [sys.executable, "-m", "tools", "token", "revoke", "lost"],
        cwd=PROJECT, env={**os.environ, **server.environment}, capture_output=True, text=True, timeout=TIMEOUT_S,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert server.send(LIST, token=token)[0] == 401


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": ""}, 421),
        ({"Host": "127.0.0.1.evil.example"}, 421),
        ({"Host": "localhost"}, 200),
        ({"Host": "127.0.0.1:1"}, 200),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1"}, 200),
        ({"Content-Type": "text/plain"}, 400),
        ({"Content-Type": None}, 400),
        ({"Content-Type": "application/json; charset=utf-8"}, 200),
        ({"Accept": "text/html"}, 406),
    ],
)
def test_host_origin_and_kind_are_looked_at(server, headers, status):
    assert server.send(LIST, token=server.token(), headers=headers.items())[0] == status


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH"])
def test_only_post_is_answered(server, method):
    status, headers, _ = server.send(LIST, token=server.token(), method=method)
    assert (status, headers["allow"]) == (405, "POST")


def test_the_address_is_the_same_with_a_slash_at_its_end_and_nothing_else_is_there(server):
    assert server.send(LIST, token=server.token(), path="/mcp/")[0] == 200
    for path in ("/", "/other", "/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"):
        assert server.send(LIST, token=server.token(), path=path)[0] == 404


def test_a_body_that_is_too_large_is_refused_declared_or_not(server):
    assert server.send(b"x" * (4 * 2**20 + 1), token=server.token())[0] == 413
    with connection(server) as raw:
        raw.sendall(head(server, "Transfer-Encoding: chunked"))
        for _ in range(65):
            raw.sendall(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")
        raw.sendall(b"0\r\n\r\n")
        assert b" 413 " in raw.recv(100)


@pytest.mark.parametrize("piece", [b"{},", b"1,", b"[", b'"",'])
def test_a_body_of_very_many_values_is_refused_unread(server, piece):
    """4 MiB of them took 260 MiB of the one process that serves everybody."""
    body = b'{"jsonrpc":"2.0","id":5,"method":"ping","params":{"x":[' + piece * (3 * 2**20 // len(piece)) + b"1]}}"
    assert server.send(body, token=server.token())[0] == 413


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"[" * 100_000,
        b"null",
        b"\xff\xfe",
        b'"\\ud800"',
    ],
)
def test_what_is_not_a_message_is_400(server, body):
    assert server.send(body, token=server.token())[0] == 400


def connection(server):
    return socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT_S)


def head(server, *lines):
    first = ["POST /mcp HTTP/1.1", "Host: localhost", f"Authorization: Bearer {server.token()}"]
    return "\r\n".join([*first, "Content-Type: application/json", *lines, "", ""]).encode()


def test_slow_and_silent_connections_stop_nobody_and_200_at_once_are_served(server):
    token = server.token()
    slow = [connection(server) for _ in range(100)]
    try:
        for number, raw in enumerate(slow):
            raw.sendall([b"", b"POST /mcp HT", head(server, "Content-Length: 50") + b"{"][number % 3])
        with ThreadPoolExecutor(50) as callers:
            statuses = list(callers.map(lambda _: server.send(LIST, token=token)[0], range(200)))
        assert set(statuses) == {200}
    finally:
        for raw in slow:
            raw.close()


@pytest.mark.parametrize("authorization", ["", "Authorization: Bearer x"])
def test_a_broken_chunk_is_refused_without_a_traceback(server, authorization):
    with connection(server) as raw:
        lines = ["POST /mcp HTTP/1.1", "Host: localhost", "Transfer-Encoding: chunked", *filter(None, [authorization])]
        raw.sendall("\r\n".join([*lines, "", "zz\r\n"]).encode())
        assert b" 400 " in raw.recv(100)
        while raw.recv(100):
            pass
    assert server.send(LIST, token=server.token())[0] == 200
    assert "Traceback" not in server.log()


def test_a_broken_body_where_no_answer_may_have_one_is_no_traceback(server):
    with connection(server) as raw:
        lines = ["HEAD /mcp HTTP/1.1", "Host: localhost", "Transfer-Encoding: chunked", "", "1" * 200_000]
        with suppress(OSError):  # it hangs up in the middle
            raw.sendall("\r\n".join(lines).encode())
            while raw.recv(100):
                pass
    assert server.send(LIST, token=server.token())[0] == 200
    assert "Traceback" not in server.log()


def test_a_header_that_decides_must_not_be_there_twice(server):
    for line in ("Authorization: Bearer x", "Host: localhost"):
        with connection(server) as raw:
            raw.sendall(head(server, line, "Content-Length: 2") + b"{}")
            assert b" 400 " in raw.recv(100)


def test_the_log_says_why_and_holds_no_token(server):
    token = server.token()
    server.send(LIST, token=token, headers={"Host": "evil.example"}.items())
    server.send(LIST, token=token[:-4] + "AAAA")
    server.call("get_user_snapshot", token=token)
    log = server.log()
    assert "evil.example" in log
    assert "MCP_HTTP_URL" in log
    assert "signature is wrong" in log
    assert token.split(".")[1] not in log
    assert "Traceback" not in log


def test_progress_arrives_while_a_call_runs_and_questions_are_refused_clearly(server):
    params = {"name": "greet", "arguments": {"name": "A"}, "_meta": {"progressToken": "p"}}
    assert server.ask("tools/call", params, token=server.token())["result"]["isError"] is False


def test_a_standing_stream_is_not_offered(server):
    found = server.ask(
        "server/discover",
        {"_meta": ENVELOPE},
        token=server.token(),
        headers={**MODERN, "Mcp-Method": "server/discover"}.items(),
    )
    assert not found["result"]["capabilities"]["tools"].get("listChanged")


def test_rate_limits_are_each_tokens_own_and_say_when_to_come_back():
    with HttpServer(MCP_HTTP_RATE="6") as server:
        busy, calm = server.token(user="anna"), server.token(user="ben")
        statuses = [server.send(LIST, token=busy)[0] for _ in range(5)]
        assert statuses == [200, 200, 200, 429, 429]
        status, headers, body = server.send(LIST, token=busy)
        assert status == 429
        error = json.loads(body)["error"]
        assert 1 <= int(headers["retry-after"]) == error["data"]["retry_after"] <= 10
        assert server.send(LIST, token=calm)[0] == 200


def test_failed_tokens_meet_a_bucket_of_their_own():
    with HttpServer() as server:
        with ThreadPoolExecutor(8) as callers:
            statuses = list(callers.map(lambda _: server.send(LIST, token="wrong")[0], range(60)))
        assert set(statuses) == {401, 429}
        assert server.send(LIST, token=server.token())[0] == 200


def test_a_rotated_key_signs_new_tokens_and_keeps_the_old_ones_once():
    with HttpServer() as server:
        first = server.token()
        tokens.rotate(server.state / "http-keys")
        second = server.token()
        assert [server.send(LIST, token=one)[0] for one in (first, second)] == [200, 200]
        tokens.rotate(server.state / "http-keys")
        assert [server.send(LIST, token=one)[0] for one in (first, second)] == [401, 200]


def test_a_killed_server_comes_back_to_the_same_tokens():
    with HttpServer() as server:
        token = server.token()
        assert server.send(LIST, token=token)[0] == 200
        server.process.send_signal(signal.SIGKILL)
        server.process.wait(TIMEOUT_S)
        server.start()
        assert server.send(LIST, token=token)[0] == 200
        server.process.terminate()
        assert server.process.wait(TIMEOUT_S) == 0


def test_a_key_that_others_can_read_keeps_it_from_starting():
    server = HttpServer()
    tokens.keys_at(server.state / "http-keys")
    (server.state / "http-keys").chmod(0o644)
    assert "chmod 600" in refused_start(server)


@pytest.mark.parametrize("place", ["127.0.0.1", "127.0.0.1:http", "127.0.0.1:99999", "nowhere.invalid:1", "/proc/x/y"])
def test_where_it_cannot_listen_it_says_so_and_does_not_start(place):
    assert "MCP_HTTP_LISTEN" in refused_start(HttpServer(MCP_HTTP_LISTEN=place))


def test_parts_of_an_answer_do_not_wait_for_one_another():
    listener, is_kept = listening.for_http("127.0.0.1:0")
    with listener, socket.create_connection(listener.getsockname()), listener.accept()[0] as accepted:
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    assert not is_kept


def test_a_port_that_is_taken_keeps_it_from_starting():
    server = HttpServer()
    with socket.create_server(("127.0.0.1", server.port)):
        assert f"cannot listen at 127.0.0.1:{server.port}" in refused_start(server)


def refused_start(server):
    """What it writes where it does not start."""
    environ = {**os.environ, **server.environment}
    done = subprocess.run(server.command, env=environ, capture_output=True, text=True, timeout=TIMEOUT_S)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    return done.stderr


def test_systemd_keeps_its_socket_and_it_ends_when_idle():
    server = HttpServer(MCP_IDLE_EXIT="1")
    with socket.create_server(("127.0.0.1", server.port)) as listener:
        script = f'exec 3<&{listener.fileno()} && LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"'
        command = ["bash", "-c", script, "systemd", sys.executable, str(PROJECT / "server.py"), "--http"]
        environ = {**os.environ, **server.environment}
        for _ in range(2):
            tokens.keys_at(server.state / "http-keys")
            with (
                ThreadPoolExecutor(1) as client,
                subprocess.Popen(command, env=environ, pass_fds=[listener.fileno()]) as process,
            ):
                assert client.submit(server.send, LIST, token=server.token()).result(TIMEOUT_S)[0] == 200
                assert process.wait(TIMEOUT_S) == 0


def test_messages_reads_both_kinds_of_answers():
    assert messages({"content-type": "application/json"}, b'{"a": 1}') == [{"a": 1}]
    assert messages({"content-type": "text/event-stream"}, b'event: message\r\ndata: {"a": 1}\r\n\r\n') == [{"a": 1}]


def test_handshake(server):
    found = server.ask("initialize", HANDSHAKE, token=server.token())["result"]
    assert found["serverInfo"]["name"] == "pi-mcp"
    assert "Klipper" not in found.get("instructions", "")
