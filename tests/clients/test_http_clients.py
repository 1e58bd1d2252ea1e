"""Clients of others against the server over HTTP, each with a token."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.clients.installing import NOT_ASKED, from_npm, from_pip
from tests.support.http_server import TEST_SERVER, HttpServer

if NOT_ASKED:
    pytest.skip(NOT_ASKED, allow_module_level=True)
TIMEOUT_S = 120
SCRIPTS = Path(__file__).parent / "http"
PYTHON_CLIENTS = {
    "mcp==1.30.0": "sdk1.py",
    "fastmcp==4.0.11": "fastmcp_client.py",
    "openai-agents==0.24.0": "openai_agents.py",
}
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


@pytest.mark.parametrize("package", PYTHON_CLIENTS)
def test_a_python_client_lists_calls_and_reads(server, package):
    done = run([from_pip(package), SCRIPTS / PYTHON_CLIENTS[package], server.url, token(server)])
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert {"greet", "read_doc", "preview_actions"} <= set(seen["tools"])
    assert not [name for name in seen["tools"] if name.startswith("anki")]
    assert "Ann" in seen["greeting"]
    assert seen["error"] == "UNKNOWN_ARGUMENT"
    assert "BLTouch?" in seen["prompt"]
    assert seen.get("page", "# Bed Mesh\n\nThe mesh.\n") == "# Bed Mesh\n\nThe mesh.\n"
    assert seen.get("progress", [[40, 40, "step 40"]])[-1] == [40, 40, "step 40"]
    assert "Traceback" not in server.log()


@pytest.mark.parametrize("package", PYTHON_CLIENTS)
def test_a_python_client_is_told_of_a_refused_token_and_starts_no_sign_in(server, package):
    done = run([from_pip(package), SCRIPTS / PYTHON_CLIENTS[package], server.url, "wrong"])
    assert done.returncode != 0
    assert "401" in done.stderr or "Unauthorized" in done.stderr
    assert "it is not a token" in server.log()


def inspect(server, bearer, *words):
    command = [from_npm(NODE, "node"), from_npm(INSPECTOR, "mcp-inspector"), "--cli", "--server-url", server.url]
    return run(
        [*command, "--transport", "http", "--header", f"Authorization: Bearer {bearer}", "--format", "json", *words]
    )


def answer(done):
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
    return json.loads(done.stdout)["result"]


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_lists_and_calls(server, era):
    bearer, eras = token(server), ("--protocol-era", era)
    listed = answer(inspect(server, bearer, "--method", "tools/list", "--strict", *eras))["tools"]
    assert {"greet", "read_doc", "preview_actions"} <= {tool["name"] for tool in listed}
    call = ("--method", "tools/call", "--tool-name", "greet", "--tool-args-json", '{"name": "Ann"}')
    assert "Ann" in answer(inspect(server, bearer, *call, *eras))["content"][0]["text"]


def test_the_inspector_calls_five_hundred_times_at_once(server):
    load = ["--load", "--load-concurrency", "8", "--load-requests", "500"]
    call = ("--method", "tools/call", "--tool-name", "read_doc", "--tool-args-json", '{"path": "Bed_Mesh"}')
    figures = answer(inspect(server, token(server), *call, *load))
    assert (figures["requests"], figures["ok"], figures["errors"], figures["toolErrors"]) == (500, 500, 0, 0)


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_hears_of_pages_where_it_says_that_it_shows_them(server, era):
    probe = ("--method", "tools/call", "--tool-name", "preview_actions", "--app-info", "--protocol-era", era)
    assert "ui://onepercent" in inspect(server, token(server), *probe, "--advertise-apps").stdout
    assert "ui://onepercent" not in inspect(server, token(server), *probe).stdout


def test_the_inspector_says_that_a_refused_token_needs_a_sign_in(server):
    """As all clients that know OAuth; there is none to sign in to, which docs/remote.md says."""
    done = inspect(server, "wrong", "--method", "tools/list", "--stored-auth-only")
    assert done.returncode != 0
    assert "auth_required" in done.stdout + done.stderr
    assert "it is not a token" in server.log()
