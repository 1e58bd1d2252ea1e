"""The bundle for Claude Desktop."""

import json
import os
import shutil
import subprocess
import zipfile

import pytest

from tests.support.client import PROJECT
from tools.__main__ import main
from tools.service import bundle

README_LINE = (PROJECT / "README.md").read_text(encoding="utf-8")


def test_it_starts_the_line_of_the_readme():
    server = bundle.manifest()["server"]["mcp_config"]
    words = [word.replace("${user_config.host}", "pi@raspberrypi.local") for word in server["args"]]
    line = " ".join([server["command"], *words[:-1]])
    assert f"{line} {bundle.manifest()['user_config']['command']['default']}" in README_LINE


def test_the_shell_writes_it_whole(tmp_path, capsys):
    file = tmp_path / "pi.mcpb"
    assert main(["bundle", str(file)]) == 0
    with zipfile.ZipFile(file) as written:
        assert json.loads(written.read("manifest.json")) == bundle.manifest()
        assert bundle.manifest()["server"]["entry_point"] in written.namelist()
    assert file.stat().st_size < 2000


@pytest.mark.parametrize("words", [[], ["--help"], ["a", "b"], ["/nowhere/pi.mcpb"]])
def test_wrong_usage_writes_nothing_and_says_so(words, capsys):
    assert bundle.main(words) == 2
    assert capsys.readouterr().err


@pytest.mark.skipif("PI_MCP_TEST_CLIENTS" not in os.environ, reason="PI_MCP_TEST_CLIENTS=1 asks npm for mcpb")
def test_the_official_tool_takes_it(tmp_path):
    if not shutil.which("npm"):
        pytest.skip("npm is not installed")
    (tmp_path / "manifest.json").write_text(json.dumps(bundle.manifest()), encoding="utf-8")
    words = ["npx", "-y", "@anthropic-ai/mcpb@2.1.2", "validate", str(tmp_path / "manifest.json")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
