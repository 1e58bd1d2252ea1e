"""The bundle for Claude Desktop."""

import json
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
