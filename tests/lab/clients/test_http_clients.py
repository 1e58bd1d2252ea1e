"""Clients of others against the server over HTTP, each with a token."""

import json
import os
import subprocess

import pytest

from tests.lab.clients.installing import NOT_ASKED, from_npm
from tests.support.http_server import HttpServer

if NOT_ASKED:
    pytest.skip(NOT_ASKED, allow_module_level=True)
TIMEOUT_S = 120
NODE, INSPECTOR = "node@22.21.1", "@modelcontextprotocol/inspector@2.12.0"


def inspect(server, bearer, *words):
    command = [from_npm(NODE, "node"), from_npm(INSPECTOR, "mcp-inspector"), "--cli", "--server-url", server.url]
    command += ["--transport", "http", "--header", f"Authorization: Bearer {bearer}", "--format", "json", *words]
    environ = {**os.environ, "NO_PROXY": "127.0.0.1", "MCP_INSPECTOR_SECRET_STORE": "memory"}
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=TIMEOUT_S, env=environ)


def answer(done):
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
    return json.loads(done.stdout)["result"]


@pytest.fixture
def server():
    with HttpServer() as running:
        yield running


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_lists_calls_and_hears_of_pages_whether_it_says_that_it_shows_them_or_not(server, era):
    bearer, eras = server.token(scope="server klipper onepercent"), ("--protocol-era", era)
    listed = answer(inspect(server, bearer, "--method", "tools/list", "--strict", *eras))["tools"]
    assert {"greet", "read_doc", "preview_actions"} <= {tool["name"] for tool in listed}
    call = ("--method", "tools/call", "--tool-name", "greet", "--tool-args-json", '{"name": "Ann"}')
    assert "Ann" in answer(inspect(server, bearer, *call, *eras))["content"][0]["text"]
    probe = ("--method", "tools/call", "--tool-name", "preview_actions", "--app-info", *eras)
    for more in ([], ["--advertise-apps"]):
        assert "ui://onepercent" in inspect(server, bearer, *probe, *more).stdout
