"""How the service starts, ends and comes back, with sessions that run."""

import os
import signal

from tests.support.services import wait_until
from tests.systemd.machine import (
    is_gone,
    is_handed_over,
    main_pid,
    served,
    service_with,
    session,
    sessions,
    shown,
    state,
    systemctl,
)


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


def a_killed_session_ends_no_other():
    with served() as client:
        [first] = sessions()
        with served() as other:
            [second] = sessions() - {first}
            os.kill(second, signal.SIGKILL)
            assert other.process.wait(30) == 1
        assert works(client)
        assert state() == "active"


def a_restart_cuts_no_session():
    with served() as client:
        before = main_pid()
        systemctl("restart", "pi-mcp.service")
        assert main_pid() not in (0, before)
        with served() as other:
            assert works(client) and works(other)
        assert client.end() == 0


def a_stop_cuts_no_session():
    with served() as client:
        systemctl("stop", "pi-mcp.service")
        assert state() == "inactive"
        assert works(client)
        assert client.end() == 0


def without_its_socket_sessions_are_served_cold():
    systemctl("stop", "pi-mcp.socket", "pi-mcp.service")
    with session() as client:
        assert client.initialize()
        assert not is_handed_over(client)
        assert client.end() == 0
    assert client.errors == [b""]
    systemctl("start", "pi-mcp.socket")


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
