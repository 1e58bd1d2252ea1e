"""The server behind a real sshd on a loopback port."""

import pytest

from tests.support.client import PROJECT, Client
from tests.support.sshd import NO_SSHD, Sshd

pytestmark = pytest.mark.slow

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
