"""The server as a process: what it does with its stdin and stdout, signals and flags. Its answers:
test_session.py."""

import ctypes
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.support.client import (
    HANDSHAKE,
    PROJECT,
    PYTHON,
    SERVER,
    TEST_SERVER,
    TIMEOUT_S,
    Client,
    Talk,
    finished,
    pipe,
)
from tools import protocol

pytestmark = pytest.mark.slow

INITIALIZE = {"id": 1, "method": "initialize", "params": HANDSHAKE}
INITIALIZED = {"method": "notifications/initialized"}


def call(request_id, name, **arguments):
    params = {"name": name, "arguments": arguments}
    return {"id": request_id, "method": "tools/call", "params": params}


def run(*words, **environment):
    """A server without a client, its exit status and what it wrote."""
    environ = {**os.environ, **environment}
    return finished([*SERVER[:2], *words], env=environ, stdin=subprocess.DEVNULL)


@pytest.mark.smoke
def test_piped_requests_that_end_in_eof_are_all_answered_without_any_package():
    """`-I -S` leaves out site-packages, the environment's paths and the folder."""
    requests = [INITIALIZE, INITIALIZED, {"id": 2, "method": "tools/list"}]
    requests += [call(number, "list_docs_map") for number in range(3, 13)]
    answers, status = pipe(requests, ["python3", "-I", "-S", *SERVER[1:]])
    assert status == 0
    by_id = {answer["id"]: answer["result"] for answer in answers if "id" in answer}
    assert sorted(by_id) == [*range(1, 13)]
    assert len(by_id[2]["tools"]) > 30
    assert by_id[3]["structuredContent"]["code"] == "DOCS_MISSING"


def test_pipes_that_do_not_block_are_waited_for():
    (reading, requests), (answers, writing) = os.pipe(), os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    with subprocess.Popen(SERVER, stdin=reading, stdout=writing) as process:
        os.close(reading)
        os.close(writing)
        client = Talk(os.fdopen(requests, "wb"), os.fdopen(answers, "rb"))
        client.initialize()
        # More than a pipe holds.
        for number in range(2, 12):
            client.send(id=number, method="tools/list")
        assert sorted(client.receive()["id"] for _ in range(2, 12)) == [*range(2, 12)]
        client.stdin.close()
        assert process.wait(TIMEOUT_S) == 0
        client.threads[0].join()
        client.stdout.close()


def test_stdout_carries_only_the_protocol_and_stderr_what_tools_and_children_print():
    with Client(TEST_SERVER) as client:
        client.initialize()
        assert client.call("test_prints")["structuredContent"] == {"success": True, "stdin": ""}
        client.call("test_crashes")
        assert client.end() == 0
        assert client.receive() is None
    texts = ("from print", "from sys.stdout", "from fd 1", "from a child", "secret of the house")
    assert all(text in client.log() for text in texts)


def test_a_tool_that_holds_the_interpreter_is_ended_by_the_kernel():
    with Client(TEST_SERVER, TEST_STUCK_S="1") as client:
        client.initialize()
        client.begin(9, "test_hogs")
        assert client.process.wait(TIMEOUT_S) == -signal.SIGPROF


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_the_server_at_once_and_cleanly(number):
    with Client(TEST_SERVER) as client:
        client.initialize()
        client.begin(9, "test_sleeps", seconds=60)
        client.request("ping")
        client.process.send_signal(number)
        assert client.process.wait(10) == 0
    assert "Traceback" not in client.log()


def test_a_signal_that_the_reading_thread_does_not_notice_ends_the_server():
    """As one does that comes between the thread's last instruction and its read."""
    with Client(TEST_SERVER) as client:
        client.initialize()
        client.request("ping")
        process = client.process.pid
        for _ in range(200):
            if "pipe" in Path(f"/proc/{process}/wchan").read_text():
                break
            time.sleep(0.01)
        thread = max(map(int, os.listdir(f"/proc/{process}/task")))
        assert thread != process
        assert ctypes.CDLL(None).tgkill(process, thread, signal.SIGTERM) == 0
        assert client.process.wait(10) == 0


def test_a_client_that_is_gone_ends_the_server_even_in_a_slow_tool():
    lines = [INITIALIZE, INITIALIZED, call(9, "test_sleeps", seconds=60)]
    server = subprocess.Popen(TEST_SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for line in lines:
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **line}).encode() + b"\n")
    server.stdin.flush()
    server.stdout.readline()
    server.stdout.close()
    server.stdin.close()
    assert server.wait(protocol.DRAIN_S - 1) == 0


@pytest.mark.parametrize("folder", ["printer_data", "documents"])
def test_a_session_beside_a_printer_leaves_the_processor_to_klipper(env, folder):
    (env() / "home" / folder).mkdir()
    with Client() as client:
        client.initialize()
        niceness = os.getpriority(os.PRIO_PROCESS, client.process.pid)
    assert niceness == (10 if folder == "printer_data" else os.nice(0))


def test_a_wrong_start_is_one_line_and_exit_2():
    wrong_setting = run("--standalone", MCP_TOOLSETS="klipper,nope")
    for done, complaint in (
        (run("--wrong"), "--wrong"),
        (run("--check", "--http"), "--http"),
        (wrong_setting, "pi-mcp: MCP_TOOLSETS: expected one of anki, klipper, "),
    ):
        assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
        assert complaint in done.stderr


def test_help_answers_without_serving():
    assert "--check" in run("--help").stdout


def test_ctrl_c_ends_it_at_once_and_without_a_traceback():
    code = "import server, signal; server.main(['--connect']); signal.raise_signal(signal.SIGINT)"
    done = finished([PYTHON, "-c", code], cwd=PROJECT)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")


def test_over_http_without_uvicorn_it_says_what_to_run():
    done = finished([PYTHON, "-I", "-S", SERVER[1], "--http"], stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert "setup.sh --http" in done.stderr
