"""The README holds: its table, its snippets, its example."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest

try:
    import tomllib
except ImportError:  # Python 3.10
    import tomli as tomllib

from tests.klipper.config.sample import CHANGES, REFERENCE
from tests.support.client import PROJECT, SERVER, Client
from tools.core import health, registry, settings_table
from tools.core import tool as tool_module
from tools.service import ssh_check as remote

READMES = ["README.md", "README.ru.md"]
LONE = ("`search`", "`server`")
"""Toolsets of one tool."""
PATH_ON_THE_PI = "/home/pi/pi-mcp/server.py"


registry.load()


def text(name="README.md"):
    return (PROJECT / name).read_text(encoding="utf-8")


def blocks(language, name):
    return re.findall(rf"^```{language}\n(.*?)^```$", text(name), re.MULTILINE | re.DOTALL)


def rows(table):
    return [line[2:-2].split(" | ") for line in table.splitlines() if line.startswith("| `")]


def test_the_settings_table_is_the_generated_one():
    assert f"<!-- python3 -m tools settings -->\n{settings_table.markdown()}\n<!-- end -->" in text()


def test_the_russian_table_has_the_same_settings_and_defaults():
    names = {row[0] for row in rows(settings_table.markdown())}
    told = [row[:2] for row in rows(text("README.ru.md")) if row[0] in names]
    assert told == [row[:2] for row in rows(settings_table.markdown())]


@pytest.mark.parametrize("name", READMES)
def test_every_client_starts_the_server_by_the_same_command(name):
    [config] = map(json.loads, blocks("json", name))
    [codex] = map(tomllib.loads, blocks("toml", name))
    [vs_code] = re.findall(r"code --add-mcp '(.+)'", text(name))
    lines = dict(re.findall(r"(\w+) mcp add (?:--scope user )?pi ([^`\n]+)", text(name)))
    command = words_of(config["mcpServers"]["pi"])
    assert words_of(codex["mcp_servers"]["pi"]) == words_of(json.loads(vs_code)) == command
    assert {program: [word for word in shlex.split(line) if word != "--"] for program, line in lines.items()} == {
        "claude": command,
        "codex": command,
        "gemini": command,
    }
    assert command[0] == "ssh"
    assert command[-1] == PATH_ON_THE_PI


def words_of(config):
    return [config["command"], *config["args"]]


@pytest.mark.parametrize("name", READMES)
def test_keepalive_is_told_for_both_ends_as_the_check_sets_and_advises_it(name):
    setting = re.compile(r"((?:Client|Server)Alive\w+)[= ](\w+)")
    assert set(setting.findall(text(name))) == set(setting.findall(remote.client_json("pi") + remote.DROP_IN))
    assert f"{remote.DROP_IN} && {remote.RELOAD}\n" in blocks("sh", name)


def test_the_config_of_the_readme_starts_a_session():
    [config] = map(json.loads, blocks("json", "README.md"))
    given = config["mcpServers"]["pi"]
    at_home = {"ssh": SERVER[0], PATH_ON_THE_PI: SERVER[1]}
    command = [at_home[word] for word in (given["command"], *given["args"]) if word in at_home]
    with Client(command) as client:
        assert client.initialize()["serverInfo"]["name"] == "pi-mcp"


def test_the_example_tool_works(monkeypatch, tmp_path):
    [source] = blocks("python", "README.md")
    name = "tools.pi.temperature"
    monkeypatch.setattr(tool_module, "TOOLS", {})
    monkeypatch.setattr(health, "CHECKS", {})
    module = type(sys)(name)
    monkeypatch.setitem(sys.modules, name, module)
    exec(compile(source, name, "exec"), module.__dict__)
    module.SENSOR = tmp_path / "temp"
    assert health.CHECKS["pi"]().state == "unset"
    assert tool_module.TOOLS["pi.temperature"].call({})["code"] == "NO_SENSOR"
    module.SENSOR.write_text("48312\n", encoding="ascii")
    tool = tool_module.TOOLS["pi.temperature"]
    assert tool.call({}) == {"success": True, "celsius": 48.3}


def test_the_example_tool_is_found_in_a_folder_of_its_own(tmp_path):
    shutil.copytree(PROJECT / "tools", tmp_path / "tools")
    folder = tmp_path / "tools" / "pi"
    folder.mkdir()
    [docstring] = re.findall(r'`__init__.py` that says\nits subject, such as `("""[^`]+""")`', text())
    (folder / "__init__.py").write_text(docstring + "\n", encoding="utf-8")
    (folder / "temperature.py").write_text(blocks("python", "README.md")[0], encoding="utf-8")
    command = [sys.executable, "-m", "tools", "list"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert "pi_temperature " in done.stdout, done.stderr


@pytest.mark.parametrize("name", READMES)
def test_every_command_of_the_shell_runs(name, env, small_docs):
    home = env() / "home"
    (home / "printer_data" / "config").mkdir(parents=True)
    (home / "printer_data" / "config" / "printer.cfg").write_text("[printer]\nkinematics: none\n", encoding="utf-8")
    pages = {"Config_Reference.md": REFERENCE, "Config_Changes.md": CHANGES, "G-Codes.md": "# G-Codes\n"}
    small_docs({**pages, "BLTouch.md": "# BLTouch\n"})
    commands = re.findall(r"`python3 -m tools ([^`]+)`", text(name))
    commands += [f"onepercent {words}" for words in re.findall(r"`((?:backup|restore) FILE|history 31)`", text(name))]
    commands.insert(commands.index("onepercent export FILE") + 1, "onepercent import FILE")
    assert len(commands) > 10
    for command in commands:
        done = subprocess.run(
            ["sh", "-c", f"{sys.executable} -m tools {command}"],
            cwd=home,
            env={**os.environ, "PYTHONPATH": str(PROJECT)},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, (command, done.stdout, done.stderr)


@pytest.mark.parametrize("name", READMES)
def test_every_tool_is_in_the_table_of_its_toolset(name):
    table = {row[0]: row[2] for row in rows(text(name)) if (len(row) == 3 and "`, `" in row[2]) or row[0] in LONE}
    for tool in tool_module.TOOLS.values():
        assert tool.app_only or f"`{tool.name.replace('.', '_')}`" in table[f"`{tool.toolset}`"]


def test_the_picture_is_of_tools_that_there_are():
    names = set(re.findall(r">→ (\w+) ", text("docs/conversation.svg")))
    assert names and names <= {name.replace(".", "_") for name in tool_module.TOOLS}


def test_every_symptom_is_told_in_both_languages():
    told = [
        re.findall(r"^\| .*", re.split("## Trouble|## Если", text(name))[1].split("\n## ")[0], re.M) for name in READMES
    ]
    assert len(told[0]) == len(told[1]) > 10


def test_what_the_readme_names_is_there():
    for name in READMES:
        links = re.findall(r"\]\((?!http)([^)#]+)[^)]*\)", text(name))
        assert links
        assert all((PROJECT / link).exists() for link in links)
