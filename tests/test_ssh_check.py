"""The server behind a real sshd, and `--check --ssh` from a desktop, with what people have wrong on the
Pi."""

import json
import os
import re
import subprocess

import pytest

from tests.support.client import PROJECT, SERVER, Client
from tests.support.sshd import NO_SSHD, SSHD, Sshd
from tools import ssh_check as remote

pytestmark = pytest.mark.slow

if NO_SSHD:
    pytest.skip(NO_SSHD, allow_module_level=True)


@pytest.fixture(scope="module")
def sshd():
    with Sshd() as sshd:
        yield sshd


def test_a_session_over_ssh_works(sshd):
    with Client([*sshd.ssh(), str(PROJECT / "server.py")]) as client:
        assert client.initialize()["serverInfo"]["name"] == "pi-mcp"
        assert client.request("tools/list")["result"]["tools"]
        assert client.end() == 0


@pytest.fixture
def host(sshd, tmp_path, monkeypatch):
    """The name of a host that `ssh` reaches here, with the server installed on it."""
    sshd.put_on_path(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setattr(remote, "INSTALLED", str(PROJECT / "server.py"))
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


def rows(place):
    return dict(remote.look(place)[0])


def test_keepalive_is_found_as_sshd_takes_it(host, configured):
    for drop_in, state in (("ClientAliveInterval 0", "unset"), ("clientaliveinterval=1m", "ok")):
        settings = configured(drop_in, "ClientAliveInterval 15")
        assert (settings["interval"] != "0") == (state == "ok")
        assert rows(host)["keepalive"].state == state


def test_a_good_connection_is_ok_and_the_advice_for_keepalive_is_what_is_then_found(host, configured):
    configured()
    looks = rows(host)
    assert [health.state for health in looks.values()] == ["ok", "ok", "ok", "unset"]
    assert list(looks) == ["ssh", "stdout", "server", "keepalive"]
    assert "pi-mcp answers" in looks["server"].summary
    assert looks["keepalive"].advice == f"On the Pi: {remote.DROP_IN} && {remote.RELOAD}"
    here = remote.DROP_IN.replace("sudo ", "").replace("/etc/ssh", remote.SSHD)
    subprocess.run(["sh", "-c", here], check=True, stdout=subprocess.DEVNULL)
    assert configured() == {"interval": "15", "countmax": "3"}
    assert rows(host)["keepalive"].state == "ok"


def test_the_server_is_found_installed_cloned_or_named(host, monkeypatch):
    monkeypatch.setattr(remote, "INSTALLED", "/nowhere/pi-mcp")
    monkeypatch.setattr(remote, "CLONE", "/nowhere/server.py")
    found, client = remote.look(host)
    health = dict(found)["server"]
    assert (health.state, client) == ("broken", "")
    assert "there is no /nowhere/pi-mcp on the Pi" in health.summary
    assert "setup.sh --systemd" in health.advice
    health = rows(f"{host}:/nowhere/server.py")["server"]
    assert (health.state, health.summary) == ("broken", "there is no /nowhere/server.py on the Pi")
    assert rows(f"{host}:{PROJECT / 'server.py'}")["server"].state == "ok"
    monkeypatch.setattr(remote, "CLONE", str(PROJECT / "server.py"))
    [server] = json.loads(remote.look(host)[1])["mcpServers"].values()
    assert server["args"][-1] == str(PROJECT / "server.py")


def test_a_login_script_that_prints_is_found(host, monkeypatch):
    real = remote._run
    monkeypatch.setattr(remote, "_run", lambda host, command: real(host, f"echo Welcome; {command}"))
    health = rows(host)["stdout"]
    assert health.state == "broken"
    assert "'Welcome'" in health.summary


def test_the_words_of_ssh_become_advice(monkeypatch):
    for errors, advice in (
        (
            "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.",
            "ssh-keygen -R pi5",
        ),
        ("pi@pi5: Permission denied (publickey).", "ssh-copy-id pi@pi5"),
        ("ssh: connect to host pi5 port 22: No route to host", "Is the Pi on"),
    ):
        reply = subprocess.CompletedProcess([], 255, "", errors)
        monkeypatch.setattr(remote, "_run", lambda *_, reply=reply: reply)
        [(name, health)] = remote.look("pi@pi5")[0]
        assert (name, health.state, advice in health.advice) == ("ssh", "broken", True)


def test_a_host_is_never_taken_for_an_option(tmp_path):
    mark = tmp_path / "mark"
    assert rows(f"-oProxyCommand=touch {mark}")["ssh"].state == "broken"
    assert not mark.exists()


def test_the_command_line_prints_the_rows_and_the_json(host):
    place = f"{host}:{PROJECT / 'server.py'}"
    done = subprocess.run(
        [*SERVER[:2], "--check", "--ssh", place], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.startswith("✓ ssh ")
    assert '"mcpServers"' in done.stdout
