"""Sessions through the resident service: real processes, a socket of their own."""

import json
import os
import resource
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.klipper.upstreams import Upstream
from tests.support.client import ENVELOPE, HANDSHAKE, PROJECT, TIMEOUT_S, pipe
from tests.support.services import SERVER, Service, alive, wait_until
from tools.core import env_file
from tools.service import handover, session

INITIALIZE = {"id": 1, "method": "initialize", "params": HANDSHAKE}
SLOW = {"id": 9, "method": "tools/call", "params": {"name": "test_sleeps", "arguments": {"seconds": 60}}}


@pytest.fixture(scope="module")
def service():
    with Service() as running:
        yield running


def session_of(client):
    """Who serves: process id, folder and environment."""
    return client.call("test_process")["structuredContent"]


def errors_of(client):
    client.end()
    client.threads[1].join(TIMEOUT_S)
    return b"".join(client.errors).decode()


def test_a_handed_over_session_lists_and_calls_and_ends_with_status_0(service):
    with service.caller() as client:
        assert client.initialize()["serverInfo"]["name"] == "pi-mcp"
        assert "read_doc" in {tool["name"] for tool in client.request("tools/list")["result"]["tools"]}
        assert session_of(client)["pid"] in service.children()
        assert client.end() == 0
        assert client.receive() is None
    assert client.errors == [b""]


def test_the_2026_era_is_handed_over_too(service):
    with service.caller() as client:
        assert client.request("server/discover", _meta=ENVELOPE)["result"]["supportedVersions"] == ["2026-07-28"]
        assert client.request("tools/list", _meta=ENVELOPE)["result"]["tools"]


def test_piped_requests_are_all_answered(service):
    lines = [INITIALIZE, {"method": "notifications/initialized"}, {"id": 2, "method": "tools/list"}]
    answers, status = pipe(lines, SERVER, MCP_SOCKET=str(service.socket))
    assert [one["id"] for one in answers if "id" in one] == [1, 2]
    assert status == 0


def test_any_python_hands_over(service):
    with service.caller(["python3", str(PROJECT / "server.py")]) as client:
        client.initialize()
        assert session_of(client)["pid"] in service.children()


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("words", ["", "--standalone"])
def test_closed_descriptors_of_the_client_are_empty_ones(service, closed, words):
    done = subprocess.run(
        ["bash", "-c", f'exec "$@" {words} {closed}', "client", *SERVER],
        input=json.dumps({"jsonrpc": "2.0", **INITIALIZE}) + "\n",
        env={**os.environ, "MCP_SOCKET": str(service.socket)},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == ([1] if closed == "2>&-" else [])
    assert (done.stderr, done.returncode) == ("", 0)


def test_a_service_whose_own_descriptors_are_closed_serves():
    closed = ["bash", "-c", 'exec "$@" <&- >&-', "start", sys.executable, str(PROJECT / "server.py")]
    with Service(closed) as service, service.caller() as client:
        assert client.initialize()
        assert len(service.children()) == 1
        assert client.end() == 0


def test_what_waits_for_the_session_is_no_python(service):
    with service.caller() as client:
        client.initialize()
        wait_until(lambda: "python" not in os.readlink(f"/proc/{client.process.pid}/exe"))


def test_stderr_of_a_session_reaches_its_caller_and_stdout_only_the_protocol(service):
    with service.caller() as client:
        client.initialize()
        assert client.call("test_prints")["structuredContent"] == {"success": True, "stdin": ""}
        errors = errors_of(client)
        assert all(text in errors for text in ("from print", "from sys.stdout", "from fd 1", "from a child"))


def test_a_session_has_the_environment_and_folder_of_its_client(service, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with service.caller(MCP_TOOL_NAMES="dotted", GREETING="grüß") as client:
        client.initialize()
        assert "test.process" in {tool["name"] for tool in client.request("tools/list")["result"]["tools"]}
        found = session_of(client)
        assert found["folder"] == str(tmp_path)
        assert found["environ"]["GREETING"] == "grüß"
        assert found["environ"]["HOME"] == os.environ["HOME"]
        assert "NOTIFY_SOCKET" not in found["environ"]


def test_local_time_is_the_clients(service):
    for zone, offset in (("UTC-9", "+0900"), ("UTC+5", "-0500")):
        with service.caller(TZ=zone) as client:
            client.initialize()
            assert session_of(client)["offset"] == offset


def test_no_two_sessions_draw_the_same(service):
    with service.caller() as one, service.caller() as other:
        one.initialize()
        other.initialize()
        first, second = session_of(one), session_of(other)
        assert first["uuid"] != second["uuid"]
        assert first["number"] != second["number"]


@pytest.mark.parametrize("count", [1, 20], ids=["50 kB", "1 MB"])
def test_an_environment_of_any_size_is_handed_over(service, count):
    large = {f"LARGE_{number}": "x" * 50_000 for number in range(count)}
    with service.caller(**large) as client:
        client.initialize()
        found = session_of(client)
        assert large.items() <= found["environ"].items()
        assert found["pid"] in service.children()


def test_settings_of_the_service_hold_where_the_client_has_none():
    with Service(MCP_TOOL_NAMES="dotted", OTHER="1") as service:
        with service.caller() as client:
            client.initialize()
            assert "test.process" in {tool["name"] for tool in client.request("tools/list")["result"]["tools"]}
            assert "OTHER" not in session_of(client)["environ"]
        with service.caller(MCP_TOOL_NAMES="underscore") as client:
            client.initialize()
            assert "test_process" in {tool["name"] for tool in client.request("tools/list")["result"]["tools"]}


def test_a_wrong_setting_of_the_client_is_its_own_error(service):
    done = subprocess.run(
        SERVER,
        env={**os.environ, "MCP_SOCKET": str(service.socket), "MCP_TOOL_NAMES": "camel"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("pi-mcp: MCP_TOOL_NAMES: ")


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "in a slow tool"])
def test_a_session_ends_with_its_killed_caller(service, busy):
    with service.caller() as client:
        client.initialize()
        pid = session_of(client)["pid"]
        if busy:
            client.send(**SLOW)
            client.request("ping")
        client.process.kill()
        wait_until(lambda: not alive(pid))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_to_the_caller_ends_the_session(service, number):
    with service.caller() as client:
        client.initialize()
        pid = session_of(client)["pid"]
        client.process.send_signal(number)
        client.process.wait(TIMEOUT_S)
        wait_until(lambda: not alive(pid))


def test_a_session_that_crashes_touches_no_other(service):
    with service.caller() as crashing, service.caller() as other:
        crashing.initialize()
        other.initialize()
        os.kill(session_of(crashing)["pid"], signal.SIGSEGV)
        assert crashing.process.wait(TIMEOUT_S) == 1
        assert "the session broke off" in errors_of(crashing)
        assert other.request("ping")["result"] == {}
    with service.caller() as next_one:
        assert next_one.initialize()


def test_two_sessions_share_no_state(service):
    with service.caller() as one, service.caller() as other:
        one.initialize()
        other.initialize()
        one.call("test_notes", text="(of one)")
        listed = {tool["name"]: tool for tool in other.request("tools/list")["result"]["tools"]}
        assert listed["test_notes"]["description"] == "Change its own description."


def test_a_plain_connection_is_served(service):
    with service.connect() as connection, connection.makefile("rb") as answers:
        for message in (INITIALIZE, {"method": "notifications/initialized"}, {"id": 2, "method": "tools/list"}):
            connection.sendall(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        connection.shutdown(socket.SHUT_WR)
        assert [json.loads(line)["id"] for line in answers] == [1, 2]


def test_a_plain_connection_has_the_settings_of_now():
    with Service() as service:
        file = Path(os.environ["XDG_CONFIG_HOME"]) / "pi-mcp" / "env"
        file.parent.mkdir(parents=True)
        file.write_text("MCP_TOOL_NAMES=dotted\n", encoding="utf-8")
        with service.connect() as connection, connection.makefile("rw") as wire:
            for message in (INITIALIZE, {"id": 2, "method": "tools/list"}):
                wire.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
                wire.flush()
                answer = json.loads(wire.readline())
        assert "test.process" in {tool["name"] for tool in answer["result"]["tools"]}


def test_a_plain_connection_that_is_reset_ends_without_a_word():
    with Service() as service:
        with service.connect() as connection:
            connection.sendall(json.dumps({"jsonrpc": "2.0", **INITIALIZE}).encode() + b"\n")
            assert connection.recv(1) == b"{"  # closing what is not read to the end resets it
        wait_until(lambda: service.children() == [])
        service.stop()
        assert service.process.stderr.read() == b""


def test_clients_that_say_nothing_or_stop_halfway_keep_nobody_waiting(service):
    with service.connect(), service.connect() as half, service.connect() as undecided:
        half.sendall(b"\0\0\0")
        offer = handover._frame([handover.identity().encode(), b"/", b"A=1"])
        with open(os.devnull, "r+b") as null:
            socket.send_fds(undecided, [offer], [null.fileno()] * 3)
        assert undecided.recv(9) == handover.TAKEN
        with service.caller() as client:
            assert client.initialize()
            assert session_of(client)["pid"] in service.children()
    wait_until(lambda: service.children() == [])


@pytest.mark.parametrize("offer", [b"", b"\0", b"\0\0\0\1\0half", b"\0\0\0\0\3a\0b", b"\0\0\0\0\0"])
def test_a_connection_that_breaks_off_leaves_nothing(service, offer):
    with service.connect() as connection:
        connection.sendall(offer)
    wait_until(lambda: service.children() == [])


def test_silent_connections_take_the_room_of_no_session():
    with Service(MCP_MAX_SESSIONS="4") as service, ExitStack() as silent:
        for number in range(8):
            connection = silent.enter_context(service.connect())
            connection.sendall([b"", b"\0\0\0", b"\0\0\0\1\0half"][number % 3])
        for _ in range(4):
            client = silent.enter_context(service.caller())
            assert client.initialize()
            assert client.errors == []
        with service.connect() as connection:
            assert json.loads(connection.makefile().readline())["error"]["code"] == handover.FULL


def test_a_connection_that_says_nothing_is_dropped_in_time(monkeypatch):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        monkeypatch.setattr(session, "FIRST_BYTE_S", 0.05)
        monkeypatch.setattr(session, "OFFER_S", 0.05)
        for offer in (b"", b"\0", b"\0\0\0\1\0half"):
            theirs.sendall(offer)
            with pytest.raises(TimeoutError):
                session.take(ours, "identity", lambda: None)


def test_a_session_that_holds_the_interpreter_ends_without_its_client():
    with Service(TEST_STUCK_S="1") as service:
        with service.caller() as client:
            client.initialize()
            pid = session_of(client)["pid"]
            client.send(id=9, method="tools/call", params={"name": "test_hogs", "arguments": {}})
            client.process.kill()
        wait_until(lambda: not alive(pid))


def test_a_session_has_no_terminal_of_the_service(service):
    with service.caller() as client:
        client.initialize()
        pid = session_of(client)["pid"]
        assert os.getsid(pid) == pid


def test_an_old_service_leaves_the_socket_of_a_newer_one():
    with Service() as old:
        shutil.rmtree(old.folder)
        old.folder.mkdir(mode=0o700)
        old_process = old.process
        try:
            old.start()
            old_process.terminate()
            assert old_process.wait(TIMEOUT_S) == 0
            assert old.socket.exists()
        finally:
            old_process.stderr.close()


def test_too_many_sessions_are_told_and_do_not_start_by_themselves():
    with Service(MCP_MAX_SESSIONS="1") as service, service.caller() as first:
        first.initialize()
        answers, status = pipe([INITIALIZE], SERVER, MCP_SOCKET=str(service.socket))
        assert answers[0]["id"] == 1
        assert "MCP_MAX_SESSIONS" in answers[0]["error"]["message"]
        assert status == 1
        with service.connect() as connection:
            assert json.loads(connection.makefile().readline())["error"]["code"] == handover.FULL
        first.end()
        wait_until(lambda: service.children() == [])
        with service.caller() as second:
            assert second.initialize()


def test_fifty_at_once_are_all_served_and_nothing_is_left():
    with Service(MCP_MAX_SESSIONS="50") as service:
        with service.caller() as client:
            client.initialize()
        wait_until(lambda: service.children() == [])
        before = len(os.listdir(f"/proc/{service.process.pid}/fd"))
        clients = [service.caller() for _ in range(50)]
        for number, client in enumerate(clients):
            client.send(id=number, method="initialize", params=HANDSHAKE)
        assert [client.answer(number)["id"] for number, client in enumerate(clients)] == list(range(50))
        assert len(service.children()) == 50
        for client in clients:
            client.__exit__()
        wait_until(lambda: service.children() == [])
        assert len(os.listdir(f"/proc/{service.process.pid}/fd")) == before
        assert len(os.listdir(f"/proc/{service.process.pid}/task")) == 1


def waits(pid):
    """How often a process went to sleep by itself."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(status.partition("\nvoluntary_ctxt_switches:")[2].split()[0])


def test_without_a_free_descriptor_it_waits_instead_of_spinning():
    with Service() as service:
        soft, hard = resource.prlimit(service.process.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(service.process.pid, resource.RLIMIT_NOFILE, (3, hard))
        before = waits(service.process.pid)
        with service.connect() as connection:
            wait_until(lambda: waits(service.process.pid) > before + 1)
            resource.prlimit(service.process.pid, resource.RLIMIT_NOFILE, (soft, hard))
            connection.sendall(json.dumps({"jsonrpc": "2.0", **INITIALIZE}).encode() + b"\n")
            assert json.loads(connection.makefile().readline())["id"] == 1
        assert b"Too many open files" in service.process.stderr.readline()


def test_with_descriptors_for_the_connection_alone_it_refuses_and_lives_on():
    with Service() as service:
        pid = service.process.pid
        with service.caller() as client:  # from now on nothing of its start is open any more
            assert client.initialize()
        soft, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        free = next(number for number in range(100) if not os.path.lexists(f"/proc/{pid}/fd/{number}"))
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (free + 1, hard))
        with service.connect() as connection:
            assert "Too many open files" in json.loads(connection.makefile().readline())["error"]["message"]
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (soft, hard))
        with service.caller() as client:
            assert client.initialize()


def test_a_service_that_is_told_to_end_leaves_its_sessions():
    with Service() as service, service.caller() as client:
        client.initialize()
        pid = session_of(client)["pid"]
        assert service.stop() == 0
        assert not service.socket.exists()
        assert client.request("ping")["result"] == {}
        service.process.stderr.close()
        with service.start().caller() as other:  # the next service has its place at once
            other.initialize()
            assert session_of(other)["pid"] in service.children()
        assert client.request("ping")["result"] == {}
        assert client.end() == 0
        wait_until(lambda: not alive(pid))


def test_a_killed_service_leaves_its_sessions_and_a_socket_that_the_next_one_replaces():
    with Service() as service, service.caller() as client:
        client.initialize()
        service.stop(signal.SIGKILL)
        assert client.request("ping")["result"] == {}
        assert stat.S_ISSOCK(service.socket.stat().st_mode)
        service.process.stderr.close()
        with service.start().caller() as other:
            other.initialize()
            assert session_of(other)["pid"] in service.children()


def test_a_second_service_refuses_to_start(service):
    done = subprocess.run(
        service.command, env=service.environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    assert done.returncode == 2
    assert "another service listens" in done.stderr


def test_its_socket_is_for_its_user_alone(service):
    assert stat.S_IMODE(service.socket.stat().st_mode) == 0o600
    made = service.folder / "made" / "here"
    other = Service(systemd=False)
    other.socket = made / "socket"
    other.environment["MCP_SOCKET"] = str(other.socket)
    with other:
        assert stat.S_IMODE(made.stat().st_mode) == 0o700


def test_it_does_not_listen_in_a_folder_that_is_open_to_others(tmp_path):
    tmp_path.chmod(0o777)
    done = subprocess.run(
        [*SERVER, "--daemon"],
        env={**os.environ, "MCP_SOCKET": str(tmp_path / "socket")},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    assert done.returncode == 2
    assert "closed to others" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be two users")
def test_users_do_not_meet_even_where_the_modes_allow_it(listener):
    os.chown(listener.socket, 12345, 12345)
    assert "belongs to another user" in served_here(listener.socket)
    with Service() as service:
        service.folder.chmod(0o755)
        service.socket.chmod(0o666)
        code = f"import socket; s = socket.socket(socket.AF_UNIX); s.connect({str(service.socket)!r}); print(s.recv(9))"
        done = subprocess.run(
            ["/usr/bin/python3", "-c", code], user="nobody", capture_output=True, text=True, timeout=TIMEOUT_S
        )
        assert (done.stdout, done.returncode) == ("b''\n", 0)
        assert service.children() == []


def test_systemd_starts_it_for_a_connection_that_waits_and_it_ends_when_idle():
    service = Service(systemd=True, MCP_IDLE_EXIT="1")
    waiting = service.connect()
    waiting.sendall(json.dumps({"jsonrpc": "2.0", **INITIALIZE}).encode() + b"\n")
    with service, waiting:
        assert json.loads(waiting.makefile().readline())["id"] == 1
        assert service.process.poll() is None
        waiting.shutdown(socket.SHUT_RDWR)
        assert service.process.wait(TIMEOUT_S) == 0
        assert service.socket.exists()


def test_a_service_that_systemd_keeps_the_socket_of_is_waited_for():
    service = Service(systemd=True)
    with service.caller() as client:
        client.send(**INITIALIZE)
        with service:
            assert client.answer(1)["result"]
            assert len(service.children()) == 1
            client.end()


def served_here(path, **changes):
    """What a caller writes to stderr that served by itself."""
    done = subprocess.run(
        SERVER,
        input=json.dumps({"jsonrpc": "2.0", **INITIALIZE}) + "\n",
        env={**os.environ, "MCP_SOCKET": str(path), **changes},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    assert json.loads(done.stdout)["id"] == 1
    assert done.returncode == 0
    return done.stderr


def test_without_a_service_it_serves_by_itself_in_silence(tmp_path):
    assert served_here(tmp_path / "none") == ""


@pytest.fixture
def listener():
    """A socket where nobody answers, in a private folder."""
    service = Service(systemd=True)
    service.listener.listen()  # this process, which lives and is not systemd
    with service.listener:
        yield service
    service.listener.close()
    for file in service.folder.iterdir():
        file.unlink()
    service.folder.rmdir()


def stale(service):
    service.listener.close()


def no_socket(service):
    service.socket.unlink()
    service.socket.write_bytes(b"")


def open_mode(service):
    service.socket.chmod(0o666)


def open_folder(service):
    service.folder.chmod(0o777)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (stale, "refused"),
        (no_socket, "is not a socket"),
        (open_mode, "is open to other users"),
        (open_folder, "is open to other users"),
    ],
)
def test_a_doubtful_socket_is_told_in_a_line_and_it_serves_by_itself(listener, spoil, reason):
    spoil(listener)
    errors = served_here(listener.socket)
    assert reason in errors
    assert len(errors.splitlines()) == 1


def test_a_path_that_is_too_long_is_told_in_a_line(tmp_path):
    path = tmp_path / ("x" * 120)
    path.touch()
    assert len(served_here(path).splitlines()) == 1


def attempt(service, *, identity="", answer_s=0.1):
    """What a caller says that comes back from its attempt. A process of its own: one that is taken becomes a shell."""
    code = (
        f"import sys; sys.path.insert(0, {str(PROJECT)!r})\n"
        f"from tools.service import handover; handover.ANSWER_S = {answer_s}\n"
        f"if {identity!r}: handover.identity = lambda: {identity!r}\n"
        f"handover.attempt({{'MCP_SOCKET': {str(service.socket)!r}}})\n"
        "print('came back')"
    )
    command = [sys.executable, "-I", "-S", "-c", code]
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:  # a pipe goes with the offer
        status = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, timeout=TIMEOUT_S
        ).returncode
        output.seek(0)
        errors.seek(0)
        assert (output.read(), status) == ("came back\n", 0)
        return errors.read()


def test_a_service_that_hangs_is_not_waited_for_forever(listener):
    assert "does not answer" in attempt(listener)


@pytest.mark.parametrize(
    "answer", [b"HTTP/1.1 400 Bad Request\r\n", b"null\n", b"{}\n", b'{"error":{"code":-32700}}\n']
)
def test_what_answers_like_no_service_is_not_used(listener, answer):
    def reply():
        with listener.listener.accept()[0] as connection:
            connection.recv(2**16)
            connection.sendall(answer)

    other = threading.Thread(target=reply)
    other.start()
    assert "is not pi-mcp" in attempt(listener)
    other.join()


def test_a_service_with_a_full_backlog_is_not_waited_for(listener):
    listener.listener.listen(0)
    with listener.connect():
        assert "served here" in attempt(listener)


def test_a_service_of_other_sources_is_not_used(service):
    project = handover.identity().rpartition(" ")[0]
    assert "another version" in attempt(service, identity=f"{project} another", answer_s=30)
    assert f"installed for {project}; run ./setup.sh --systemd in /elsewhere" in attempt(
        service, identity="/elsewhere another", answer_s=30
    )
    wait_until(lambda: service.children() == [])


@pytest.mark.parametrize("change", ["newer", "older", "another size", "removed", "renamed", "packages"])
def test_changed_sources_are_other_sources(tmp_path, monkeypatch, change):
    (tmp_path / "tools" / "deep").mkdir(parents=True)
    (tmp_path / "server.py").touch()
    (tmp_path / ".venv").mkdir()
    packages = tmp_path / ".venv" / "requirements.txt"
    packages.touch()
    module = tmp_path / "tools" / "deep" / "one.py"
    module.touch()
    monkeypatch.setattr(handover, "PROJECT", str(tmp_path))
    before = handover.identity()
    match change:
        case "newer":
            os.utime(module, (2e9, 2e9))
        case "older":
            os.utime(module, (1e9, 1e9))
        case "another size":
            times = module.stat()
            module.write_text("x", encoding="ascii")
            os.utime(module, ns=(times.st_atime_ns, times.st_mtime_ns))
        case "removed":
            module.unlink()
        case "renamed":
            module.rename(module.with_name("two.py"))
        case "packages":
            packages.write_text("mcp==9", encoding="ascii")
    assert handover.identity() != before


def test_a_client_whose_state_the_service_cannot_write_serves_by_itself(service, tmp_path):
    (tmp_path / "file").touch()
    assert "may not write" in served_here(service.socket, MCP_STATE_DIR=str(tmp_path / "file" / "state"))


def test_a_folder_that_the_service_cannot_enter_is_refused(service, tmp_path):
    with service.connect() as connection:
        connection.sendall(handover._frame([handover.identity().encode(), bytes(tmp_path / "gone"), b"A=1"]))
        assert "cannot enter" in json.loads(connection.makefile().readline())["error"]["message"]


@pytest.mark.parametrize("count", [0, 2])
def test_an_offer_without_all_three_descriptors_is_refused(service, count):
    with service.connect() as connection:
        socket.send_fds(connection, [handover._frame([handover.identity().encode(), b"/", b"A=1"])], [0, 1][:count])
        assert "did not all reach" in json.loads(connection.makefile().readline())["error"]["message"]


def test_an_error_that_ends_a_session_is_told():
    code = f"""
import sys
sys.path.insert(0, {str(PROJECT)!r})
from tools.service import resident

def serve():
    raise OSError("out of order")

sys.exit(resident.main(serve, "identity"))
"""
    with Service([sys.executable, "-c", code]) as service:
        with service.connect() as connection:
            connection.sendall(b"x")
            with pytest.raises(ConnectionResetError):
                connection.recv(1)
        service.stop()
        assert b"out of order" in service.process.stderr.read()


def test_a_client_in_a_folder_that_is_gone_serves_by_itself(service, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    script = 'cd "$1" && rmdir "$1" && shift && exec "$@"'
    with service.caller(["bash", "-c", script, "client", str(gone), *SERVER]) as client:
        assert client.initialize()
        assert "is gone" in errors_of(client)


def test_standalone_never_looks_for_the_service(service):
    with service.caller([sys.executable, str(PROJECT / "server.py"), "--standalone"]) as client:
        client.initialize()
        assert service.children() == []


def test_check_says_whether_sessions_are_handed_over(service):
    command = [*SERVER, "--check"]
    done = subprocess.run(command, env=service.environment, capture_output=True, text=True, timeout=60)
    assert f"service     ok          {service.socket}" in done.stdout
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert "service     not set up" in done.stdout
    assert done.returncode == 0


def test_the_upstream_is_asked_once_for_all_sessions(service, tmp_path, monkeypatch):
    upstream = Upstream(tmp_path / "upstream")
    monkeypatch.setenv("KLIPPER_DOCS_URL", upstream.url)
    stamp = Path(os.environ["MCP_STATE_DIR"]) / "klipper-docs.json"
    with service.caller() as client:
        client.initialize()
        assert client.call("sync_docs")["isError"] is False
    stamp.unlink()
    with service.caller() as first:
        first.initialize()
        first.request("tools/list")
        wait_until(lambda: stamp.exists() and '"upstream": ""' not in stamp.read_text(encoding="utf-8"))
        asked = stamp.read_bytes()
        for _ in range(3):
            with service.caller() as other:
                other.initialize()
                other.request("tools/list")
                assert "read_doc" in {tool["name"] for tool in other.request("tools/list")["result"]["tools"]}
    assert stamp.read_bytes() == asked


def test_the_socket_is_found_by_the_settings_file(service, monkeypatch):
    monkeypatch.delenv("MCP_SOCKET")
    file = Path(os.environ["XDG_CONFIG_HOME"]) / "pi-mcp" / "env"
    file.parent.mkdir(parents=True)
    file.write_text(f"MCP_SOCKET={service.socket}\n", encoding="utf-8")
    assert env_file.sockets(os.environ) == [str(service.socket)]


def test_it_looks_below_the_runtime_folder_then_where_the_units_listen(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert env_file.sockets({"XDG_RUNTIME_DIR": "/run/user/7", "XDG_CONFIG_HOME": str(tmp_path)}) == [
        "/run/user/7/pi-mcp/socket",
        "/run/pi-mcp/socket",
    ]
    assert env_file.sockets({"XDG_CONFIG_HOME": str(tmp_path)}) == ["/run/pi-mcp/socket"]


def test_handing_over_imports_nothing_heavy(service):
    code = (
        f"import sys; sys.path.insert(0, {str(PROJECT)!r}); from tools.service import handover\n"
        "handover._stand_by = lambda connection: print(*sys.modules)\n"
        f"handover.attempt({{'MCP_SOCKET': {str(service.socket)!r}}})\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "tools.service.handover" in done.stdout, done.stderr
    heavy = {"typing", "re", "json", "pathlib", "logging", "inspect", "dataclasses", "socket", "enum", "collections"}
    assert not heavy & set(done.stdout.split())
