"""A link that is cut in silence, between a desktop and a Pi: what the documented keepalive settings do, and what not."""

import os
import re
import shutil
import time
from contextlib import ExitStack, contextmanager

import pytest

from tests.support.client import TEST_SERVER, Client
from tests.support.lan import CannotMake, Lan, tcp
from tests.support.services import SERVER, Service, alive, wait_until
from tests.support.sshd import Sshd, needs_sshd
from tools.service import ssh_check as remote

if os.geteuid() != 0:
    pytest.skip("only root can make network namespaces", allow_module_level=True)

INTERVAL_S, COUNT = 1, 2
NOTICED_S = INTERVAL_S * (COUNT + 1)
"""The last of the unanswered probes has an interval too. A sshd counts an interval as up to two (OpenSSH 9.2)."""
SLACK_S = 5
"""For a machine that is busy with other tests."""
PI, DESKTOP = "192.0.2.1", "192.0.2.2"


def keepalive(text):
    """The settings of keepalive that a text names."""
    return dict(re.findall(r"((?:Client|Server)Alive\w+)[= ](\d+)", text))


def shortened(text, count=COUNT):
    """The settings that the text names, with a probe every second."""
    return {name: INTERVAL_S if name.endswith("Interval") else count for name in keepalive(text)}


ON_THE_PI = shortened(remote.DROP_IN)
ON_THE_DESKTOP = shortened(remote.client_json("pi"))


@pytest.fixture
def lan():
    if not shutil.which("ip"):
        pytest.skip("iproute2 is not installed")
    with ExitStack() as stack:
        try:
            lan = stack.enter_context(Lan(pi=PI, desktop=DESKTOP))
        except CannotMake as reason:
            pytest.skip(f"this machine makes no network of namespaces: {reason}")
        yield lan


@pytest.fixture
def service(lan):
    with Service([*lan.within("pi"), *TEST_SERVER], MCP_MAX_SESSIONS="2") as service:
        yield service


def sshd(lan, **settings):
    return Sshd(PI, lan.within("pi"), **settings)


@contextmanager
def session(lan, host, service=None, busy=False, **options):
    """A client on the desktop and the process of its session on the Pi: the service's, or one of its own."""
    command = [f"MCP_SOCKET={service.socket}", *SERVER] if service else TEST_SERVER
    with Client([*lan.within("desktop"), *host.ssh(LogLevel="INFO", **options), " ".join(command)]) as client:
        client.initialize()
        pid = client.call("test_process")["structuredContent"]["pid"]
        assert service is None or pid in service.children()
        if busy:
            call(client, "busy", "test_sleeps", seconds=60)
            client.request("ping")
        yield client, pid


def call(client, request_id, name, **arguments):
    client.send(id=request_id, method="tools/call", params={"name": name, "arguments": arguments})


def assert_ssh_gave_up(client):
    assert client.process.wait(NOTICED_S + SLACK_S) == 255
    assert client.receive() is None
    wait_until(lambda: client.errors[-1:] == [b""])
    assert b"not responding" in b"".join(client.errors)


def test_what_is_documented_are_these_settings():
    assert keepalive(remote.DROP_IN) == {"ClientAliveInterval": "15", "ClientAliveCountMax": "3"}
    assert keepalive(remote.client_json("pi")) == {"ServerAliveInterval": "15", "ServerAliveCountMax": "3"}


@needs_sshd
def test_both_ends_give_a_cut_link_up_in_time_idle_or_busy_cold_or_resident(lan, service):
    with sshd(lan, **ON_THE_PI) as host, ExitStack() as stack:
        sessions = [
            stack.enter_context(session(lan, host, which, busy, **ON_THE_DESKTOP))
            for which in (None, service)
            for busy in (False, True)
        ]
        lan.cut()
        cut_at = time.monotonic()
        for client, _ in sessions:
            assert_ssh_gave_up(client)
        wait_until(lambda: not any(alive(pid) for _, pid in sessions) and not host.connections())
        assert time.monotonic() - cut_at < 2 * NOTICED_S + SLACK_S
        lan.mend()
        with session(lan, host, service):  # there is room again, of MCP_MAX_SESSIONS
            pass


@needs_sshd
def test_an_end_without_keepalive_does_not_notice_what_the_other_end_gave_up(lan, service):
    with (
        sshd(lan, **ON_THE_PI) as careful,
        sshd(lan) as careless,
        session(lan, careful, service, busy=True) as (waiting, gone),
        session(lan, careless, service, busy=True, **ON_THE_DESKTOP) as (client, left_behind),
    ):
        lan.cut()
        assert_ssh_gave_up(client)
        wait_until(lambda: not alive(gone) and not careful.connections())
        assert waiting.process.poll() is None
        assert alive(left_behind)
        assert careless.connections()


@needs_sshd
def test_a_cut_shorter_than_the_keepalive_loses_no_answer(lan, service):
    patient = shortened(remote.DROP_IN, 20), shortened(remote.client_json("pi"), 20)
    with sshd(lan, **patient[0]) as host, session(lan, host, service, **patient[1]) as (client, pid):
        call(client, "before", "test_sleeps", seconds=1)
        client.request("ping")
        lan.cut()
        ends = [(end, tcp(end)) for end in (host.process, client.process)]
        call(client, "during", "test_process")
        wait_until(lambda: all(tcp(end)["RetransSegs"] >= was["RetransSegs"] + 3 for end, was in ends))
        for end, was in ends:  # nothing came through, and nobody was told
            now = tcp(end)
            assert (now["InSegs"], now["CurrEstab"]) == (was["InSegs"], 1)
        lan.mend()
        answers = {one["id"]: one["result"]["structuredContent"] for one in (client.receive(), client.receive())}
        assert answers["before"]["slept"] == 1
        assert answers["during"]["pid"] == pid
