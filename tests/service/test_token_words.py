"""`python3 -m tools token` without a command says which there are."""

import subprocess
import sys

import pytest

from tests.support.client import PROJECT


@pytest.mark.parametrize("words", [[], ["new"], ["new", "--user", "x"], ["nothing"]])
def test_words_that_are_missing_are_told_with_the_usage(words):
    command = [sys.executable, "-m", "tools", "token", *words]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "`python3 -m tools token" in done.stderr and "Traceback" not in done.stderr


def test_a_new_token_says_whose_it_is_and_for_how_long(tmp_path, env):
    env(MCP_HTTP_URL="http://127.0.0.1:1/mcp")
    command = [sys.executable, "-m", "tools", "token", "new", "--user", "alice", "--scope", "onepercent", "--days", "7"]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    said = done.stdout + done.stderr
    assert "For alice (onepercent), for 7 days" in said
