"""`--check --ssh` from a desktop: a real sshd, with what people have wrong on the Pi."""

import json
import os
import re
import subprocess

import pytest

from tests.support.client import PROJECT, SERVER
from tests.support.sshd import NO_SSHD, SSHD, Sshd
from tools.service import ssh_check as remote

if NO_SSHD:
    pytest.skip(NO_SSHD, allow_module_level=True)


@pytest.fixture(scope="module")
def sshd():
    with Sshd() as sshd:
        yield sshd


@pytest.fixture
def host(sshd, tmp_path, monkeypatch):
    """The name of a host that `ssh` reaches here, with the server installed on it."""
    sshd.put_on_path(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setattr(remote, "COMMAND", str(PROJECT / "server.py"))
    return sshd.ssh()[-1]


@pytest.fixture
def configured(sshd, tmp_path, monkeypatch):
    """Gives the Pi's sshd two files, and gives back what sshd takes from them."""
    folder = tmp_path / "etc" / "ssh"
    (folder / "sshd_config.d").mkdir(parents=True)
    monkeypatch.setattr(remote, "SSHD", str(folder))

    def configure(drop_in=None, main=""):
        if drop_in is not None:
            (folder / "sshd_config.d" / "a.conf").write_text(drop_in, encoding="utf-8")
        text = f"Include {folder}/sshd_config.d/*.conf\nHostKey {sshd.folder}/host\n{main}\n"
        (folder / "sshd_config").write_text(text, encoding="utf-8")
        command = [SSHD, "-T", "-f", str(folder / "sshd_config")]
        taken = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
        return dict(re.findall("^clientalive(interval|countmax) (.+)$", taken.lower(), re.MULTILINE))

    return configure


@pytest.mark.parametrize(
    ("drop_in", "main", "state"),
    [
        (None, "", "unset"),
        (None, "#ClientAliveInterval 15", "unset"),
        (None, 'clientaliveinterval="15"', "ok"),
        ("ClientAliveInterval 1m", "", "ok"),
        ("ClientAliveInterval 0", "ClientAliveInterval 15", "unset"),
        ("ClientAliveInterval 15", "ClientAliveInterval 0", "ok"),
        ("ClientAliveInterval 15\nClientAliveCountMax 0", "", "unset"),
    ],
)
def test_keepalive_is_found_as_sshd_takes_it(host, configured, drop_in, main, state):
    taken = configured(drop_in, main)
    assert ("0" not in taken.values()) == (state == "ok")
    assert remote._keepalive(host).state == state


def test_what_the_check_advises_for_keepalive_is_what_it_then_finds(host, configured):
    configured()
    assert remote._keepalive(host).advice == f"On the Pi: {remote.DROP_IN} && {remote.RELOAD}"
    here = remote.DROP_IN.replace("sudo ", "").replace("/etc/ssh", remote.SSHD)
    subprocess.run(["sh", "-c", here], check=True, stdout=subprocess.DEVNULL)
    assert configured() == {"interval": "15", "countmax": "3"}
    assert remote._keepalive(host).state == "ok"


def test_a_good_connection_is_ok(host):
    found = dict(remote.look(host).rows)
    assert [health.state for health in found.values()][:3] == ["ok", "ok", "ok"]
    assert "pi-mcp answers" in found["server"].summary
    assert set(found) == {"ssh", "stdout", "server", "keepalive"}


def test_without_the_command_it_says_how_to_install_it(host, monkeypatch):
    monkeypatch.setattr(remote, "COMMAND", "/nowhere/pi-mcp")
    monkeypatch.setattr(remote, "CLONE", "/nowhere/server.py")
    report = remote.look(host)
    health = dict(report.rows)["server"]
    assert (health.state, report.client) == ("broken", "")
    assert "there is no /nowhere/pi-mcp on the Pi" in health.summary
    assert "setup.sh --systemd" in health.advice


def test_without_the_command_the_clone_of_the_readme_is_found(host, tmp_path, monkeypatch):
    monkeypatch.setattr(remote, "COMMAND", "/nowhere/pi-mcp")
    monkeypatch.setattr(remote, "CLONE", str(PROJECT / "server.py"))
    report = remote.look(host)
    assert dict(report.rows)["server"].state == "ok"
    [server] = json.loads(report.client)["mcpServers"].values()
    assert server["args"][-1] == str(PROJECT / "server.py")


def test_a_server_elsewhere_can_be_named(host, monkeypatch):
    monkeypatch.setattr(remote, "COMMAND", "/nowhere/pi-mcp")
    report = remote.look(f"{host}:{PROJECT / 'server.py'}")
    assert dict(report.rows)["server"].state == "ok"
    health = dict(remote.look(f"{host}:/nowhere/server.py").rows)["server"]
    assert (health.state, health.summary) == ("broken", "there is no /nowhere/server.py on the Pi")


def test_a_login_script_that_prints_is_found(host, monkeypatch):
    real = remote._run

    def printing(host, command, given=""):
        return real(host, f"echo Welcome; {command}", given)

    monkeypatch.setattr(remote, "_run", printing)
    health = dict(remote.look(host).rows)["stdout"]
    assert health.state == "broken"
    assert "'Welcome'" in health.summary


@pytest.mark.parametrize(
    ("errors", "advice"),
    [
        ("Host key verification failed.", "ssh pi@pi5"),
        ("@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.", "ssh-keygen -R pi5"),
        ("pi@pi5: Permission denied (publickey).", "ssh-copy-id pi@pi5"),
        ("ssh: Could not resolve hostname pi5: Name or service not known", "pi5.local"),
        ("ssh: connect to host pi5 port 22: Connection refused", "enable --now ssh"),
        ("ssh: connect to host pi5 port 22: No route to host", "Is the Pi on"),
    ],
)
def test_what_ssh_says_becomes_what_to_do(monkeypatch, errors, advice):
    monkeypatch.setattr(remote, "_run", lambda *_: remote.Reply(255, "", errors, 0.1))
    [(name, health)] = remote.look("pi@pi5").rows
    assert (name, health.state) == ("ssh", "broken")
    assert advice in health.advice


def test_a_host_is_never_taken_for_an_option(tmp_path):
    mark = tmp_path / "mark"
    assert dict(remote.look(f"-oProxyCommand=touch {mark}").rows)["ssh"].state == "broken"
    assert not mark.exists()


def test_the_client_gets_an_absolute_command_that_asks_nothing():
    [server] = json.loads(remote.client_json("pi@pi5"))["mcpServers"].values()
    assert server["command"] == "ssh"
    assert server["args"][-2:] == ["pi@pi5", "/usr/local/bin/pi-mcp"]
    assert "BatchMode=yes" in server["args"]


def test_the_command_line_prints_the_rows_and_the_json(host):
    place = f"{host}:{PROJECT / 'server.py'}"
    done = subprocess.run([*SERVER[:2], "--check", "--ssh", place], capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("ssh ")
    assert '"mcpServers"' in done.stdout


def test_ssh_without_check_is_refused():
    done = subprocess.run([*SERVER[:2], "--ssh", "pi"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
