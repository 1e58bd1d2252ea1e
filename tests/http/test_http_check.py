"""`--check` over HTTP: what a client meets at the public address, and what it means."""

import pytest

from tests.http.test_sign_in_clients import serving
from tests.support.http_server import HttpServer
from tests.support.web import Handler, listening
from tools.core.health import run_check
from tools.core.settings import current
from tools.http import http_check, tokens


def answering(status, *headers, metadata=None):
    """A server that answers each POST of a client of MCP with `status`, and each GET, where the sign-in is, with the status
    `metadata`; a context that gives its address."""

    class Alike(Handler):
        def do_POST(self):
            self.body()
            if self.headers["Accept"] != "application/json, text/event-stream":
                self.send(406)
                return
            where = f"http://{self.headers['Host']}/.well-known/oauth-protected-resource/mcp"
            challenge = f'Bearer realm="pi-mcp", resource_metadata="{where}"'
            own_headers = [("WWW-Authenticate", challenge)] if metadata else headers
            self.send(status, headers=own_headers)

        def do_GET(self):
            self.send(metadata, b"<html>")

    return listening(Alike)


@pytest.fixture
def keys(env):
    tokens.ensure_keys(current().state_dir / current().http_key_file)


def look(env, url):
    env(MCP_HTTP_URL=url)
    return run_check(lambda: http_check.inspect(current()))


@pytest.mark.slow
def test_a_server_that_serves_is_well_and_another_path_or_another_state_is_told(env, keys):
    with HttpServer() as server:
        health = look(env, server.url)
        assert (health.state, "a call: HTTP 401" in health.summary) == ("broken", True)
        assert "another MCP_STATE_DIR" in health.advice
        env(MCP_STATE_DIR=server.state)
        assert look(env, server.url).state == "ok"
        elsewhere = look(env, server.url.replace("/mcp", "/other"))
        assert "HTTP 404, nothing is at that path" in elsewhere.summary


def test_without_keys_it_is_not_set_up_and_none_are_made_and_open_ones_are_told(env):
    health = look(env, "https://pi.example/mcp")
    assert (health.state, "setup.sh --http" in health.advice) == ("unset", True)
    path = current().state_dir / current().http_key_file
    assert not path.exists()
    tokens.ensure_keys(path)
    path.chmod(0o644)
    assert "closed to others" in look(env, "https://pi.example/mcp").summary


def test_a_proxy_that_passes_on_only_the_calls_is_told_with_the_address_that_it_keeps(env, keys):
    for status, word in ((404, "every path"), (405, "lead to this"), (200, "lead to this")):
        with answering(401, metadata=status) as url:
            health = look(env, f"{url}/mcp")
        where = "/.well-known/oauth-protected-resource/mcp"
        assert f"{where}: the metadata: HTTP {status}, " in health.summary
        assert (health.state, word in health.advice) == ("broken", True)


@pytest.mark.slow
def test_what_is_wrong_with_tls_is_told(env, keys, tmp_path):
    with serving(tmp_path) as origin:
        health = look(env, f"{origin}/mcp")
    assert "/mcp: its certificate is not accepted: self-signed certificate" in health.summary
    with answering(401) as url:
        health = look(env, f"{url.replace('http', 'https')}/mcp")
    assert "wrong version number" in health.summary


PROXIES = [
    (301, [("Location", "https://pi.example/mcp")], "make that MCP_HTTP_URL"),
    (401, [("WWW-Authenticate", 'Basic realm="proxy"')], "without a login"),
    (403, [], "without a login"),
    (405, [], "lead to this server"),
    (421, [], "Host header"),
    (502, [], "MCP_HTTP_LISTEN"),
    (500, [], "lead to this server"),
]


def test_the_answer_of_a_proxy_is_explained_and_that_nobody_is_there(env, keys):
    for status, headers, word in PROXIES:
        with answering(status, *headers) as url:
            health = look(env, f"{url}/mcp")
        assert (health.state, word in health.advice) == ("broken", True)
        assert f"HTTP {status}" in health.summary
    health = look(env, f"{url}/mcp")
    assert "nothing listens there" in health.summary
    assert http_check.RESTART in health.advice
