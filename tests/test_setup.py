"""setup.sh on a copy of the project, with an upstream of our own; the packages are those of this environment."""

import os
import re
import shutil
import subprocess

import pytest

from tests.klipper.upstreams import Upstream, git
from tests.support.client import HANDSHAKE, PROJECT, pipe
from tests.support.installing import copy_of_the_project, files, made_by_setup, publish, setup

pytestmark = made_by_setup


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """The project's tracked files, with the environment that is there already."""
    folder = copy_of_the_project(tmp_path / "pi-mcp")
    (folder / ".venv").symlink_to(PROJECT / ".venv")
    monkeypatch.delenv("KLIPPER_DOCS_DIR")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    return folder


def test_one_command_fetches_the_docs_and_checks_and_a_second_run_changes_nothing(copy, tmp_path):
    upstream = Upstream(tmp_path / "upstream")

    first = setup(copy, KLIPPER_DOCS_URL=upstream.url)
    assert first.returncode == 0, first.stdout + first.stderr
    assert (copy / "docs_repo" / "klipper" / "docs" / "Bed_Mesh.md").exists()
    assert first.stdout.index("Fetching the Klipper documentation") < first.stdout.index("Checking")
    before = files(copy)

    second = setup(copy, KLIPPER_DOCS_URL=upstream.url)
    assert second.returncode == 0
    assert "Fetching" not in second.stdout
    assert files(copy) == before


def test_without_the_docs_upstream_it_warns_how_to_go_on_and_does_not_fail(copy, tmp_path):
    done = setup(copy, KLIPPER_DOCS_URL=(tmp_path / "nowhere").as_uri())
    assert done.returncode == 0, done.stdout + done.stderr
    assert "run ./setup.sh again, or call the tool sync_docs" in done.stderr
    assert "not set up" in done.stdout


def test_an_unknown_word_is_one_line_and_exit_2(copy):
    done = setup(copy, "tset")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)


def test_help_says_what_there_is(copy):
    assert "./setup.sh test" in setup(copy, "--help").stdout


@pytest.fixture
def installed(copy, tmp_path, monkeypatch):
    """The units and the command, installed below a folder: gives that folder."""
    monkeypatch.setenv("DESTDIR", str(tmp_path / "root"))
    monkeypatch.setenv("KLIPPER_DOCS_URL", Upstream(tmp_path / "upstream").url)
    done = setup(copy, "--systemd")
    assert done.returncode == 0, done.stdout + done.stderr
    return tmp_path / "root"


def units(folder):
    return sorted((folder / "etc" / "systemd" / "system").iterdir())


def test_the_units_are_filled_in_and_a_second_run_changes_nothing(copy, installed):
    assert [unit.name for unit in units(installed)] == [
        "pi-mcp-docs.service",
        "pi-mcp-docs.timer",
        "pi-mcp.service",
        "pi-mcp.socket",
    ]
    before = files(installed)
    for file in before:
        assert not re.search("@[a-z]+@", file.read_text(encoding="utf-8"))
    assert str(copy) in (installed / "etc/systemd/system/pi-mcp.service").read_text(encoding="utf-8")
    assert "Installing" not in setup(copy, "--systemd").stdout
    assert files(installed) == before


def test_the_installed_command_is_the_server(installed, tmp_path):
    command = [str(installed / "usr/local/bin/pi-mcp"), "--version"]
    done = subprocess.run(command, cwd=tmp_path, env={}, capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("pi-mcp ")
    answers, status = pipe([{"id": 1, "method": "initialize", "params": HANDSHAKE}], command[:1])
    assert (answers[0]["id"], status) == (1, 0)


@pytest.mark.parametrize("name", ["two words", "50%", "a$HOME", 'a"quote'])
def test_a_folder_that_systemd_misreads_is_refused(copy, tmp_path, monkeypatch, name):
    monkeypatch.setenv("DESTDIR", str(tmp_path / "root"))
    done = setup(copy.rename(tmp_path / name), "--systemd")
    assert (done.returncode, "plain path" in done.stderr) == (1, True)


def test_state_where_systemd_cannot_let_it_be_written_is_refused(copy, tmp_path, monkeypatch):
    monkeypatch.setenv("DESTDIR", str(tmp_path / "root"))
    done = setup(copy, "--systemd", MCP_STATE_DIR=str(tmp_path / "two words"))
    assert (done.returncode, "plain paths" in done.stderr) == (1, True)
    assert not (tmp_path / "root").exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("KLIPPER_DOCS_DIR", "{home}"),
        ("KLIPPER_DOCS_DIR", "{project}"),
        ("KLIPPER_DOCS_DIR", "/"),
        ("MCP_STATE_DIR", "{home}"),
        ("MCP_STATE_DIR", "{home}/.."),
        ("MCP_STATE_DIR", "/"),
        ("ONEPERCENT_DB", "{home}/life.sqlite3"),
        ("ONEPERCENT_DB", "{project}/../life.sqlite3"),
    ],
)
def test_a_folder_that_holds_the_home_or_the_project_is_not_opened_to_the_service(
    copy, tmp_path, monkeypatch, name, value
):
    monkeypatch.setenv("DESTDIR", str(tmp_path / "root"))
    upstream = Upstream(tmp_path / "upstream").url
    folder = value.format(home=tmp_path / "home", project=copy)
    done = setup(copy, "--systemd", KLIPPER_DOCS_URL=upstream, **{name: folder})
    assert done.returncode == 1, done.stdout + done.stderr
    assert "a folder of its own" in done.stderr or "KLIPPER_DOCS_DIR" in done.stderr, done.stderr
    assert not (tmp_path / "root").exists()


def test_a_database_in_a_folder_of_its_own_may_be_written_by_the_service_of_sessions(copy, tmp_path, monkeypatch):
    monkeypatch.setenv("DESTDIR", str(tmp_path / "root"))
    folder = tmp_path / "life"
    upstream = Upstream(tmp_path / "upstream").url
    done = setup(copy, "--systemd", KLIPPER_DOCS_URL=upstream, ONEPERCENT_DB=str(folder / "life.sqlite3"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert folder.stat().st_mode & 0o777 == 0o700
    assert f"-{folder}" in written_by(tmp_path / "root", "pi-mcp")
    assert f"-{folder}" not in written_by(tmp_path / "root", "pi-mcp-docs")


def written_by(root, name):
    """The ReadWritePaths of a service."""
    unit = (root / "etc/systemd/system" / f"{name}.service").read_text(encoding="utf-8")
    return re.search("^ReadWritePaths=(.*)$", unit, re.MULTILINE)[1].split()


def test_no_missing_folder_keeps_a_service_from_starting(installed):
    for name in ("pi-mcp", "pi-mcp-docs"):
        assert [path for path in written_by(installed, name) if not path.startswith("-") and path != "/tmp"] == []


def test_uninstall_leaves_the_data_alone(copy, installed):
    state = installed.parent / "home" / "state"
    (state / "mine").touch()
    done = setup(copy, "--uninstall")
    assert done.returncode == 0, done.stdout + done.stderr
    assert files(installed) == {}
    assert not (copy / ".venv").exists()
    assert (state / "mine").exists()
    assert (copy / "docs_repo" / "klipper" / "docs" / "Bed_Mesh.md").exists()
    assert setup(copy, "--uninstall").returncode == 0


def test_update_pulls_and_sets_up_again(copy, tmp_path, monkeypatch):
    monkeypatch.setenv("DESTDIR", str(tmp_path / "root"))
    monkeypatch.setenv("KLIPPER_DOCS_URL", Upstream(tmp_path / "upstream").url)
    clone = tmp_path / "clone"
    publish(copy)
    git(copy, "clone", "-q", ".", str(clone))
    (clone / ".venv").unlink(missing_ok=True)
    (clone / ".venv").symlink_to(PROJECT / ".venv")
    (copy / "news").touch()
    publish(copy)
    done = setup(clone, "--update")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (clone / "news").exists()
    assert "Checking" in done.stdout


systemd_analyze = pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")


def analyze(*words):
    """What systemd-analyze says. Where systemd is not running it makes /run/systemd, which takes a /run of one's own."""
    command = ["systemd-analyze", *map(str, words)]
    if os.geteuid() != 0 and not os.path.exists("/run/systemd"):
        command = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs tmpfs /run && exec "$@"', "sh", *command]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return done.stdout, done.stderr, done.returncode


EXPOSURE = ("security", "--offline=true", "--threshold=20", "--no-pager")
"""Fails for more than 2.0 of ten."""


@systemd_analyze
def test_systemd_finds_nothing_to_say_about_the_units(installed):
    assert analyze("verify", *units(installed)) == ("", "", 0)


@systemd_analyze
@pytest.mark.parametrize("name", ["pi-mcp", "pi-mcp-docs"])
def test_a_service_is_exposed_by_two_of_ten_at_most(installed, name):
    unit = installed / "etc/systemd/system" / f"{name}.service"
    *text, status = analyze(*EXPOSURE, unit)
    assert status == 0, text


@pytest.fixture
def installed_http(copy, tmp_path, monkeypatch):
    """The units of HTTP alone, installed below a folder: gives that folder."""
    monkeypatch.setenv("DESTDIR", str(tmp_path / "root"))
    monkeypatch.setenv("KLIPPER_DOCS_URL", Upstream(tmp_path / "upstream").url)
    monkeypatch.setenv("MCP_HTTP_LISTEN", "127.0.0.1:8423")
    done = setup(copy, "--http")
    assert done.returncode == 0, done.stdout + done.stderr
    return tmp_path / "root"


def test_http_is_a_socket_and_a_service_that_uninstall_takes_away(copy, installed_http):
    assert [unit.name for unit in units(installed_http)] == ["pi-mcp-http.service", "pi-mcp-http.socket"]
    assert "ListenStream=127.0.0.1:8423\n" in units(installed_http)[1].read_text(encoding="utf-8")
    assert "Installing" not in setup(copy, "--http").stdout
    (copy / ".venv").unlink(missing_ok=True)
    assert setup(copy, "--uninstall").returncode == 0
    assert units(installed_http) == []


@systemd_analyze
def test_the_service_of_http_is_fenced_in_as_the_others(installed_http):
    assert analyze("verify", *units(installed_http)) == ("", "", 0)
    *text, status = analyze(*EXPOSURE, units(installed_http)[0])
    assert status == 0, text


@pytest.mark.parametrize("path", sorted((PROJECT / "systemd").glob("*.*")), ids=lambda path: path.name)
def test_every_directive_stands_below_its_reason(path):
    reason = False
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            reason = True
        elif not line or line.startswith("["):
            reason = line in ("[Unit]", "[Install]", "[Timer]")  # what these say is their own reason
        else:
            assert reason, line
