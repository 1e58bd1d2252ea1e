"""Child processes: their ends."""

import os
import signal
import threading

import pytest

from tests.support.services import alive, wait_until
from tools.core import calls, processes
from tools.core.errors import Cancelled

pytestmark = pytest.mark.slow


def family(folder):
    """A shell with a child of its own; both write their process ids to `folder`."""
    ids = f"echo $! > {folder}/child; echo $$ > {folder}/parent; : > {folder}/ready"
    return ["sh", "-c", f"sleep 60 & {ids}; wait"]


def wait_until_gone(folder):
    ids = [int((folder / name).read_text()) for name in ("child", "parent")]
    wait_until(lambda: not any(map(alive, ids)))


def test_output_errors_and_status_come_back():
    ended = processes.run(["sh", "-c", "echo out; echo err >&2; exit 3"], os.environ, 9)
    assert (ended.returncode, ended.stdout, ended.stderr) == (3, b"out\n", b"err\n")
    assert processes.run(["sh", "-c", "kill -9 $$"], os.environ, 9).returncode == -signal.SIGKILL
    with pytest.raises(FileNotFoundError):
        processes.run(["/no/such/program"], os.environ, 9)
    assert not processes._children


def test_a_timeout_ends_the_whole_family(tmp_path):
    with pytest.raises(TimeoutError):
        processes.run(family(tmp_path), os.environ, 0.3)
    wait_until_gone(tmp_path)


def test_a_withdrawn_call_ends_the_whole_family(tmp_path):
    call = calls.RunningCall(cancelled=(tmp_path / "ready").exists)
    with calls.calling(call), pytest.raises(Cancelled):
        processes.run(family(tmp_path), os.environ, 60)
    wait_until_gone(tmp_path)


def test_a_child_that_ignores_the_first_signal_is_killed(monkeypatch):
    monkeypatch.setattr(processes, "GRACE_S", 0.1)
    with pytest.raises(TimeoutError):
        processes.run(["sh", "-c", "trap '' TERM; while :; do sleep 0.05; done"], os.environ, 0.2)


def test_the_end_of_the_server_ends_children_of_every_thread_and_starts_no_more(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(processes, "_is_ending", False)
    results = []

    def work():
        with pytest.raises(Cancelled):
            processes.run(family(tmp_path), os.environ, 60)
        results.append("cancelled")

    thread = threading.Thread(target=work)
    thread.start()
    wait_until((tmp_path / "ready").exists)
    processes.end_all()
    thread.join()

    wait_until_gone(tmp_path)
    assert results == ["cancelled"]
    with pytest.raises(Cancelled):
        processes.run(["true"], os.environ, 9)
