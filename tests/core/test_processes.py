"""Child processes: their ends."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.support.client import PROJECT
from tools.core import calls, processes
from tools.core.errors import Cancelled

HERE = {"environ": os.environ, "folder": Path("/")}


def is_gone(number: int) -> bool:
    """Whether a process has ended (a zombie has)."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def family(folder: Path) -> list[str]:
    """A shell with a child of its own; both write their process ids to `folder`."""
    return ["sh", "-c", f"sleep 60 & echo $! > {folder}/child; echo $$ > {folder}/parent; echo ready >&2; wait"]


def ids(folder: Path) -> list[int]:
    return [int((folder / name).read_text()) for name in ("child", "parent")]


def wait_until_gone(numbers: list[int]) -> None:
    while not all(map(is_gone, numbers)):
        os.sched_yield()


def test_output_errors_and_status_come_back():
    ended = processes.run(["sh", "-c", "echo out; echo err >&2; exit 3"], timeout_s=9, **HERE)
    assert ended == processes.Ended(3, b"out\n", b"err\n")


def test_more_than_a_pipe_holds_comes_back_whole():
    script = "import sys; sys.stdout.write('x' * 300000); sys.stderr.write('y' * 300000)"
    ended = processes.run([sys.executable, "-c", script], timeout_s=30, **HERE)
    assert len(ended.output) == 300000 and len(ended.errors) == processes.ERRORS_KEPT_BYTES


def test_a_timeout_ends_the_whole_family(tmp_path):
    with pytest.raises(TimeoutError):
        processes.run(family(tmp_path), timeout_s=0.3, **HERE)
    wait_until_gone(ids(tmp_path))


def test_a_withdrawn_call_ends_the_whole_family(tmp_path):
    ready = threading.Event()
    with calls.calling(lambda *_: None, ready.is_set), pytest.raises(Cancelled):
        processes.run(family(tmp_path), timeout_s=60, on_stderr=lambda _: ready.set(), **HERE)
    wait_until_gone(ids(tmp_path))


def test_a_withdrawn_call_lets_what_must_not_be_interrupted_end(tmp_path):
    with calls.calling(lambda *_: None, lambda: True):
        assert processes.run(["true"], timeout_s=9, interruptible=False, **HERE).status == 0


def test_a_child_that_ignores_the_first_signal_is_killed(monkeypatch):
    monkeypatch.setattr(processes, "GRACE_S", 0.1)
    with pytest.raises(TimeoutError):
        processes.run(["sh", "-c", "trap '' TERM; while :; do sleep 0.05; done"], timeout_s=0.2, **HERE)


def test_the_end_of_the_server_ends_children_of_every_thread_and_starts_no_more(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "_ending", False)
    ready, results = threading.Event(), []

    def work():
        try:
            processes.run(family(tmp_path), timeout_s=60, on_stderr=lambda _: ready.set(), **HERE)
        except Cancelled as error:
            results.append(error.code)

    thread = threading.Thread(target=work)
    thread.start()
    assert ready.wait(30)
    processes.end_all()
    thread.join()

    wait_until_gone(ids(tmp_path))
    assert results == ["CANCELLED"]
    with pytest.raises(Cancelled):
        processes.run(["true"], timeout_s=9, **HERE)


def test_the_end_of_the_server_ends_a_child_that_is_only_being_started(monkeypatch):
    monkeypatch.setattr(processes, "_ending", False)
    born, go_on, numbers = threading.Event(), threading.Event(), []

    class Slow(subprocess.Popen):
        def __init__(self, *words, **options):
            super().__init__(*words, **options)
            numbers.append(self.pid)
            born.set()
            assert go_on.wait(30)

    def work():
        with pytest.raises(Cancelled):
            processes.run(["sleep", "60"], timeout_s=60, **HERE)

    monkeypatch.setattr(subprocess, "Popen", Slow)
    thread = threading.Thread(target=work)
    thread.start()
    assert born.wait(30)
    threading.Timer(0.2, go_on.set).start()
    processes.end_all()

    assert is_gone(numbers[0])
    thread.join()


def test_a_child_has_no_terminal_and_a_session_of_its_own():
    script = "import os; print(os.getsid(0) == os.getpid()); print(os.path.realpath('/proc/self/fd/0'))"
    ended = processes.run([sys.executable, "-c", script], timeout_s=30, **HERE)
    assert ended.output.split() == [b"True", b"/dev/null"]


def test_a_child_ended_by_a_signal_says_which():
    assert processes.run(["sh", "-c", "kill -9 $$"], timeout_s=9, **HERE).status == -signal.SIGKILL


def test_a_program_that_is_not_there_is_an_error():
    with pytest.raises(FileNotFoundError):
        processes.run(["/no/such/program"], timeout_s=9, **HERE)
    assert not processes._live


LEAVING = """
import os, threading
from pathlib import Path
from tools.core import processes

ready = threading.Event()
words = ["sh", "-c", "echo $$ >&2; exec sleep 60"]
run = lambda: processes.run(
    words, environ=os.environ, folder=Path("/"), timeout_s=60, on_stderr=lambda data: (os.write(1, data), ready.set())
)
threading.Thread(target=run, daemon=True).start()
assert ready.wait(30)
processes.end_all()
os._exit(0)
"""


def test_a_server_that_leaves_at_once_leaves_no_child_behind():
    done = subprocess.run([sys.executable, "-c", LEAVING], cwd=PROJECT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert is_gone(int(done.stdout))


def test_nothing_is_started_any_more_once_the_server_is_ending(monkeypatch):
    monkeypatch.setattr(processes, "_ending", True)
    with pytest.raises(Cancelled):
        processes.run(["/no/such/program"], timeout_s=9, **HERE)
