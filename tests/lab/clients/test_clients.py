"""Clients that people use, end to end: added by the README's words over ssh, and over HTTP with a token, to what
their model reads of the answers; and the Inspector. They are fetched once into a cache of the person who runs
the tests."""

import json
import os
import re
import shutil
import subprocess
from functools import partial
from pathlib import Path

import pytest

from tests.lab.clients.model_api import ModelApi, answers, tools
from tests.lab.clients.raspberrypi import raspberrypi
from tests.onepercent.person import act
from tests.support.backends import backends
from tests.support.client import PROJECT, SERVER, output_of
from tests.support.http_server import HttpServer
from tests.support.web import started
from tools.core import places, registry
from tools.core.files import exclusive_lock

pytestmark = pytest.mark.slow

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pi-mcp-tests"
ASKED_FOR = "PI_MCP_TEST_CLIENTS"
if not os.environ.get(ASKED_FOR):
    pytest.skip(f"fetches up to 2 GB once: {ASKED_FOR}=1 runs it", allow_module_level=True)
INSTALL_S = 300
TIMEOUT_S = 180
GOAL = act("goal.create", title="Learn the trumpet")
PLAN = [
    ("greet", {"name": "Ян"}),
    ("anki_list_decks", {}),
    ("search_docs", {"query": "bltouch"}),
    ("preview_actions", {"actions": [GOAL]}),
]


def from_npm(package, program):
    """The program of an npm package, `name@version`."""
    if not shutil.which("npm"):
        pytest.skip("npm is not installed")
    folder = CACHE / package.replace("/", "-")
    executable = folder / "node_modules" / ".bin" / program
    lock = folder.with_name(f"{folder.name}.lock")  # two modules may want the same at once
    with exclusive_lock(folder.name, timeout_s=2 * INSTALL_S, path=lock):
        if not executable.exists():
            command = f"npm install --no-audit --no-fund --prefix {folder} {package}".split()
            try:
                subprocess.run(command, capture_output=True, check=True, timeout=INSTALL_S)
            except subprocess.SubprocessError as error:
                pytest.skip(f"cannot be installed here: {error}")
    return executable


@pytest.fixture
def api():
    """The model's API."""
    api = ModelApi(PLAN)
    with started(api):
        yield api


@pytest.fixture
def settings(small_docs):
    """The settings of a server that has an Anki and a documentation."""
    docs = small_docs({"BLTouch.md": "# BL-Touch\n\nConnecting a BL-Touch probe.\n"})
    with backends() as url:
        yield {"ANKI_CONNECT_URL": url, "KLIPPER_DOCS_DIR": str(docs.parent)}


@pytest.fixture
def pi(settings, tmp_path):
    """The PATH with an `ssh` that reaches the Pi of the READMEs, which needs some seconds to start."""
    with raspberrypi(tmp_path / "pi", **settings) as folder:
        yield f"{folder}:{os.environ['PATH']}"


class Desktop:
    """A person's computer: a home, and an `ssh` that reaches the Pi."""

    def __init__(self, home, path, api, server=None):
        self.home = home
        self.path = path
        self.api = api
        self.server = server
        (home / "work").mkdir()
        self.token = server.token(scope=" ".join(places.toolsets())) if server else ""

    def words_of_adding(self, client):
        """The command that adds the Pi to a client, as the READMEs say, or a server of HTTP with its token."""
        if not self.server:
            return from_the_readmes(rf"^{client} mcp add [^\n]+")
        header = f"--header 'Authorization: Bearer {self.token}'"
        return f"{client} mcp add --scope user --transport http pi {self.server.url} {header}"

    def run(self, command, program, **environment):
        """Run a command in a shell, with the folder of `program` on its PATH."""
        environ = {"HOME": str(self.home), "PATH": f"{program.parent}:{self.path}", **environment}
        environ |= {"LANG": "C.UTF-8", "CI": "1", "NO_PROXY": "127.0.0.1", "PI_TOKEN": self.token}
        options = {"cwd": self.home / "work", "env": environ, "stdin": subprocess.DEVNULL}
        output_of(["sh", "-c", command], **options, timeout=TIMEOUT_S)


def from_the_readmes(pattern):
    """The text that a pattern finds in both READMEs."""
    texts = [(PROJECT / name).read_text("utf-8") for name in ("README.md", "README.ru.md")]
    [[english], [russian]] = [re.findall(pattern, text, re.MULTILINE | re.DOTALL) for text in texts]
    assert english == russian
    return english


def claude_code(desktop):
    program = from_npm("@anthropic-ai/claude-code@2.1.330", "claude")
    desktop.run(desktop.words_of_adding("claude"), program)
    desktop.run(
        from_the_readmes(r"^export [^\n]+") + "; claude -p go --allowedTools mcp__pi",
        program,
        ANTHROPIC_BASE_URL=desktop.api.url,
        ANTHROPIC_API_KEY="none",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
        ENABLE_TOOL_SEARCH="false",
    )


def codex(desktop):
    program = from_npm("@openai/codex@0.169.0", "codex")
    toml = from_the_readmes(r"^```toml\n(.*?)^```$")
    if desktop.server:
        toml = f'[mcp_servers.pi]\nurl = "{desktop.server.url}"\nbearer_token_env_var = "PI_TOKEN"\nrequired = true'
    (desktop.home / ".codex").mkdir()
    (desktop.home / ".codex" / "config.toml").write_text(f"""\
model = "gpt-5"
model_provider = "here"
[model_providers.here]
name = "here"
base_url = "{desktop.api.url}/v1"
wire_api = "responses"
{toml}""")
    desktop.run(
        "codex exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox go", program
    )


def gemini_cli(desktop):
    program = from_npm("@google/gemini-cli@0.61.0", "gemini")
    (desktop.home / ".gemini").mkdir()
    config = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "privacy": {"usageStatisticsEnabled": False},
    }
    (desktop.home / ".gemini" / "settings.json").write_text(json.dumps(config))
    desktop.run(desktop.words_of_adding("gemini"), program)
    desktop.run(
        "gemini -p go --approval-mode yolo --model gemini-2.5-flash",
        program,
        GOOGLE_GEMINI_BASE_URL=desktop.api.url,
        GEMINI_API_KEY="none",
    )


each_client = pytest.mark.parametrize("client", [claude_code, codex, gemini_cli])


@each_client
def test_a_client_that_was_added_as_the_readmes_say_waits_for_a_slow_server_and_its_model_reads_true_answers(
    client, api, pi, tmp_path
):
    client(Desktop(tmp_path / "home", pi, api))

    names = next(filter(None, map(tools, api.requests)))
    assert any(name.endswith("greet") for name in names), names
    its_model_reads_true_answers(api)


@each_client
def test_over_http_with_a_token_its_model_reads_the_same(client, api, settings, tmp_path):
    with HttpServer(**settings) as server:
        client(Desktop(tmp_path / "home", os.environ["PATH"], api, server))

    its_model_reads_true_answers(api)


def its_model_reads_true_answers(api):
    """Check that the client offers its model every tool, and that the answers of PLAN are whole."""
    request = api.last()
    names = {name.replace(".", "_") for name in registry.listed_tools()}
    offered = {name.removeprefix("mcp__pi__").removeprefix("mcp_pi_") for name in tools(request)}
    assert names <= offered
    greeting, decks, pages, preview = ("\n".join(texts(answer)) for answer in answers(request))
    assert "Привет, Ян!" in greeting
    assert '"name":"Default"' in decks
    assert "BLTouch.md" in pages
    assert "preview_id" in preview
    assert "error" not in greeting + decks + pages


def texts(answer):
    """All texts in what a model reads, whatever its API wraps them in."""
    if isinstance(answer, str):
        yield answer
    elif isinstance(answer, list):
        for member in answer:
            yield from texts(member)
    elif isinstance(answer, dict):
        yield from texts(list(answer.values()))


def inspected(reached, era, method, *words):
    """The output of the Inspector for a request to a server that is `reached` by these words."""
    node = from_npm("node@22.21.1", "node")
    inspector = from_npm("@modelcontextprotocol/inspector@2.12.0", "mcp-inspector")
    command = [node, inspector, "--cli", *reached, "--format", "json", "--protocol-era", era]
    environ = {**os.environ, "NO_PROXY": "127.0.0.1", "MCP_INSPECTOR_SECRET_STORE": "memory"}
    return output_of([*command, "--method", method, *words], timeout=TIMEOUT_S, env=environ)


def lists_and_calls(ask):
    descriptions = json.loads(ask("tools/list", "--strict"))["result"]["tools"]
    assert {"greet", "read_doc", "preview_actions"} <= {tool["name"] for tool in descriptions}
    assert "Ann" in ask("tools/call", "--tool-name", "greet", "--tool-args-json", '{"name": "Ann"}')


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_finds_nothing_wrong_with_a_session_over_stdio(era):
    ask = partial(inspected, SERVER, era)
    lists_and_calls(ask)
    assert "morning_plan" in ask("prompts/list")


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_lists_calls_and_hears_of_pages_whether_it_says_that_it_shows_any_or_not(era):
    with HttpServer() as server:
        bearer = f"Authorization: Bearer {server.token(scope='server klipper onepercent')}"
        ask = partial(
            inspected, ["--server-url", server.url, "--transport", "http", "--header", bearer], era
        )
        lists_and_calls(ask)
        for flags in ([], ["--advertise-apps"]):
            words = ["tools/call", "--tool-name", "preview_actions", "--app-info", *flags]
            assert "ui://onepercent" in ask(*words)
