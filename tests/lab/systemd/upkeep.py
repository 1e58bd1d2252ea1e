"""Installing, syncing, updating and removing."""

import re
from pathlib import Path

from tests.klipper.upstreams import git
from tests.lab.systemd import machine
from tests.lab.systemd.machine import COMMAND, PROJECT, STATE, UNITS
from tests.lab.systemd.sessions import works

UPSTREAM = Path("/srv/pi-mcp")
DOCS_UPSTREAM = Path("/srv/klipper")


def nothing_was_installed_by_pip():
    assert not (PROJECT / ".venv").exists()


def no_unit_failed():
    assert machine.systemctl("list-units", "--failed", "--plain", "--no-legend", "pi-mcp*") == ""


def installing_again_changes_nothing():
    with machine.served() as client:
        before = installed(), machine.main_pid()
        assert "Installing" not in machine.setup("--systemd")
        assert (installed(), machine.main_pid()) == before
        assert works(client)


def installed():
    files = [Path(COMMAND), *UNITS.rglob("pi-mcp*")]
    return {path: path.lstat().st_mtime_ns for path in files if "__pycache__" not in path.parts}


def the_timer_is_set_and_its_service_brings_new_pages_to_every_session():
    assert machine.systemctl("is-enabled", "pi-mcp-docs.timer") == "enabled"
    assert machine.state("pi-mcp-docs.timer") == "active"
    assert machine.unit_property("NextElapseUSecRealtime", "pi-mcp-docs.timer")
    with machine.served() as client:
        assert "Quokka.md" not in found(client)
        (DOCS_UPSTREAM / "docs/Quokka.md").write_text("# Quokka\n\nAll about the quokka.\n")
        git(DOCS_UPSTREAM, "add", "-A")
        git(DOCS_UPSTREAM, "commit", "-qm", "two")
        machine.systemctl("start", "pi-mcp-docs.service")
        assert machine.unit_property("Result", "pi-mcp-docs.service") == "success"
        assert "Quokka.md" in found(client)
        with machine.served() as other:
            assert "Quokka.md" in found(other)


def found(client):
    return client.call("search_docs", query="quokka")["content"][0]["text"]


def an_update_cuts_no_session_and_new_ones_get_the_new_version():
    with machine.served() as client:
        publish("99.0")
        assert "Restarting the service" in machine.setup("--update")
        assert works(client)
        with machine.served() as other:
            versions = [session.hello["serverInfo"]["version"] for session in (client, other)]
            assert versions[0] != versions[1] == "99.0"
        assert client.end() == 0
    assert "a comment of 99.0" in (UNITS / "pi-mcp.service").read_text("utf-8")
    assert "Restarting the service" not in machine.setup("--update")


def publish(version):
    """A commit in the project's upstream that changes the server, and a unit."""
    server = UPSTREAM / "tools/starting.py"
    unit = UPSTREAM / "systemd/pi-mcp.service"
    line = f'VERSION = "{version}"'
    server.write_text(re.sub(r'(?m)^VERSION = ".*"', line, server.read_text()))
    unit.write_text(f"# a comment of {version}\n{unit.read_text()}")
    git(UPSTREAM, "commit", "-qam", version)


def uninstalled_only_data_is_left():
    machine.setup("--uninstall")
    words = f"find /etc /usr /var /run /home -name *pi-mcp* -not -path {PROJECT}/*".split()
    remaining = set(map(Path, machine.root(*words).split()))
    assert remaining == {PROJECT, STATE, Path.home() / ".config/pi-mcp"}, remaining
    assert not (PROJECT / ".venv").exists()
    assert (STATE / "onepercent.sqlite3").exists()
    assert (PROJECT / "docs_repo/klipper/docs/Quokka.md").exists()


def installed_again_it_works_with_the_data_there_was():
    machine.setup("--systemd")
    with machine.served() as client:
        assert works(client)
        assert "Quokka.md" in found(client)


def after_a_reboot_the_socket_is_there_before_anyone_logs_in():
    assert machine.root("who") == ""
    assert machine.state("pi-mcp.socket") == machine.state("pi-mcp-docs.timer") == "active"
    assert machine.state() == "inactive"
