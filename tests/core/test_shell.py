"""The tools from a shell."""

import os
import sys
from functools import partial
from unittest.mock import Mock

import pytest

from tests.support.client import PROJECT, cases, finished
from tools.__main__ import main
from tools.core import calls, registry
from tools.core.registry import TextOutput
from tools.core.tool import TOOLS, catching


def test_help_goes_to_stdout_and_is_not_a_failure(capsys):
    def printed(line):
        assert main(line.split()) == 0
        return capsys.readouterr().out

    for line in ("--help", "help", "-h", "call --help"):
        assert "python3 -m tools list" in printed(line)
    tools = printed("list")
    assert "anki_delete_decks    Anki: delete decks\n" in tools
    assert max(map(len, tools.splitlines())) <= 78
    assert "greet takes name (string" in printed("call greet --help")
    sentences = printed("onepercent --help").split("\npython3 -m tools onepercent ")
    assert all(sentence.strip().endswith(".") for sentence in sentences)


def test_wrong_usage_is_reported_on_stderr(capsys):
    for line in ("", "lists", "call", "call greet {} {}", "onepercent nothing"):
        assert main(line.split()) == 2
        output = capsys.readouterr()
        assert output.err and not output.out


@pytest.mark.slow
def test_a_reader_that_leaves_is_not_an_error():
    for command in ("-m tools list", "server.py --connect", "server.py --check"):
        done = finished(["sh", "-c", f"{sys.executable} {command} | true"], cwd=PROJECT)
        assert not done.stderr, command


def test_a_reader_that_leaves_is_a_success(monkeypatch):
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w", encoding="utf-8") as pipe:
        monkeypatch.setattr(sys, "stdout", pipe)
        assert main(["--help"]) == 0


CALLS = """
{} | 0 | "success":true
{"include": ["nothing"]} | 1 | "success":false
include | 1 | "code":"INVALID_JSON"
"""


@pytest.mark.parametrize("arguments, status, member", cases(CALLS))
def test_the_exit_status_says_whether_the_call_succeeded(arguments, status, member, capsys):
    assert main(["call", "get_user_snapshot", arguments]) == int(status)
    assert member in capsys.readouterr().out


def test_a_command_may_print_text_and_choose_its_exit_status(monkeypatch, capsys):
    monkeypatch.setitem(registry.COMMANDS, ("testing", "text"), lambda: TextOutput("for people", 3))
    assert main(["testing", "text"]) == 3
    assert capsys.readouterr().out == "for people\n"


def test_ctrl_c_at_a_tool_s_question_ends_it_without_a_traceback(monkeypatch, capfd):
    registry.load()
    greet = TOOLS["greet"]
    asking = partial(catching, lambda **_: calls.ask("Sure?"), greet)
    monkeypatch.setattr(greet, "handler", asking)
    monkeypatch.setattr("sys.stdin", Mock(readline=Mock(side_effect=KeyboardInterrupt)))
    assert main(["call", "greet", '{"name": "you"}']) == 130
    output = capfd.readouterr()
    assert (output.out, "Traceback" in output.err) == ("", False)


@pytest.mark.slow
def test_an_upstream_out_of_reach_is_no_failure_of_a_timer(env, tmp_path, capsys):
    env(KLIPPER_DOCS_URL=(tmp_path / "nowhere").as_uri(), KLIPPER_DOCS_DIR=tmp_path / "docs")
    assert main(["call", "sync_docs"]) == 75
    unit = (PROJECT / "systemd" / "pi-mcp-docs.service").read_text("utf-8")
    assert "SuccessExitStatus=75\n" in unit
    assert '"code":"UPSTREAM_UNREACHABLE"' in capsys.readouterr().out
