"""What the installed units do under a real systemd; runs as the installing user, who may sudo, in a machine to spoil.

boot.sh beside it makes such a machine.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT))

from tests.client import TIMEOUT_S, Client  # noqa: E402

COMMAND = ["/usr/local/bin/pi-mcp"]
UPSTREAM = Path("/srv/klipper")


def systemctl(*words):
    return subprocess.run(["sudo", "systemctl", *words], capture_output=True, text=True, timeout=120).stdout.strip()


def main_pid():
    return int(systemctl("show", "-P", "MainPID", "pi-mcp.service"))


def state(unit="pi-mcp.service"):
    return systemctl("is-active", unit)


def wait_until(true):
    deadline = time.monotonic() + TIMEOUT_S
    while not true():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)


def sessions():
    """Process ids of the service's own but its main one: what was forked from it, also by one that is gone."""
    return {int(path.name) for path in Path("/proc").glob("[0-9]*") if b"--daemon" in words_of(path)} - {main_pid()}


def words_of(path):
    try:
        return (path / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


def the_first_connection_starts_it():
    systemctl("stop", "pi-mcp.service")
    assert (state(), state("pi-mcp.socket")) == ("inactive", "active")
    with Client(COMMAND) as client:
        assert client.initialize()["serverInfo"]["name"] == "pi-mcp"
        assert state() == "active"
        assert len(sessions()) == 1
        assert client.end() == 0
    assert client.errors == [b""]


def a_session_writes_its_state_and_the_documentation():
    with Client(COMMAND) as client:
        client.initialize()
        assert client.call("sync_docs")["isError"] is False
        assert client.call("get_user_snapshot")["isError"] is False
        assert sessions()


def the_sandbox_holds():
    with Client(COMMAND) as client:
        client.initialize()
        [pid] = sessions()
        status = dict(
            line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in line
        )
        assert (status["NoNewPrivs"], status["Seccomp"], int(status["CapBnd"], 16)) == ("1", "2", 0)
        inside = ["sudo", "nsenter", "-t", str(pid), "-m", "sh", "-c"]
        for path, writable in (("/etc", False), ("/usr", False), (Path.home(), False), (PROJECT / "tools", False)):
            done = subprocess.run([*inside, f"touch {path}/.probe"], capture_output=True, timeout=TIMEOUT_S)
            assert (done.returncode == 0) is writable, path


def a_session_that_would_write_elsewhere_is_served_cold():
    with Client(COMMAND, MCP_STATE_DIR=str(Path.home() / "elsewhere")) as client:
        client.initialize()
        assert not sessions()
        client.end()
        client.threads[1].join(TIMEOUT_S)
    assert b"may not write" in b"".join(client.errors)


def a_killed_service_comes_back_and_its_sessions_live():
    with Client(COMMAND) as client:
        client.initialize()
        before = main_pid()
        os.kill(before, signal.SIGKILL)
        assert client.request("ping")["result"] == {}
        with Client(COMMAND) as other:
            other.initialize()
        wait_until(lambda: main_pid() not in (0, before))
        assert client.request("ping")["result"] == {}


def a_restart_cuts_no_session():
    with Client(COMMAND) as client:
        client.initialize()
        systemctl("restart", "pi-mcp.service")
        assert client.request("ping")["result"] == {}
        assert client.call("list_docs_map")["isError"] is False
        assert client.end() == 0


def a_session_ends_with_its_caller():
    with Client(COMMAND) as client:
        client.initialize()
        [pid] = sessions()
        client.process.send_signal(signal.SIGKILL)
        wait_until(lambda: not Path(f"/proc/{pid}").exists())


def nobody_else_connects():
    code = "import socket; socket.socket(socket.AF_UNIX).connect('/run/pi-mcp/socket')"
    done = subprocess.run(["sudo", "-u", "nobody", "python3", "-c", code], capture_output=True, text=True, timeout=60)
    assert "PermissionError" in done.stderr


def unused_it_ends_and_the_next_connection_starts_it_again():
    folder = "/run/systemd/system/pi-mcp.service.d"
    drop_in = "[Service]\nEnvironment=MCP_IDLE_EXIT=1\n"
    subprocess.run(["sudo", "mkdir", "-p", folder], check=True)
    subprocess.run(
        ["sudo", "tee", f"{folder}/idle.conf"], input=drop_in, text=True, stdout=subprocess.DEVNULL, check=True
    )
    systemctl("daemon-reload")
    systemctl("restart", "pi-mcp.service")
    wait_until(lambda: state() == "inactive")
    assert state("pi-mcp.socket") == "active"
    with Client(COMMAND) as client:
        assert client.initialize()
        assert sessions()


def the_timer_s_service_brings_the_docs_up_to_date():
    (UPSTREAM / "docs" / "New.md").write_text("# New\n", encoding="utf-8")
    git = ["git", "-C", str(UPSTREAM), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for words in (["add", "."], ["commit", "-qm", "two"]):
        subprocess.run([*git, *words], check=True)
    assert state("pi-mcp-docs.timer") == "active"
    systemctl("start", "pi-mcp-docs.service")
    assert systemctl("show", "-P", "Result", "pi-mcp-docs.service") == "success"
    assert (PROJECT / "docs_repo" / "klipper" / "docs" / "New.md").exists()


def uninstalled_nothing_is_left():
    subprocess.run(["./setup.sh", "--uninstall"], cwd=PROJECT, check=True, stdout=subprocess.DEVNULL)
    assert not list(Path("/etc/systemd/system").rglob("pi-mcp*"))
    assert not Path("/run/pi-mcp/socket").exists()
    assert not Path(COMMAND[0]).exists()


CHECKS = (
    the_first_connection_starts_it,
    a_session_writes_its_state_and_the_documentation,
    the_sandbox_holds,
    a_session_that_would_write_elsewhere_is_served_cold,
    a_killed_service_comes_back_and_its_sessions_live,
    a_restart_cuts_no_session,
    a_session_ends_with_its_caller,
    nobody_else_connects,
    unused_it_ends_and_the_next_connection_starts_it_again,
    the_timer_s_service_brings_the_docs_up_to_date,
    uninstalled_nothing_is_left,
)

if __name__ == "__main__":
    for check in CHECKS:
        wait_until(lambda: not sessions())
        check()
        print("ok  ", check.__name__.replace("_", " "), flush=True)
