"""The server over HTTP as a process: starting, ending, and what many callers at once may take of it."""

import os
import re
import resource
import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path

import pytest

from tests.support.client import TIMEOUT_S, finished
from tests.support.http_server import SERVER, TEST_SERVER, HttpServer
from tools.http import tokens

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server():
    with HttpServer() as running:
        yield running


def connection(server):
    return socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT_S)


def head(server, *lines, token=""):
    start = ["POST /mcp HTTP/1.1", "Host: localhost", "Content-Type: application/json"]
    authorization = f"Authorization: Bearer {token or server.token()}"
    return "\r\n".join([*start, authorization, *lines, "", ""]).encode()


def test_of_a_refused_body_no_more_is_read(server):
    with connection(server) as raw, suppress(ConnectionError):
        raw.sendall(head(server, "Transfer-Encoding: chunked", token="wrong"))
        for _ in range(100):
            raw.sendall(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")
            time.sleep(0.005)
        pytest.fail("6 MB were taken without a token")


def test_a_body_of_two_lengths_is_refused_and_nothing_after_it_is_answered(server):
    with connection(server) as raw:
        two_lengths = head(server, "Content-Length: 2", "Transfer-Encoding: chunked")
        chunked = b"2\r\n{}\r\n0\r\n\r\n"
        raw.sendall(two_lengths + chunked + head(server, "Content-Length: 2") + b"{}")
        answer = b"".join(iter(lambda: raw.recv(1000), b""))
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.count(b"HTTP/1.1 ") == 1


HEAD = b"POST /token HTTP/1.1\r\nHost: localhost\r\n"
BODY = HEAD + b"Content-Length: 10000\r\n\r\n"


@pytest.mark.parametrize("count, beginning", [(600, HEAD + b"X: "), (1300, BODY)])
def test_connections_that_never_send_the_rest_keep_no_good_request_out(count, beginning):
    """Each sends a byte now and then, and comes back when it is dropped. The server begins with 1,024 files,
    as under systemd."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    ends = threading.Event()
    silent = {}

    def be_silent():
        while not ends.is_set():
            for number in range(count):
                try:
                    silent[number].send(b"X")
                except (OSError, KeyError):
                    if number in silent:
                        silent[number].close()
                    with suppress(OSError):
                        silent[number] = connection(server)
                        silent[number].sendall(beginning)
            ends.wait(0.2)

    limited = ["bash", "-c", 'ulimit -Sn 1024; exec "$@"', "limited", *SERVER]
    with HttpServer(limited) as server:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4000), hard))
        attack = threading.Thread(target=be_silent)
        attack.start()
        try:
            while len(silent) < count:
                time.sleep(0.05)
            token = server.token()
            assert [server.listed(token) for _ in range(26)] == [200] * 26
        finally:
            ends.set()
            attack.join()
            for raw in silent.values():
                raw.close()
        assert len(server.log()) < 10_000
        assert "Traceback" not in server.log()


LARGE = {"4 MiB": b'"%b"' % (b"a" * (2**22 - 200)), "49,000 values": b"[%b1]" % (b"{}," * 49_000)}


@pytest.mark.parametrize("value", LARGE.values(), ids=[*LARGE])
def test_forty_large_bodies_at_once_take_little_memory(value):
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":%b}}' % value
    with HttpServer() as server, ThreadPoolExecutor(40) as callers:
        token = server.token()
        statuses = callers.map(lambda _: server.status(body, token=token), range(40))
        assert {*statuses} <= {200, 400}
        status = Path(f"/proc/{server.process.pid}/status").read_text("ascii")
        [peak_kb] = re.findall(r"VmHWM:\s+(\d+)", status)
    assert int(peak_kb) < 150 * 1024


def test_a_long_computation_is_answered_and_one_that_holds_the_interpreter_is_ended_by_the_kernel():
    with HttpServer(TEST_SERVER, TEST_STUCK_S="1") as server:
        token = server.token()
        assert server.content("test_computes", token=token, seconds=2)["success"]
        with suppress(HTTPException, ConnectionError):
            server.call("test_hogs", token=token)
        assert server.process.wait(TIMEOUT_S) == -signal.SIGPROF


@pytest.mark.parametrize("delay_s", [0, 0.01, 0.05, 0.2])
def test_a_signal_while_it_starts_ends_it(delay_s):
    with HttpServer() as server:
        time.sleep(delay_s)
        server.process.terminate()
        assert server.process.wait(10) == 0


def test_keys_that_others_can_read_and_an_address_in_use_keep_it_from_starting():
    server = HttpServer()
    tokens.ensure_keys(server.state / "http-keys")
    with socket.create_server(("127.0.0.1", server.port)):
        in_use = f"cannot listen at 127.0.0.1:{server.port}"
        for mode, message in ((0o644, "chmod 600"), (0o600, in_use)):
            (server.state / "http-keys").chmod(mode)
            done = finished(server.command, env={**os.environ, **server.environment})
            assert (done.returncode, message in done.stderr) == (2, True), done
            assert "Traceback" not in done.stderr


def test_systemd_keeps_its_socket_and_it_ends_when_idle():
    with HttpServer(kept=True, MCP_IDLE_EXIT="1") as server:
        for _ in range(2):
            assert server.listed(server.token()) == 200
            assert server.process.wait(TIMEOUT_S) == 0
            server.start()
