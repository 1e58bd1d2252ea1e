"""`--check` over HTTP: what a client meets at the public address, and what it means."""

import http.server
import ssl
import subprocess
import threading
from contextlib import contextmanager

import pytest

from tests.support.http_server import HttpServer
from tools.core.settings import current
from tools.service import http_check, tokens


@contextmanager
def answering(status, body=b"", certificate=None, **headers):
    """Something that answers every POST alike; gives its address."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http{'s' if certificate else ''}://127.0.0.1:{server.server_port}/mcp"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def keys(env):
    tokens.keys_at(current().state_dir / current().http_key_file)


def look(env, url):
    env(MCP_HTTP_URL=url)
    return http_check.look(current())


def test_a_server_that_serves_is_well(env):
    with HttpServer() as server:
        env(MCP_STATE_DIR=server.state)
        health = look(env, server.url)
        log = server.log()
    assert health.state == "ok", (health, log)
    assert server.url in health.summary


def test_without_keys_it_is_not_set_up_and_none_are_made(env):
    health = look(env, "https://pi.example/mcp")
    assert (health.state, "setup.sh --http" in health.advice) == ("unset", True)
    assert not (current().state_dir / current().http_key_file).exists()


def test_keys_that_others_can_read_are_told(env, keys):
    (current().state_dir / current().http_key_file).chmod(0o644)
    health = look(env, "https://pi.example/mcp")
    assert health.state == "broken"
    assert "closed to others" in health.summary


def test_a_server_with_other_keys_refuses_and_it_says_so(env, keys):
    with HttpServer() as server:
        health = look(env, server.url)
    assert (health.state, "HTTP 401" in health.summary) == ("broken", True)
    assert "other keys" in health.advice


def test_a_path_that_is_not_the_servers_is_told(env):
    with HttpServer() as server:
        env(MCP_STATE_DIR=server.state)
        health = look(env, server.url.replace("/mcp", "/other"))
    assert "HTTP 404, nothing is at that path" in health.summary


@pytest.mark.parametrize(
    ("status", "headers", "word"),
    [
        (301, {"Location": "https://pi.example/mcp"}, "make that MCP_HTTP_URL"),
        (401, {"WWW_Authenticate": 'Basic realm="proxy"'}, "without a login"),
        (403, {}, "without a login"),
        (405, {}, "after all redirects"),
        (421, {}, "$http_host"),
        (429, {}, "Wait"),
        (502, {}, "MCP_HTTP_LISTEN"),
        (200, {}, "lead to this server"),
        (500, {}, "lead to this server"),
    ],
)
def test_what_a_proxy_answers_is_explained(env, keys, status, headers, word):
    with answering(status, b"<html>", **headers) as url:
        health = look(env, url)
    assert (health.state, f"HTTP {status}" in health.summary) == ("broken", True)
    assert word in health.advice


def test_nobody_there_is_told_with_the_units(env, keys):
    with answering(200) as url:
        pass
    health = look(env, url)
    assert "nothing listens there" in health.summary
    assert "pi-mcp-http.socket" in health.advice


def test_a_certificate_that_clients_would_not_accept_is_told(env, keys, tmp_path):
    file = tmp_path / "both.pem"
    words = "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=127.0.0.1"
    subprocess.run([*words.split(), "-keyout", file, "-out", tmp_path / "cert.pem"], check=True, capture_output=True)
    file.write_bytes(file.read_bytes() + (tmp_path / "cert.pem").read_bytes())
    with answering(200, certificate=file) as url:
        health = look(env, url)
    assert "certificate is not accepted" in health.summary


def test_the_token_of_the_check_reaches_no_text(env, keys, monkeypatch):
    sent = []
    monkeypatch.setattr(http_check.tokens, "sign", lambda *_: sent.append("SECRET") or "SECRET")
    with answering(403) as url:
        health = look(env, url)
    assert sent == ["SECRET"]
    assert "SECRET" not in str(health)
