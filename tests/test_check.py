"""`--check`, as far as no server is started for it."""

import pytest

from tools import check, connect
from tools.core.health import guarded


def test_a_command_installed_from_a_folder_that_was_moved_is_told_with_what_to_do(tmp_path, monkeypatch):
    command = tmp_path / "pi-mcp"
    template = (check.PROJECT / "systemd" / "pi-mcp").read_text(encoding="utf-8")
    monkeypatch.setattr(connect, "INSTALLED", command)
    command.write_text(template.replace("@project@", "/home/pi/old place"), encoding="utf-8")
    health = check._service(["false"])
    assert (health.state, "/home/pi/old place" in health.summary) == ("broken", True)
    assert f"./setup.sh --systemd in {check.PROJECT}" in health.advice
    command.write_text(template.replace("@project@", str(check.PROJECT)), encoding="utf-8")
    assert connect.installed_for() == str(check.PROJECT.resolve())


@pytest.mark.slow
def test_a_service_that_hangs_is_told_with_what_to_do(tmp_path, monkeypatch, env):
    env(MCP_SOCKET=tmp_path)
    monkeypatch.setattr(check, "START_TIMEOUT_S", 0.2)
    health = guarded(lambda: check._service(["sleep", "60"]))
    assert (health.state, health.summary) == ("broken", "no answer in 0.2 s")
    assert "systemctl restart" in health.advice
