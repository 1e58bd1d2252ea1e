"""The packages that setup.sh installs: what was asked for, into an environment that may be damaged. They come
from a folder of wheels of our own, each a few bytes."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest

from tests.support.client import finished
from tests.support.installing import (
    copy_of_the_project,
    make_wheel,
    make_wheels,
    pins,
    run_setup,
    set_up,
)

pytestmark = pytest.mark.slow

# How many runs are killed, each at a moment of its own.
KILLS = int(os.environ.get("PI_MCP_KILLS", "1"))

CHECKED = """#!/usr/bin/env python3
print("checked")
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """The project, whose packages have names and versions as they are pinned but nothing in them."""
    for name, value in make_wheels(tmp_path / "wheels").items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("PYTHON", raising=False)
    folder = copy_of_the_project(tmp_path / "pi-mcp")
    # A check of its own takes the place of the server's, which would look at the machine.
    (folder / "server.py").write_text(CHECKED)
    return folder


def ends_well(project, *words):
    done = set_up(project, *words, KLIPPER_DOCS_URL=(project / "nowhere").as_uri())
    assert done.stdout.endswith("checked\n")
    return done


def installed(project):
    """The packages in .venv with their versions, pip left out."""
    command = [project / ".venv" / "bin" / "python", "-m", "pip", "list", "--format=freeze"]
    lines = finished(command, check=True).stdout.replace("_", "-").split()
    return {line for line in lines if not line.startswith(("pip=", "setuptools="))}


def pinned(file):
    return {f"{name}=={version}".replace("_", "-") for name, version in pins(file).items()}


def test_without_a_wish_nothing_is_installed_and_an_environment_of_before_goes(project):
    ends_well(project)
    assert not (project / ".venv").exists()
    (project / ".venv").mkdir()
    (project / ".venv" / "requirements.txt").touch()  # of a version whose sessions needed packages
    assert "nothing needs any more" in ends_well(project).stdout
    assert not (project / ".venv").exists()


def test_what_was_asked_for_stays_asked_for_also_in_an_environment_that_is_made_again(project):
    ends_well(project, "--http")
    assert installed(project) == pinned("requirements-http.txt")
    ends_well(project, "--with", "images")
    both = pinned("requirements-http.txt") | pinned("requirements-images.txt")
    assert installed(project) == both
    (project / ".venv" / "bin" / "python").unlink()  # as an upgrade of the system leaves it
    assert "Making" in ends_well(project).stdout
    assert installed(project) == both
    assert "Installing" not in ends_well(project).stdout
    [packages] = (project / ".venv" / "lib").glob("python3*/site-packages")
    (packages / "mcp").mkdir()  # the SDK, which served over HTTP before
    assert "Making" in ends_well(project).stdout
    assert installed(project) == both
    assert not (packages / "mcp").exists()


@pytest.mark.parametrize(
    "version, is_enough", [("0.17.6", False), ("0.32.0", True)], ids=["bookworm", "trixie"]
)
def test_debians_uvicorn_serves_where_it_is_new_enough(
    project, tmp_path, monkeypatch, version, is_enough
):
    about = tmp_path / "debian" / f"uvicorn-{version}.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: uvicorn\nVersion: {version}\n")
    monkeypatch.setenv("PYTHONPATH", str(about.parent))
    ends_well(project, "--http")
    monkeypatch.delenv("PYTHONPATH")
    assert (project / ".venv").exists() != is_enough
    if not is_enough:
        assert installed(project) == pinned("requirements-http.txt")


def test_killed_at_any_moment_the_next_run_ends_well(project):
    began = time.monotonic()
    ends_well(project, "--http")
    whole_s = time.monotonic() - began
    chance = random.Random(1)
    for number in range(KILLS):
        shutil.rmtree(project / ".venv")
        killed_after(project, whole_s * (number + chance.random()) / KILLS)
        ends_well(project, "--http")
        assert installed(project) == pinned("requirements-http.txt")
        assert not (project / ".venv" / "installing").exists()


def killed_after(project, seconds):
    """A run of setup.sh that is killed with everything it started."""
    process = subprocess.Popen(
        ["sh", "-c", "exec ./setup.sh --http < /dev/null > /dev/null 2>&1"],
        cwd=project,
        env={**os.environ, "KLIPPER_DOCS_URL": (project / "nowhere").as_uri()},
        start_new_session=True,
    )
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_a_package_that_is_not_there_is_named_and_the_next_run_goes_on(project, tmp_path):
    with (project / "requirements-http.txt").open("a") as file:
        file.write("news==1.0\n")
    failed = run_setup(project, "--http")
    assert failed.returncode == 1
    assert "news" in failed.stderr and "run ./setup.sh again" in failed.stderr
    make_wheel(tmp_path / "wheels", "news", "1.0")
    ends_well(project, "--http")
    assert "news==1.0" in installed(project)


def test_the_tests_have_their_tools_apart(project):
    for words, is_selected in ((["-k", "x"], True), (["--all", "-k", "x"], False)):
        done = set_up(project, "test", *words)
        last = done.stdout.splitlines()[-1]
        assert last.startswith("pytest [") and last.endswith("'-k', 'x']")
        assert ("'not slow or smoke'" in last) == is_selected
        assert not (project / ".venv").exists()


def test_the_sdk_asks_for_nothing_that_is_pinned_out_of_its_range():
    """Real packages: those of the environment that the tests run in."""
    done = finished([sys.executable, "-m", "pip", "check", "--disable-pip-version-check"])
    assert done.returncode == 0, done
