"""What a client gets from the installed service, however that starts, ends and comes back."""

import json
import os
import signal
from tempfile import TemporaryDirectory

from tests.lab.systemd import machine
from tests.onepercent.person import act
from tests.support.backends import backends, each_system_answers
from tests.support.client import PROJECT, Client, finished
from tests.support.services import wait_until


def the_first_connection_starts_the_service():
    machine.systemctl("stop", "pi-mcp.service")
    assert (machine.state(), machine.state("pi-mcp.socket")) == ("inactive", "active")
    with machine.served() as client:
        assert client.hello["serverInfo"]["name"] == "pi-mcp"
        assert machine.state() == "active"
        assert len(machine.sessions()) == 1
        assert client.end() == 0
    assert client.errors == [b""]


def a_session_offers_every_tool_and_each_system_answers():
    golden = json.loads((PROJECT / "tests" / "golden_tools.json").read_text("utf-8"))
    with backends() as url, machine.served(ANKI_CONNECT_URL=url, SEARCH_API_URL=url) as client:
        tools = client.request("tools/list")["result"]["tools"]
        assert {tool["name"] for tool in tools} == {tool["name"] for tool in golden}
        each_system_answers(client)
        prompt = client.request("prompts/get", name="morning_plan", arguments={})
        assert prompt["result"]["messages"]
        assert client.request("resources/read", uri="pi-mcp://status")["result"]["contents"]


def a_clone_serves_by_debians_own_python_without_a_package():
    """`-I -S`: no site-packages, nothing of the environment."""
    command = ["/usr/bin/python3", "-I", "-S", str(PROJECT / "server.py"), "--standalone"]
    with backends() as url, Client(command, ANKI_CONNECT_URL=url, SEARCH_API_URL=url) as client:
        assert client.initialize()["serverInfo"]["name"] == "pi-mcp"
        assert len(client.request("tools/list")["result"]["tools"]) > 30
        each_system_answers(client)
        assert client.call("get_user_snapshot")["isError"] is False
        assert client.call("printer_state")["structuredContent"]["hint"]
        assert client.end() == 0


def the_smoke_test_of_the_readme_passes():
    assert "FAIL" not in machine.in_a_shell("tests/smoke.sh")


def a_setup_in_english_passes_it_too():
    """`setup.sh` writes the language into the settings: that of a device whose LANG ssh brought along."""
    with TemporaryDirectory() as config:
        english = {"LANG": "en_GB.UTF-8", "XDG_CONFIG_HOME": config}
        assert "meant for you are in: en" in machine.in_a_shell("./setup.sh", **english)
        assert "FAIL" not in machine.in_a_shell("tests/smoke.sh", **english)


def what_one_session_writes_the_next_one_reads():
    action = act("goal.create", title="A goal to keep")
    with machine.served() as client:
        previewed = client.call("preview_actions", actions=[action])["structuredContent"]
        keys = {
            "preview_id": previewed["preview_id"],
            "idempotency_key": action["client_action_id"],
        }
        assert client.call("apply_actions", **keys, user_confirmation="да")["isError"] is False
    the_goal_is_there()


def the_goal_is_there():
    with machine.served() as client:
        assert "A goal to keep" in client.call("get_user_snapshot")["content"][0]["text"]


def nobody_else_connects():
    code = "import socket; socket.socket(socket.AF_UNIX).connect('/run/pi-mcp/socket')"
    done = finished(["sudo", "-u", "nobody", "python3", "-c", code])
    assert "PermissionError" in done.stderr


def works(client):
    """Check that a session still answers, reads the docs and writes its state."""
    assert client.request("ping")["result"] == {}
    assert client.call("search_docs", query="bltouch")["isError"] is False
    assert client.call("get_user_snapshot")["isError"] is False
    return True


def a_killed_service_comes_back_and_its_sessions_live():
    with machine.served() as client:
        before = machine.main_pid()
        os.kill(before, signal.SIGKILL)
        assert works(client)
        with machine.session() as other:
            assert other.initialize()
        wait_until(lambda: machine.main_pid() not in (0, before))
        with machine.served() as next_one:
            assert works(next_one) and works(client)
        assert client.end() == 0


def a_restart_cuts_no_session():
    with machine.served() as client:
        before = machine.main_pid()
        machine.systemctl("restart", "pi-mcp.service")
        assert machine.main_pid() not in (0, before)
        with machine.served() as other:
            assert works(client) and works(other)
        assert client.end() == 0


def unused_it_ends_and_the_next_connection_starts_it_again():
    with machine.service_with("Environment=MCP_IDLE_EXIT=1"):
        for _ in range(2):
            with machine.served() as client:
                pid = machine.main_pid()
                assert works(client)
            wait_until(lambda: machine.state() == "inactive")
            assert not os.path.exists(f"/proc/{pid}")
            assert machine.unit_property("Result") == "success"
            assert machine.state("pi-mcp.socket") == "active"


def a_service_that_cannot_start_leaves_its_callers_to_themselves():
    with machine.service_with("ExecStart=", "ExecStart=/bin/false"), machine.session() as client:
        assert client.initialize()
        assert not machine.is_handed_over(client)
        assert client.end() == 0
