"""Clients that people use, end to end: what their model is offered, and what it reads of the answers."""

import json
import os
import subprocess

import pytest

from tests.clients.installing import from_npm, require_opt_in
from tests.clients.model_api import ModelApi, answers, tools
from tests.support.client import SERVER
from tests.support.decks_only import decks_only
from tools.core import registry, settings

require_opt_in()
TIMEOUT_S = 180
GOAL = {
    "client_action_id": "123e4567-e89b-42d3-a456-426614174000",
    "action": "goal.create",
    "params": {"title": "Learn the trumpet"},
}
PLAN = [
    ("greet", {"name": "Ян"}),
    ("anki_list_decks", {}),
    ("search_docs", {"query": "bltouch"}),
    ("preview_actions", {"actions": [GOAL]}),
]
OURS = ("MCP_", "KLIPPER_", "ANKI_", "XDG_", "HOME", "PATH", "LANG")


@pytest.fixture
def api(env, small_docs):
    """The model's API, with an Anki and a documentation for the server to answer from."""
    small_docs({"BLTouch.md": "# BL-Touch\n\nConnecting a BL-Touch probe.\n"})
    with decks_only() as port:
        env(ANKI_CONNECT_URL=f"http://127.0.0.1:{port}")
        api = ModelApi(PLAN)
        yield api
        api.shutdown()
        api.server_close()


def server():
    """Our server as the clients' settings have it."""
    return {"command": SERVER[0], "args": SERVER[1:], "env": environment()}


def environment(**more):
    return {name: value for name, value in os.environ.items() if name.startswith(OURS)} | more


def run(command, folder, **more):
    work = folder / "work"
    work.mkdir()
    done = subprocess.run(
        [str(word) for word in command],
        cwd=work,
        env=environment(NO_PROXY="127.0.0.1", CI="1", **more),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def claude_code(api, home):
    program = from_npm("@anthropic-ai/claude-code@2.1.330", "claude")
    config = home / "mcp.json"
    config.write_text(json.dumps({"mcpServers": {"pi": server()}}))
    run(
        [program, "-p", "go", "--mcp-config", config, "--strict-mcp-config", "--allowedTools", "mcp__pi"],
        home,
        ANTHROPIC_BASE_URL=api.url,
        ANTHROPIC_API_KEY="none",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
        ENABLE_TOOL_SEARCH="false",
    )


def codex(api, home):
    program = from_npm("@openai/codex@0.169.0", "codex")
    (home / ".codex").mkdir()
    ours = server()
    variables = ", ".join(f"{name} = {json.dumps(value)}" for name, value in ours["env"].items())
    (home / ".codex" / "config.toml").write_text(f"""\
model = "gpt-5"
model_provider = "here"
[model_providers.here]
name = "here"
base_url = "{api.url}/v1"
wire_api = "responses"
[mcp_servers.pi]
required = true
startup_timeout_sec = 60
command = {json.dumps(ours["command"])}
args = {json.dumps(ours["args"])}
env = {{ {variables} }}
""")
    run([program, "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "go"], home)


def gemini_cli(api, home):
    program = from_npm("@google/gemini-cli@0.61.0", "gemini")
    (home / ".gemini").mkdir()
    config = {
        "mcpServers": {"pi": {**server(), "trust": True}},
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "privacy": {"usageStatisticsEnabled": False},
    }
    (home / ".gemini" / "settings.json").write_text(json.dumps(config))
    run(
        [program, "-p", "go", "--approval-mode", "yolo", "--model", "gemini-2.5-flash"],
        home,
        GOOGLE_GEMINI_BASE_URL=api.url,
        GEMINI_API_KEY="none",
    )


@pytest.mark.parametrize("client", [claude_code, codex, gemini_cli])
def test_a_client_s_model_is_offered_every_tool_and_reads_true_answers(client, api, env):
    client(api, env() / "home")

    last = api.last()
    listed = {name.replace(".", "_") for name in registry.listed(settings.current())}
    offered = {name.removeprefix("mcp__pi__").removeprefix("mcp_pi_") for name in tools(last)}
    assert listed <= offered
    greeting, decks, pages, preview = ("\n".join(texts(answer)) for answer in answers(last))
    assert "Привет, Ян!" in greeting
    assert '"name":"Default"' in decks
    assert "BLTouch.md" in pages
    assert "preview_id" in preview
    assert "error" not in greeting + decks + pages


def texts(answer):
    """All texts in what a model reads, whatever its API wraps them in."""
    if isinstance(answer, str):
        yield answer
    for member in answer if isinstance(answer, list) else answer.values() if isinstance(answer, dict) else ():
        yield from texts(member)
