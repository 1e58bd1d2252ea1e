"""The server behind a real sshd, as a client starts it."""

import pytest

from tests.support.client import SERVER, Client, finished
from tests.support.sshd import NO_SSHD, Sshd

pytestmark = pytest.mark.slow

if NO_SSHD:
    pytest.skip(NO_SSHD, allow_module_level=True)


@pytest.fixture(scope="module")
def sshd():
    with Sshd() as sshd:
        yield sshd


def test_a_session_over_ssh_works(sshd):
    with Client([*sshd.ssh(), SERVER[1]]) as client:
        assert client.initialize()["serverInfo"]["name"] == "pi-mcp"
        assert client.request("tools/list")["result"]["tools"]
        assert client.end() == 0


def test_the_check_goes_the_same_way(sshd):
    done = finished([*sshd.ssh(), SERVER[1], "--check"])
    assert done.stdout.startswith("✓ server"), done.stdout + done.stderr
