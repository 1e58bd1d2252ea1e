"""The MCP Inspector's command line: a client that is not the SDK's."""

import json
import os
import re
import shutil
import subprocess

import pytest

from tests.support.client import PROJECT, SERVER
from tests.test_readme import PATH_ON_THE_PI, READMES, blocks

PACKAGES = ["-p", "node@22", "-p", "@modelcontextprotocol/inspector@2.12.0"]
INSTALL_S, RUN_S = 600, 120
CALLS = [
    ("greet", {"name": "Ann"}),
    ("read_doc", {"path": "Bed_Mesh.md"}),
    ("list_docs_map", {}),
    ("get_user_snapshot", {}),
    ("preview_actions", {"actions": [
        {"action": "goal.create", "client_action_id": "123e4567-e89b-42d3-a456-426614174000", "params": {"title": "x"}}
    ]}),
]  # fmt: skip
UNSET = [("anki_list_decks", {}, "ANKI_UNREACHABLE"), ("search", {"query": "x"}, "SEARCH_NOT_CONFIGURED")]


if not shutil.which("npx"):
    pytest.skip("npx is not installed", allow_module_level=True)


@pytest.fixture(scope="module")
def inspector():
    """The command line of the Inspector, fetched through npm."""
    find = ["npx", "-y", *PACKAGES, "-c", "command -v node; command -v mcp-inspector"]
    try:
        done = subprocess.run(find, capture_output=True, text=True, timeout=INSTALL_S)
    except subprocess.TimeoutExpired:
        pytest.skip(f"npm did not answer within {INSTALL_S} s")
    paths = done.stdout.split()
    if done.returncode or len(paths) != 2:
        pytest.skip(f"npm cannot fetch the Inspector: {(done.stderr.strip().splitlines() or ['?'])[-1]}")
    return [*paths, "--cli"]


@pytest.fixture
def inspect(inspector, small_docs, tmp_path):
    """Runs one method against the server that the README's own JSON starts, with the local path in place of ssh."""
    small_docs({"Bed_Mesh.md": "# Bed Mesh\n\nThe mesh.\n"})

    def run(*words, readme="README.md"):
        [config] = map(json.loads, blocks("json", readme))
        for server in config["mcpServers"].values():
            assert server["args"][-1] == PATH_ON_THE_PI
            server.update(
                command=SERVER[0], args=SERVER[1:], env={**own_settings(), "ANKI_CONNECT_URL": "http://127.0.0.1:9"}
            )
        file = tmp_path / "mcp.json"
        file.write_text(json.dumps(config), encoding="utf-8")
        command = [*inspector, "--config", str(file), "--server", "pi", "--format", "json", "--method", *words]
        environ = {**os.environ, "MCP_INSPECTOR_SECRET_STORE": "memory"}  # it warns of a keychain that is not there
        done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_S, cwd=PROJECT, env=environ)
        return done

    return run


def own_settings():
    """The Inspector hands on only what its config names."""
    wanted = re.compile("MCP_|KLIPPER_|XDG_|HOME$|PATH$|LANG")
    return {name: value for name, value in os.environ.items() if wanted.match(name)}


def answer(done):
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
    return json.loads(done.stdout)["result"]


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_schemas_pass_its_strict_lint(inspect, era):
    done = inspect("tools/list", "--strict", "--protocol-era", era)
    assert len(answer(done)["tools"]) > 20
    assert re.search(r"\b0 errors", done.stderr) or "error" not in done.stderr


@pytest.mark.parametrize(("name", "arguments"), CALLS, ids=[name for name, _ in CALLS])
def test_it_calls_a_tool_of_each_system(inspect, name, arguments):
    found = answer(inspect("tools/call", "--tool-name", name, "--tool-args-json", json.dumps(arguments)))
    assert found["isError"] is False
    assert found["content"]


@pytest.mark.parametrize(("name", "arguments", "code"), UNSET, ids=[name for name, *_ in UNSET])
def test_what_is_not_set_up_says_so(inspect, name, arguments, code):
    done = inspect("tools/call", "--tool-name", name, "--tool-args-json", json.dumps(arguments))
    assert code in done.stdout + done.stderr


def test_five_hundred_requests_at_once_bring_no_error(inspect):
    load = ["--load", "--load-concurrency", "8", "--load-requests", "500"]
    found = answer(inspect("tools/call", "--tool-name", "read_doc", "--tool-args-json", '{"path": "Bed_Mesh"}', *load))
    assert (found["requests"], found["ok"], found["errors"], found["toolErrors"]) == (500, 500, 0, 0)


@pytest.mark.parametrize("method", ["prompts/list", "resources/list", "resources/templates/list"])
def test_it_lists_prompts_and_resources(inspect, method):
    assert any(answer(inspect(method)).values())


@pytest.mark.parametrize("readme", READMES)
def test_the_readmes_json_is_a_config_it_takes(inspect, readme):
    assert answer(inspect("tools/list", readme=readme))["tools"]
