"""The server behind a real sshd on a loopback port."""

import json
import subprocess
import time

import pytest

from tests.support.client import HANDSHAKE, PROJECT, TEST_SERVER, Client
from tests.support.services import SERVER, Service, alive
from tests.support.sshd import NO_SSHD, Sshd

if NO_SSHD:
    pytest.skip(NO_SSHD, allow_module_level=True)


@pytest.fixture(scope="module")
def ssh():
    """The start of an ssh command line that reaches a sshd of our own."""
    with Sshd() as sshd:
        yield sshd.ssh()


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
