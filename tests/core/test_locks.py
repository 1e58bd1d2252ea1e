"""Locks between threads and processes."""

import subprocess
import sys

import pytest

from tests.support.client import PROJECT
from tools.core import calls
from tools.core.errors import Cancelled, ToolError
from tools.core.files import exclusive_lock

pytestmark = pytest.mark.slow

HOLD = """
import sys
from tools.core.files import exclusive_lock
with exclusive_lock("anki"):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder():
    """Another process that holds the lock `anki` until it is killed."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD], cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def test_a_lock_held_by_another_process_is_waited_for_and_then_named(holder):
    with pytest.raises(ToolError, match="Another session") as error, exclusive_lock("anki", timeout_s=0.1):
        pass
    assert error.value.code == "BUSY"
    with exclusive_lock("klipper", timeout_s=0):  # another name is another lock
        pass


def test_a_lock_is_free_once_its_holder_is_killed(holder):
    holder.kill()
    holder.wait()
    with exclusive_lock("anki", timeout_s=10):
        pass


def test_waiting_stops_when_the_call_is_withdrawn(holder):
    with calls.calling(lambda *_: None, lambda: True), pytest.raises(Cancelled), exclusive_lock("anki"):
        pass


def test_a_lock_is_not_entered_twice_in_one_process():
    with exclusive_lock("anki"), pytest.raises(ToolError), exclusive_lock("anki", timeout_s=0):
        pass


def test_a_state_folder_that_cannot_be_made_says_what_to_do(env, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    env(MCP_STATE_DIR=tmp_path / "file" / "state")
    with pytest.raises(ToolError, match="Cannot write") as error, exclusive_lock("anki"):
        pass
    assert "MCP_STATE_DIR" in error.value.hint
