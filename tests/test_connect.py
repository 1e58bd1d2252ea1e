"""How clients reach the server: the installed command, the bundle for Claude Desktop, the entry of a
registry."""

import json
import os
import re
import shlex
import sys
import zipfile
from pathlib import Path
from unittest.mock import Mock

import pytest

from tests.support.client import PROJECT
from tools import check, connect
from tools.__main__ import main
from tools.core import places
from tools.core.health import run_check
from tools.starting import VERSION


@pytest.mark.slow
def test_a_service_is_judged_by_what_it_says_and_not_by_a_misspelt_setting(
    tmp_path, monkeypatch, env
):
    env(MCP_SOCKET=tmp_path, MCP_READONLY=1)
    remark = "echo 'pi-mcp: MCP_READONLY is not a setting. Did you mean MCP_READ_ONLY?' >&2"
    assert check._service(["sh", "-c", remark]).state == "ok"
    failing = check._service(["sh", "-c", f"{remark}; echo pi-mcp: no room >&2; exit 1"])
    assert failing.summary == "no room"
    monkeypatch.setattr(check, "START_TIMEOUT_S", 0.2)
    hanging = run_check(lambda: check._service(["sleep", "60"]))
    assert hanging.summary == "no answer in 0.2 s"
    assert "systemctl restart" in hanging.advice


# A server that answers a second later, and not at all once its input is closed.
SLOW = """import select, sys
sys.stdin.readline()
if not select.select([sys.stdin], [], [], 1)[0]:
    print('{"result": {"tools": []}}', flush=True)
    sys.stdin.read()
"""


@pytest.mark.slow
def test_a_check_waits_for_the_answer_of_a_slow_server_before_it_hangs_up(monkeypatch):
    assert check._server([sys.executable, "-c", SLOW]).state == "ok"
    broken = check._server([sys.executable, "-c", "import sys; sys.exit('pi-mcp: no room')"])
    assert (broken.state, broken.summary) == ("broken", "it does not answer: no room")
    monkeypatch.setattr(check, "START_TIMEOUT_S", 0.2)
    assert run_check(lambda: check._server(["cat", "/dev/zero"])).summary == "no answer in 0.2 s"


@pytest.fixture
def on_the_pi(monkeypatch, tmp_path):
    """The settings are there, as after setup.sh, and python3 is the Python that runs now."""
    file = Path(places.settings_file(os.environ))
    file.parent.mkdir(parents=True)
    file.touch()
    monkeypatch.setattr(connect, "INSTALLED", tmp_path / "pi-mcp")
    monkeypatch.setattr(connect.shutil, "which", lambda name: sys.executable)


def started_by(manifest):
    """The words that Claude Desktop starts, with the fields as they are filled in."""
    config = manifest["server"]["mcp_config"]
    text = json.dumps([config["command"], *config["args"]])
    for name, field in manifest["user_config"].items():
        text = text.replace(f"${{user_config.{name}}}", field["default"])
    return json.loads(text)


def test_it_starts_the_line_of_the_readme_and_brings_the_anki_of_the_desktop_along():
    line = " ".join(started_by(connect.manifest()))
    anki = "/home/pi/.anki-claude-desktop.sock"
    for words in (f"-R {anki}:127.0.0.1:8765 ", f"env ANKI_CONNECT_URL=unix:{anki} "):
        assert words in line
        line = line.replace(words, "")
    assert line in (PROJECT / "README.md").read_text("utf-8")


def test_on_the_pi_user_host_and_path_are_filled_in(on_the_pi, monkeypatch):
    monkeypatch.setattr(connect.getpass, "getuser", lambda: "anna")
    monkeypatch.setattr(connect.socket, "gethostname", lambda: "printer")
    words = started_by(connect.manifest())
    assert "anna@printer.local" in words
    assert shlex.split(words[-1]) == [str(PROJECT / "server.py")]
    connect.INSTALLED.touch()
    assert started_by(connect.manifest())[-1] == str(connect.INSTALLED)


def test_a_folder_with_a_blank_survives_the_shell_of_the_pi(on_the_pi, monkeypatch, tmp_path):
    monkeypatch.setattr(connect, "PROJECT", tmp_path / "Мои проекты" / "pi mcp")
    host, command, _ = connect.ssh_target()
    lines = connect.clients_text(host, command)
    [line] = re.findall(r"claude mcp add --scope user pi -- (.+)", lines)
    [vs_code] = re.findall(r"code --add-mcp .+", lines)
    # On the computer; then on the Pi.
    for word in (shlex.split(line)[-1], json.loads(shlex.split(vs_code)[-1])["args"][-1]):
        assert shlex.split(word) == [str(tmp_path / "Мои проекты" / "pi mcp" / "server.py")]


def test_clients_start_the_python_that_runs_now_unless_it_is_python3(on_the_pi, monkeypatch):
    server = str(PROJECT / "server.py")
    assert shlex.split(connect.ssh_target()[1]) == [server]
    for python in ("/usr/bin/another-python3", None):
        monkeypatch.setattr(connect.shutil, "which", lambda name, python=python: python)
        assert shlex.split(connect.ssh_target()[1]) == [sys.executable, server]


def test_an_example_says_that_it_is_one():
    example = connect.clients_text(*connect.EXAMPLE_TARGET[:2])
    assert example.startswith("An example: setup.sh was not run here")
    assert connect.clients_text("anna@pi.local", "pi-mcp").startswith(
        "Once, on the client's computer"
    )


def test_a_user_without_a_name_gets_a_line_and_no_half_bundle(on_the_pi, monkeypatch, tmp_path):
    for error in (KeyError("uid not found"), OSError("no username set")):
        monkeypatch.setattr(connect.getpass, "getuser", Mock(side_effect=error))
        with pytest.raises(SystemExit, match=r"pi-mcp: the user .* has no name on this machine"):
            main(["bundle", str(tmp_path / "pi.mcpb")])
    assert not (tmp_path / "pi.mcpb").exists()


def test_the_address_to_fetch_the_bundle_from_is_one_word_of_the_shell(tmp_path, capsys):
    file = tmp_path / "Мои проекты" / "pi.mcpb"
    file.parent.mkdir()
    assert main(["bundle", str(file)]) == 0
    [line] = re.findall(r"\((scp .*) \.\)", capsys.readouterr().out)
    assert shlex.split(line) == ["scp", f"{connect.ssh_target()[0]}:{file}"]


def test_an_anki_that_the_settings_name_is_left_to_them(env):
    env(ANKI_CONNECT_URL="http://192.168.1.5:8765")
    assert "-R" not in started_by(connect.manifest())


def test_the_shell_writes_it_whole(tmp_path, capsys):
    file = tmp_path / "pi.mcpb"
    assert main(["bundle", str(file)]) == 0
    assert str(file) in capsys.readouterr().out
    with zipfile.ZipFile(file) as written:
        manifest = json.loads(written.read("manifest.json"))
        assert manifest == connect.manifest()
        assert {manifest["server"]["entry_point"], manifest["icon"]} <= set(written.namelist())
    assert len(manifest["tools"]) > 30


def test_wrong_usage_writes_nothing_and_says_so(capsys):
    for words in ([], ["a", "b"], ["/nowhere/pi.mcpb"]):
        assert main(["bundle", *words]) == 2
        assert capsys.readouterr().err


def test_the_entry_for_the_registry_is_of_its_schema_and_of_this_version():
    """What the schema of 2025-12-11 asks of an entry with a bundle, and what changes with a release."""
    entry = json.loads((PROJECT / "server.json").read_text("utf-8"))
    schema = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
    assert entry["$schema"] == schema
    assert re.fullmatch("[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"])
    assert len(entry["description"]) <= 100
    [package] = entry["packages"]
    assert (package["registryType"], package["transport"]) == ("mcpb", {"type": "stdio"})
    address = rf"https://github\.com/.*/v{re.escape(VERSION)}/.*\.mcpb"
    assert re.fullmatch(address, package["identifier"])
    # Known with the release.
    assert re.fullmatch("[a-f0-9]{64}", package.get("fileSha256", "0" * 64))
    assert entry["version"] == package["version"] == VERSION
