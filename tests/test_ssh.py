"""The server behind a real sshd on a loopback port."""

import getpass
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from tests.client import HANDSHAKE, PROJECT, TEST_SERVER, Client
from tests.services import SERVER, Service, alive

SSHD = shutil.which("sshd") or "/usr/sbin/sshd"
pytestmark = pytest.mark.skipif(
    not (Path(SSHD).exists() and shutil.which("ssh-keygen")), reason="openssh-server is not installed"
)
START_S = 20


@pytest.fixture(scope="module")
def ssh(tmp_path_factory):
    """The start of an ssh command line that reaches a sshd of our own."""
    folder = tmp_path_factory.mktemp("sshd")
    folder.chmod(0o700)
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
    shutil.copy(folder / "user.pub", folder / "authorized_keys")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (folder / "config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/authorized_keys\n"
        f"PidFile none\nUsePAM no\nStrictModes no\nPasswordAuthentication no\n",
        encoding="utf-8",
    )
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    daemon = subprocess.Popen(
        [SSHD, "-D", "-e", "-f", str(folder / "config")], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    wait_for_port(port, daemon)
    options = ["BatchMode=yes", "StrictHostKeyChecking=no", f"UserKnownHostsFile={folder}/known", "LogLevel=ERROR"]
    flags = [word for option in options for word in ("-o", option)]
    yield ["ssh", "-T", "-p", str(port), "-i", str(folder / "user"), *flags, f"{getpass.getuser()}@127.0.0.1"]
    os.killpg(daemon.pid, signal.SIGTERM)
    daemon.wait(START_S)
    daemon.stderr.close()


def wait_for_port(port, daemon):
    for _ in range(START_S * 20):
        if daemon.poll() is not None:
            pytest.skip(f"sshd does not start here: {daemon.stderr.read()}")
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise AssertionError("sshd does not listen")


def test_a_session_over_ssh_works(ssh):
    with Client([*ssh, str(PROJECT / "server.py")]) as client:
        assert client.initialize()["serverInfo"]["name"] == "pi-mcp"
        assert client.request("tools/list")["result"]["tools"]
        assert client.end() == 0


def test_piped_requests_over_ssh_are_all_answered(ssh):
    lines = [{"id": 1, "method": "initialize", "params": HANDSHAKE}, {"id": 2, "method": "tools/list"}]
    text = "".join(json.dumps({"jsonrpc": "2.0", **line}) + "\n" for line in lines)
    done = subprocess.run([*ssh, str(PROJECT / "server.py")], input=text, capture_output=True, text=True, timeout=60)
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1, 2]


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "in a slow tool"])
def test_the_server_is_gone_within_a_second_of_ssh_being_killed(ssh, busy):
    with Client([*ssh, " ".join(TEST_SERVER)]) as client:
        client.initialize()
        pid = server_pid(client)
        assert_gone_within_a_second_of_a_kill(client, pid, busy)


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "in a slow tool"])
def test_a_session_of_the_service_is_gone_within_a_second_of_ssh_being_killed(ssh, busy):
    with Service() as service, Client([*ssh, f"MCP_SOCKET={service.socket}", *SERVER]) as client:
        client.initialize()
        pid = server_pid(client)
        assert pid in service.children()
        assert_gone_within_a_second_of_a_kill(client, pid, busy)


def assert_gone_within_a_second_of_a_kill(client, pid, busy):
    if busy:
        client.send(id=9, method="tools/call", params={"name": "test_sleeps", "arguments": {"seconds": 60}})
        client.request("ping")
    client.process.kill()
    client.process.wait(10)
    deadline = time.monotonic() + 1
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not alive(pid)


def server_pid(client):
    return client.call("test_process")["structuredContent"]["pid"]
