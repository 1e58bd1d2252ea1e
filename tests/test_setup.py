"""setup.sh on a copy of the project, with an upstream of our own; packages are wheels of a few bytes."""

import os
import re
import shlex
import shutil
import sys
from types import SimpleNamespace

import pytest

from tests.klipper.upstreams import Upstream
from tests.support.client import PROJECT, cases, finished
from tests.support.installing import copy_of_the_project, files, make_wheels, run_setup, set_up
from tools.core import settings

pytestmark = pytest.mark.slow


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """The project's tracked files."""
    monkeypatch.delenv("KLIPPER_DOCS_DIR")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("DESTDIR", str(tmp_path / "root"))
    for name, value in make_wheels(tmp_path / "wheels").items():
        monkeypatch.setenv(name, value)
    return copy_of_the_project(tmp_path / "pi-mcp")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A project, the folder below which its units and its command are installed, and the settings for that.

    For tests that only look.
    """
    home = tmp_path_factory.mktemp("home")
    folders = {"HOME": "", "XDG_STATE_HOME": "state", "MCP_STATE_DIR": "state"}
    folders |= {"XDG_CONFIG_HOME": "config", "DESTDIR": "root", "KLIPPER_DOCS_DIR": "docs"}
    names = {name: str(home / folder) for name, folder in folders.items()}
    names["KLIPPER_DOCS_URL"] = Upstream(home / "upstream").url
    names |= {"MCP_HTTP_LISTEN": "127.0.0.1:8423", "PYTHONDONTWRITEBYTECODE": "1"}
    names |= make_wheels(home / "wheels")
    folder = copy_of_the_project(home / "pi-mcp")
    set_up(folder, "--systemd", "--http", **names)
    return SimpleNamespace(project=folder, root=home / "root", names=names)


@pytest.fixture
def upstream(tmp_path):
    """The settings that name an upstream of our own."""
    return {"KLIPPER_DOCS_URL": Upstream(tmp_path / "upstream").url}


@pytest.fixture
def nowhere(tmp_path):
    """The settings that name an upstream that is not there."""
    return {"KLIPPER_DOCS_URL": (tmp_path / "nowhere").as_uri()}


def test_one_command_fetches_the_docs_and_checks_and_a_second_run_changes_nothing(
    copy, tmp_path, upstream
):
    first = set_up(copy, **upstream)
    assert (copy / "docs_repo" / "klipper" / "docs" / "Bed_Mesh.md").exists()
    steps = ("Fetching the Klipper documentation", "Checking", "Next: connect", "claude mcp add")
    assert re.search(".*".join(steps), first.stdout, re.DOTALL)
    file = tmp_path / "home" / "config" / "pi-mcp" / "env"
    assert file.stat().st_mode & 0o777 == 0o600
    assert settings.places.values_in_file(str(file)) == {"MCP_LANGUAGE": "ru"}
    text = file.read_text("utf-8")
    assert all(f"#{name}=" in text for name in settings.variable_names() - {"MCP_LANGUAGE"})
    before = files(copy)

    second = set_up(copy, **upstream)
    assert "Fetching" not in second.stdout
    assert files(copy) == before


def test_without_the_docs_upstream_it_warns_how_to_go_on_and_does_not_fail(copy, nowhere):
    done = set_up(copy, **nowhere)
    assert "run ./setup.sh again, or call the tool sync_docs" in done.stderr
    assert "○ klipper" in done.stdout


def test_the_python_that_was_named_checks_and_serves(copy, tmp_path, upstream):
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "python3").write_text("#!/bin/sh\nexit 9\n")
    (programs / "python3").chmod(0o755)
    named = programs / "python3.named"
    named.symlink_to(os.path.realpath(sys.executable))
    path = f"{programs}:{os.environ['PATH']}"
    done = set_up(copy, PATH=path, PYTHON="python3.named", **upstream)
    assert "✓ server" in done.stdout
    [line] = re.findall("claude mcp add .+", done.stdout)
    assert shlex.split(shlex.split(line)[-1]) == [str(named), str(copy / "server.py")]


def test_what_the_check_finds_broken_keeps_no_client_line_back(copy, nowhere):
    line = "mode = start_mode(arguments)\n"
    server = (copy / "server.py").read_text("utf-8")
    server = server.replace(line, f'{line}    mode == "--check" and sys.exit(1)\n')
    (copy / "server.py").write_text(server, "utf-8")
    done = run_setup(copy, **nowhere)
    assert (done.returncode, "claude mcp add" in done.stdout) == (1, True), done


def test_on_a_full_disk_it_ends_with_a_line_and_leaves_no_half_file(copy, tmp_path, nowhere):
    config = tmp_path / "home" / "config" / "pi-mcp"
    config.mkdir(parents=True)
    (config / "env.new").symlink_to("/dev/full")
    done = run_setup(copy, **nowhere)
    assert done.returncode == 1
    assert done.stderr == f"setup.sh: the disk is full: {config}/env could not be made\n"
    assert not list(config.iterdir())
    done = finished(["sh", "-c", f"{sys.executable} -m tools settings file > /dev/full"], cwd=copy)
    assert (done.returncode, done.stderr) == (1, "pi-mcp: [Errno 28] No space left on device\n")


READ_ONLY = 'mount --bind . . && mount -o remount,ro,bind . && cd "$PWD" && exec "$@"'


def test_in_a_folder_that_cannot_be_written_it_sets_up_what_it_can(copy, upstream):
    words = ["unshare", "-m" if os.geteuid() == 0 else "-rm", "sh", "-c", READ_ONLY, "sh"]
    if finished([*words, "true"], cwd=copy).returncode:
        pytest.skip("a read-only mount cannot be made here")
    environ = {**os.environ, **upstream, "PYTHONDONTWRITEBYTECODE": ""}
    done = finished([*words, "./setup.sh"], cwd=copy, env=environ)
    assert (done.returncode, "claude mcp add" in done.stdout) == (0, True), done
    assert "✓ server" in done.stdout and "documentation could not be fetched" in done.stderr


@pytest.mark.parametrize(
    "variables, language",
    [({"LANG": "de_DE.UTF-8"}, "en"), ({"MCP_LANGUAGE": "ru", "LANG": "en_GB"}, "ru")],
)
def test_the_language_is_that_of_setup_whatever_device_asks_later(
    copy, tmp_path, upstream, variables, language
):
    config = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    done = set_up(copy, **upstream, **config, **variables)
    assert f"meant for you are in: {language} (MCP_LANGUAGE" in done.stdout
    for lang in ("fr_FR.UTF-8", "C"):
        assert settings.Settings({**config, "LANG": lang}).language == language


def test_an_update_of_a_clone_without_a_branch_says_what_to_do(copy):
    for line in (
        "init",
        "-c user.name=anna -c user.email=anna@pi commit --allow-empty -m first",
        "switch --detach",
    ):
        finished(["git", *line.split()], cwd=copy, check=True)
    done = finished(["./setup.sh", "--update"], cwd=copy)
    assert (done.returncode, "git switch main" in done.stderr) == (1, True)


def test_root_is_warned_that_the_services_run_as_root(installed):
    if os.getuid() == 0:
        done = run_setup(installed.project, "--http", **installed.names)
        assert "services will run as root" in done.stderr


def test_help_says_what_there_is_and_an_unknown_word_is_one_line_and_exit_2(copy):
    helped = run_setup(copy, "--help").stdout
    assert "./setup.sh test" in helped
    assert max(map(len, helped.splitlines())) <= 78
    done = run_setup(copy, "tset")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)


def units(folder):
    return sorted((folder / "etc" / "systemd" / "system").iterdir())


def test_the_units_are_filled_in_and_a_second_run_changes_nothing(installed):
    shipped = {path.name for path in (PROJECT / "systemd").glob("*.*")}
    assert {unit.name for unit in units(installed.root)} == shipped
    before = files(installed.root)
    for file in before:
        assert not re.search("@[a-z]+@", file.read_text("utf-8"))
    assert str(installed.project) in unit_text(installed.root, "pi-mcp.service")
    listens = "ListenStream=127.0.0.1:8423\n"
    assert listens in unit_text(installed.root, "pi-mcp-http.socket")
    again = run_setup(installed.project, "--http", "--systemd", **installed.names)
    assert "Installing" not in again.stdout
    assert files(installed.root) == before


def unit_text(root, name):
    return (root / "etc/systemd/system" / name).read_text("utf-8")


def written_by(root, name):
    """The ReadWritePaths of a service."""
    text = unit_text(root, f"{name}.service")
    return re.search("^ReadWritePaths=(.*)$", text, re.MULTILINE)[1].split()


def test_no_missing_folder_keeps_a_service_from_starting(installed):
    for name in "pi-mcp pi-mcp-docs pi-mcp-backup pi-mcp-notify pi-mcp-http".split():
        paths = {*written_by(installed.root, name)} - {"/tmp"}
        assert all(path.startswith("-") for path in paths), name


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
def test_systemd_finds_nothing_to_say_and_each_service_exposed_by_two_of_ten_at_most(installed):
    assert analyze("verify", *units(installed.root)) == ("", "", 0)
    for unit in units(installed.root):
        if unit.suffix == ".service":
            *text, status = analyze("security", "--offline=true", "--threshold=20", unit)
            assert status == 0, text


def analyze(*words):
    """What systemd-analyze says. Where systemd is not running it makes /run/systemd, which takes a /run of
    one's own."""
    command = ["systemd-analyze", *map(str, words)]
    if os.geteuid() != 0 and not os.path.exists("/run/systemd"):
        within = ["sh", "-c", 'mount -t tmpfs tmpfs /run && exec "$@"', "sh"]
        command = ["unshare", "-rm", *within, *command]
    done = finished(command)
    return done.stdout, done.stderr, done.returncode


FOLDERS = """
MCP_STATE_DIR | {home}/two words | plain paths
KLIPPER_DOCS_DIR | {home} | KLIPPER_DOCS_DIR
KLIPPER_DOCS_DIR | {project} | KLIPPER_DOCS_DIR
MCP_STATE_DIR | {home}/.. | a folder of its own
MCP_STATE_DIR | / | a folder of its own
ONEPERCENT_DB | {home}/life.sqlite3 | a folder of its own
ONEPERCENT_DB | {project}/../life.sqlite3 | a folder of its own
ONEPERCENT_BACKUP_DIR | {home} | a folder of its own
"""


def test_a_folder_is_opened_to_the_service_only_if_it_is_one_of_its_own_and_systemd_can_read_it(
    copy, tmp_path, nowhere
):
    for name, value, complaint in cases(FOLDERS):
        folder = value.format(home=tmp_path / "home", project=copy)
        done = run_setup(copy, "--systemd", **nowhere, **{name: folder})
        assert (done.returncode, complaint in done.stderr) == (1, True), done
    for name in ("two words", "50%", 'a$HOME"quote'):
        copy = copy.rename(tmp_path / name)
        done = run_setup(copy, "--systemd")
        assert (done.returncode, "plain path" in done.stderr) == (1, True), name
    assert not (tmp_path / "root").exists()


def test_a_database_of_its_own_may_be_written_by_sessions_and_outlives_an_uninstall(
    copy, tmp_path, upstream
):
    root = tmp_path / "root"
    folder = tmp_path / "life"
    copies = tmp_path / "usb" / "life"  # not mounted at the moment
    named = {
        **upstream,
        "ONEPERCENT_DB": str(folder / "life.sqlite3"),
        "ONEPERCENT_BACKUP_DIR": str(copies),
        "ONEPERCENT_TZ": "Europe/Berlin",
        "NOTIFY_MORNING": "07:30",
    }
    set_up(copy, "--systemd", **named)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert f"-{folder}" in written_by(root, "pi-mcp")
    assert f"-{folder}" not in written_by(root, "pi-mcp-docs")
    assert {f"-{folder}", f"-{copies}"} <= {*written_by(root, "pi-mcp-backup")}
    assert f"-{copies}" not in written_by(root, "pi-mcp") and not copies.exists()
    timer = unit_text(root, "pi-mcp-notify.timer")
    assert re.findall(r"OnCalendar=\*-\*-\* (.*) Europe/Berlin", timer) == ["07:30", "21:00"]
    ours = [folder / "mine", tmp_path / "home" / "state" / "mine"]
    for file in ours:
        file.touch()
    set_up(copy, "--uninstall", **named)
    assert files(root) == {}
    assert not (copy / ".venv").exists()
    assert all(file.exists() for file in ours)
    assert (copy / "docs_repo" / "klipper" / "docs" / "Bed_Mesh.md").exists()
    set_up(copy, "--uninstall")


def test_http_goes_alone_and_uninstall_takes_it_away(copy, tmp_path, upstream):
    set_up(copy, "--http", **upstream)
    names = [unit.name for unit in units(tmp_path / "root")]
    assert names == ["pi-mcp-http.service", "pi-mcp-http.socket"]
    set_up(copy, "--uninstall")
    assert not units(tmp_path / "root")


def test_every_directive_stands_below_its_reason():
    for path in (PROJECT / "systemd").glob("*.*"):
        # What these sections say is its own reason.
        text = re.sub(r"\[(Unit|Install|Timer)\]", "#", path.read_text("utf-8"))
        text = re.sub(r"\[.*\]\n", "", text).strip()
        for paragraph in re.split(r"\n\n+", text):
            assert paragraph.startswith("#"), f"{path.name}: {paragraph}"
