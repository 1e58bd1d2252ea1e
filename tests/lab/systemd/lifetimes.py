"""How the service starts, ends and comes back, with sessions that run."""

import os
import signal

from tests.lab.systemd.machine import (
    is_gone,
    is_handed_over,
    main_pid,
    served,
    service_with,
    session,
    shown,
    state,
    systemctl,
)
from tests.support.services import wait_until


def works(client):
    """Whether a session still does everything: answers, reads the docs, writes its state."""
    assert client.request("ping")["result"] == {}
    assert client.call("search_docs", query="bltouch")["isError"] is False
    assert client.call("get_user_snapshot")["isError"] is False
    return True


def a_killed_service_comes_back_and_its_sessions_live():
    with served() as client:
        before = main_pid()
        os.kill(before, signal.SIGKILL)
        assert works(client)
        with session() as other:
            assert other.initialize()
        wait_until(lambda: main_pid() not in (0, before))
        with served() as next_one:
            assert works(next_one) and works(client)
        assert client.end() == 0


def a_restart_cuts_no_session():
    with served() as client:
        before = main_pid()
        systemctl("restart", "pi-mcp.service")
        assert main_pid() not in (0, before)
        with served() as other:
            assert works(client) and works(other)
        assert client.end() == 0


def unused_it_ends_and_the_next_connection_starts_it_again():
    with service_with("Environment=MCP_IDLE_EXIT=1"):
        for _ in range(2):
            with served() as client:
                pid = main_pid()
                assert works(client)
            wait_until(lambda: state() == "inactive")
            assert is_gone(pid)
            assert (shown("Result"), state("pi-mcp.socket")) == ("success", "active")


def a_service_that_cannot_start_leaves_its_callers_to_themselves():
    with service_with("ExecStart=", "ExecStart=/bin/false"), session() as client:
        assert client.initialize()
        assert not is_handed_over(client)
        assert client.end() == 0
