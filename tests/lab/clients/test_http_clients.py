"""Clients of others against the server over HTTP, each with a token."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.lab.clients.installing import NOT_ASKED, from_npm, from_pip
from tests.support.http_server import TEST_SERVER, HttpServer

if NOT_ASKED:
    pytest.skip(NOT_ASKED, allow_module_level=True)
TIMEOUT_S = 120
SCRIPT = Path(__file__).with_name("sdk1.py")
PACKAGE = "mcp==1.30.0"
NODE, INSPECTOR = "node@22.21.1", "@modelcontextprotocol/inspector@2.12.0"


@pytest.fixture
def server(small_docs):
    small_docs({"Bed_Mesh.md": "# Bed Mesh\n\nThe mesh.\n"})
    with HttpServer(TEST_SERVER) as running:
        yield running


def run(command):
    environ = {**os.environ, "NO_PROXY": "127.0.0.1", "MCP_INSPECTOR_SECRET_STORE": "memory"}
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=TIMEOUT_S, env=environ)


def token(server):
    return server.token(scope="server klipper onepercent")


def test_a_client_of_the_sdk_before_lists_calls_and_reads(server):
    done = run([from_pip(PACKAGE), SCRIPT, server.url, token(server)])
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert {"greet", "read_doc", "preview_actions"} <= set(seen["tools"])
    assert not [name for name in seen["tools"] if name.startswith("anki")]
    assert "Ann" in seen["greeting"]
    assert seen["error"] == "UNKNOWN_ARGUMENT"
    assert "BLTouch?" in seen["prompt"]
    assert seen["page"] == "# Bed Mesh\n\nThe mesh.\n"
    assert seen["progress"][-1] == [40, 40, "step 40"]
    assert "Traceback" not in server.log()
    refused = run([from_pip(PACKAGE), SCRIPT, server.url, "wrong"])
    assert refused.returncode != 0 and ("401" in refused.stderr or "Unauthorized" in refused.stderr)


def inspect(server, bearer, *words):
    command = [from_npm(NODE, "node"), from_npm(INSPECTOR, "mcp-inspector"), "--cli", "--server-url", server.url]
    return run(
        [*command, "--transport", "http", "--header", f"Authorization: Bearer {bearer}", "--format", "json", *words]
    )


def answer(done):
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
    return json.loads(done.stdout)["result"]


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_lists_calls_and_hears_of_pages_whether_it_says_that_it_shows_them_or_not(server, era):
    bearer, eras = token(server), ("--protocol-era", era)
    listed = answer(inspect(server, bearer, "--method", "tools/list", "--strict", *eras))["tools"]
    assert {"greet", "read_doc", "preview_actions"} <= {tool["name"] for tool in listed}
    call = ("--method", "tools/call", "--tool-name", "greet", "--tool-args-json", '{"name": "Ann"}')
    assert "Ann" in answer(inspect(server, bearer, *call, *eras))["content"][0]["text"]
    probe = ("--method", "tools/call", "--tool-name", "preview_actions", "--app-info", *eras)
    for more in ([], ["--advertise-apps"]):
        assert "ui://onepercent" in inspect(server, bearer, *probe, *more).stdout
