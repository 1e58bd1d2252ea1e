"""Sessions through the resident service: real processes, a socket of their own."""

import os
import shutil
import signal
import sys
import tempfile
import threading
from contextlib import ExitStack

import pytest

from tests.support.client import HANDSHAKE, PROJECT, TIMEOUT_S, Client, finished, pipe
from tests.support.services import SERVER, Service, alive, wait_until
from tools.resident import handover

pytestmark = pytest.mark.slow

INITIALIZE = {"id": 1, "method": "initialize", "params": HANDSHAKE}


@pytest.fixture(scope="module")
def service():
    with Service() as running:
        yield running


def session_of(client):
    """The process that serves: its id, folder and environment."""
    return client.call("test_process")["structuredContent"]


def listed(client):
    """The tools by their names."""
    return {tool["name"]: tool for tool in client.request("tools/list")["result"]["tools"]}


def errors_of(client):
    client.end()
    client.threads[1].join(TIMEOUT_S)
    return b"".join(client.errors).decode()


@pytest.mark.smoke
def test_a_handed_over_session_lists_and_calls_and_ends_with_status_0(service):
    with service.caller() as client:
        assert client.initialize()["serverInfo"]["name"] == "pi-mcp"
        assert "read_doc" in listed(client)
        assert session_of(client)["pid"] in service.children()
        assert client.end() == 0
        assert client.receive() is None
    assert client.errors == [b""]


def test_piped_requests_of_any_python_are_all_answered(service):
    lines = [INITIALIZE, {"method": "notifications/initialized"}, {"id": 2, "method": "tools/list"}]
    for python in (SERVER, ["python3", str(PROJECT / "server.py")]):
        answers, status = pipe(lines, python, MCP_SOCKET=str(service.socket))
        assert [answer["id"] for answer in answers if "id" in answer] == [1, 2]
        assert status == 0


@pytest.mark.parametrize("words", ["", "--standalone"])
def test_closed_descriptors_of_the_client_are_empty_ones(service, words):
    command = ["bash", "-c", f'exec "$@" {words} 2>&-', "client", *SERVER]
    answers, status = pipe([INITIALIZE], command, MCP_SOCKET=str(service.socket))
    assert ([answer["id"] for answer in answers], status) == ([1], 0)


def test_stderr_of_a_session_reaches_its_caller_which_is_no_python_and_stdout_only_the_protocol(
    service,
):
    with service.session() as client:
        wait_until(lambda: "python" not in os.readlink(f"/proc/{client.process.pid}/exe"))
        assert client.call("test_prints")["structuredContent"] == {"success": True, "stdin": ""}
        errors = errors_of(client)
        for text in ("from print", "from sys.stdout", "from fd 1", "from a child"):
            assert text in errors


def test_a_session_has_the_environment_folder_and_zone_of_its_client_and_no_terminal(
    service, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    environ = {"MCP_TOOL_NAMES": "dotted", "GREETING": "grüß", "TZ": "UTC-9"}
    environ |= {f"LARGE_{number}": "x" * 50_000 for number in range(20)}
    with service.caller(**environ, **{"": "a variable without a name"}) as client:
        client.initialize()
        assert "test.process" in listed(client)
        process = session_of(client)
        environ["HOME"] = os.environ["HOME"]
        assert environ.items() <= process["environ"].items()
        assert "NOTIFY_SOCKET" not in process["environ"]
        assert (process["folder"], process["offset"]) == (str(tmp_path), "+0900")
        assert os.getsid(process["pid"]) == process["pid"]


def test_two_sessions_share_no_state_and_draw_no_same_number(service):
    with service.session() as client, service.session() as other:
        client.call("test_notes", text="(of one)")
        assert listed(other)["test_notes"]["description"] == "Change its own description."
        first = session_of(client)
        second = session_of(other)
        assert first["uuid"] != second["uuid"]
        assert first["number"] != second["number"]


def test_a_wrong_setting_of_the_client_is_its_own_error(service):
    with service.caller(MCP_TOOL_NAMES="camel") as client:
        assert client.process.wait(TIMEOUT_S) == 2
        assert errors_of(client).startswith("pi-mcp: MCP_TOOL_NAMES: ")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP])
def test_a_session_ends_with_its_caller_even_in_a_slow_tool(service, number):
    with service.session() as client:
        pid = session_of(client)["pid"]
        client.begin(9, "test_sleeps", seconds=60)
        client.request("ping")
        client.process.send_signal(number)
        client.process.wait(TIMEOUT_S)
        wait_until(lambda: not alive(pid))


def test_a_session_that_waits_for_its_client_ends_at_a_signal(service):
    with service.session() as client:
        os.kill(service.children()[0], signal.SIGHUP)
        client.process.wait(TIMEOUT_S)
        service.wait_until_empty()


def test_a_session_that_crashes_touches_no_other(service):
    with service.session() as crashing, service.session() as other:
        os.kill(session_of(crashing)["pid"], signal.SIGSEGV)
        assert crashing.process.wait(TIMEOUT_S) == 1
        assert "the session broke off" in errors_of(crashing)
        assert other.request("ping")["result"] == {}
    with service.session():
        pass


def test_clients_that_say_nothing_or_stop_halfway_keep_nobody_waiting_and_leave_nothing(service):
    with ExitStack() as silent, open(os.devnull, "r+b") as null:
        for sent in (b"", b"\0", b"half", b"a\0b\0\0", b"\0\0"):
            silent.enter_context(service.connect()).sendall(sent)
        undecided = silent.enter_context(service.connect())
        assert service.offer(undecided, [null.fileno()] * 3) == handover.TAKEN
        with service.session() as client:
            assert session_of(client)["pid"] in service.children()
    service.wait_until_empty()


def test_too_many_sessions_are_told_and_do_not_start_by_themselves():
    with Service(MCP_MAX_SESSIONS="1") as service, service.session() as running:
        with service.caller() as refused:
            assert refused.process.wait(TIMEOUT_S) == 1
            assert "MCP_MAX_SESSIONS" in errors_of(refused)
        running.end()
        service.wait_until_empty()
        with service.session():
            pass


def test_fifty_at_once_are_all_served_and_nothing_is_left():
    with Service(MCP_MAX_SESSIONS="50") as service:
        with service.session():
            pass
        service.wait_until_empty()
        process_folder = f"/proc/{service.process.pid}"
        before = len(os.listdir(f"{process_folder}/fd"))
        clients = [service.caller() for _ in range(50)]
        for number, client in enumerate(clients):
            client.send(id=number, method="initialize", params=HANDSHAKE)
        assert all(client.answer(number)["result"] for number, client in enumerate(clients))
        assert len(service.children()) == 50
        for client in clients:
            client.__exit__()
        service.wait_until_empty()
        assert len(os.listdir(f"{process_folder}/fd")) == before
        assert len(os.listdir(f"{process_folder}/task")) == 1


def test_a_service_that_is_told_to_end_leaves_its_sessions():
    with Service() as service, service.session() as client:
        pid = session_of(client)["pid"]
        assert service.stop() == 0
        assert not service.socket.exists()
        assert client.request("ping")["result"] == {}
        service.process.stderr.close()
        with service.start().session() as other:  # the next service has its place at once
            assert session_of(other)["pid"] in service.children()
        assert client.request("ping")["result"] == {}
        assert client.end() == 0
        wait_until(lambda: not alive(pid))


def test_a_second_service_refuses_to_start(service):
    done = finished(service.command, env=service.environment)
    assert done.returncode == 2
    assert "another service listens" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be two users")
def test_users_do_not_meet_even_where_the_modes_allow_it(listener, monkeypatch):
    # Setup.sh's own temporary folder is closed to nobody.
    monkeypatch.setattr(tempfile, "tempdir", "/tmp")
    os.chown(listener.socket, 12345, 12345)
    assert "is not a socket of this user alone" in served_here(listener.socket)
    with Service() as service:
        service.folder.chmod(0o755)
        service.socket.chmod(0o666)
        code = (
            f"import socket; s = socket.socket(1); s.connect('{service.socket}'); print(s.recv(9))"
        )
        done = finished(["/usr/bin/python3", "-c", code], user="nobody")
        assert (done.stderr, done.stdout, done.returncode) == ("", "b''\n", 0)
        assert not service.children()


def test_systemd_starts_it_for_a_caller_that_waits_and_it_ends_when_idle():
    service = Service(systemd=True, MCP_IDLE_EXIT="1")
    with service.caller() as client:
        client.send(**INITIALIZE)
        with service:
            assert client.answer(1)["result"]
            assert len(service.children()) == 1
            client.end()
            assert service.process.wait(TIMEOUT_S) == 0
            assert service.socket.exists()


def served_here(path, **changes):
    """The stderr of a caller that serves its client itself."""
    with Client(SERVER, MCP_SOCKET=str(path), **changes) as client:
        assert client.initialize()
        assert client.end() == 0
        return errors_of(client)


def test_without_a_service_it_serves_by_itself_in_silence_and_says_that_a_path_is_too_long(
    tmp_path,
):
    assert served_here(tmp_path / "none") == ""
    path = tmp_path / ("x" * 120)
    path.touch()
    assert len(served_here(path).splitlines()) == 1


@pytest.fixture
def listener():
    """A socket where nobody answers, in a private folder."""
    service = Service(systemd=True)
    with service.listener:
        yield service
    shutil.rmtree(service.folder)


def test_a_doubtful_socket_is_told_in_a_line_and_it_serves_by_itself(listener):
    listener.listener.close()
    stale = served_here(listener.socket)
    listener.socket.unlink()
    listener.socket.write_bytes(b"")
    other = served_here(listener.socket)
    assert "refused" in stale and "is not a socket" in other
    assert [len(errors.splitlines()) for errors in (stale, other)] == [1, 1]


def attempt(service, changes):
    """The stdout and stderr of a caller with these changes. It is a process of its own, since a caller whose
    session is accepted becomes a shell."""
    code = f"""import sys; sys.path.insert(0, {str(PROJECT)!r}); from tools.resident import handover
{changes}
handover.attempt()
print('came back')"""
    output, errors = (service.folder / name for name in ("output", "errors"))
    # Files: a pipe goes with the offer.
    script = f'exec "$@" < /dev/null > {output} 2> {errors}'
    command = ["sh", "-c", script, "sh", sys.executable, "-I", "-S", "-c", code]
    finished(command, check=True, env={"MCP_SOCKET": str(service.socket)})
    return output.read_text(), errors.read_text()


def test_a_service_that_hangs_is_not_waited_for_forever(listener):
    assert handover.ANSWER_S < 10, "Codex waits no longer for a server to start"
    output, errors = attempt(listener, "handover.ANSWER_S = 0.1")
    assert (output, "timed out" in errors) == ("came back\n", True)


def test_a_service_that_ends_in_the_middle_costs_no_start(listener):
    ending = threading.Thread(target=lambda: listener.listener.accept()[0].close())
    ending.start()
    errors = served_here(listener.socket)
    ending.join(TIMEOUT_S)
    assert (handover.NOT_HANDED in errors, len(errors.splitlines())) == (True, 1)


def test_a_service_of_other_sources_is_not_used(service):
    output, errors = attempt(service, "handover.identity = lambda: 'another'")
    assert output == "came back\n"
    assert "./setup.sh --systemd in this folder" in errors
    service.wait_until_empty()


def test_a_client_whose_state_cannot_be_written_serves_by_itself(service, tmp_path):
    (tmp_path / "file").touch()
    state = str(tmp_path / "file" / "state")
    assert "may not write" in served_here(service.socket, MCP_STATE_DIR=state)


def test_check_says_whether_sessions_are_handed_over(service):
    command = [*SERVER, "--check"]
    done = finished(command, env=service.environment)
    assert f"✓ service     {service.socket}" in done.stdout
    done = finished(command)
    assert done.stdout.startswith("✓ server")
    assert "○ service " in done.stdout
    assert done.returncode == 0


def test_handing_over_imports_nothing_heavy(service):
    imported, _ = attempt(service, "handover._stand_by = lambda connection: print(*sys.modules)")
    assert "tools.resident.handover" in imported
    heavy = "typing re json pathlib logging inspect dataclasses socket enum collections"
    assert not {*heavy.split()} & {*imported.split()}
