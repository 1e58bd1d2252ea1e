"""setup.sh on an environment that was interrupted or belongs to another Python, and where something is
missing.

The packages come from a folder of wheels of our own, each a few bytes.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
import zipfile

import pytest

from tests.support.client import PROJECT
from tests.support.installing import copy_of_the_project, pins, setup

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("PI_MCP_KILLS", "1"))
"""How many runs are killed, each at a moment of its own."""

CHECKED = """#!/usr/bin/env python3
def import_sdk(way):
    import mcp_types
if __name__ == "__main__":
    print("checked")
"""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheels")
    for name in ("requirements.txt", "requirements-http.txt", "requirements-test.txt"):
        for package, version in pins(name).items():
            make_wheel(folder, package.replace("-", "_"), version)
    return folder


@pytest.fixture(scope="module")
def made(wheels, tmp_path_factory):
    """An environment as setup.sh leaves it."""
    venv = tmp_path_factory.mktemp("made") / ".venv"
    subprocess.run([sys.executable, "-m", "venv", venv], check=True, timeout=300)
    options = ["-q", "--no-deps", "--no-index", "--find-links", wheels, "-r", PROJECT / "requirements.txt"]
    subprocess.run([venv / "bin" / "python", "-m", "pip", "install", *options], check=True, timeout=300)
    shutil.copy(PROJECT / "requirements.txt", venv)
    return venv


@pytest.fixture
def project(tmp_path, monkeypatch, wheels):
    """The project, whose packages have names and versions as they are pinned but nothing in them."""
    wheels = shutil.copytree(wheels, tmp_path / "wheels")
    for name, value in {"PIP_CONFIG_FILE": "/dev/null", "PIP_NO_INDEX": 1, "PIP_FIND_LINKS": wheels}.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.delenv("PYTHON", raising=False)
    folder = copy_of_the_project(tmp_path / "pi-mcp")
    # A check of its own takes the place of the server's, which would need the real packages.
    (folder / "server.py").write_text(CHECKED, encoding="utf-8")
    return folder


@pytest.fixture
def installed(project, made, tmp_path, monkeypatch):
    """The project with its environment, which is made again by copying, since making one takes long."""
    shutil.copytree(made, project / ".venv", symlinks=True)
    python = tmp_path / "python3"
    python.write_text(
        f'#!/bin/sh\n[ "$1 $2" != "-m venv" ] || {{ rm -rf "$4"; exec cp -a {made} "$4"; }}\nexec {sys.executable} "$@"\n',
        encoding="utf-8",
    )
    python.chmod(0o755)
    monkeypatch.setenv("PYTHON", str(python))
    return project


def make_wheel(folder, name, version):
    about = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        text = f"import sys\nif __name__ == '__main__':\n    print('{name}', sys.argv[1:])\n"
        wheel.writestr(f"{name}.py", text)
        wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", f"{name}.py,,{len(text)}\n")


def ends_well(project):
    done = setup(project, KLIPPER_DOCS_URL=(project / "nowhere").as_uri())
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("checked\n")
    assert not (project / ".venv" / "installing").exists()
    command = [project / ".venv" / "bin" / "python", "-m", "pip", "list", "--format=freeze"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    assert {"mcp==2.3.0", "pydantic_core==2.50.4"} <= set(listed.split())
    return done


def test_killed_at_any_moment_the_next_run_ends_well(project):
    began = time.monotonic()
    ends_well(project)
    whole_s = time.monotonic() - began
    chance = random.Random(1)
    for number in range(KILLS):
        shutil.rmtree(project / ".venv")
        killed_after(project, whole_s * (number + chance.random()) / KILLS)
        ends_well(project)


def killed_after(project, seconds):
    """A run of setup.sh that is killed with everything it started; the folder is left as it was at that
    moment."""
    process = subprocess.Popen(
        ["./setup.sh"],
        cwd=project,
        env={**os.environ, "KLIPPER_DOCS_URL": (project / "nowhere").as_uri()},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.mark.parametrize(("words", "selected"), [(["-k", "x"], True), (["--all", "-k", "x"], False)])
def test_the_tests_have_their_tools_apart_from_what_serves(installed, words, selected):
    done = setup(installed, "test", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    told = done.stdout.splitlines()[-1]
    assert told.startswith("pytest [") and told.endswith("'-k', 'x']")
    assert ("'not slow or smoke'" in told) == selected
    assert list(installed.glob(".venv-test/lib/python3.*/site-packages/pytest.py"))
    assert not list(installed.glob(".venv/lib/python3.*/site-packages/pytest.py"))


def test_an_environment_without_pip_with_another_sdk_or_half_a_package_is_made_anew(installed):
    venv = installed / ".venv"

    def without_pip(packages):
        shutil.rmtree(packages / "pip")

    def another_sdk(packages):
        (packages / "mcp_types.py").write_text("raise ImportError('another version')", encoding="utf-8")

    def half_a_package(packages):
        (venv / "installing").touch()
        (venv / "requirements.txt").unlink()
        (packages / "anyio.py").write_text("", encoding="utf-8")

    for spoil in (without_pip, another_sdk, half_a_package):
        [packages] = venv.glob("lib/python3.*/site-packages")
        spoil(packages)
        assert "is made anew" in ends_well(installed).stderr, spoil


def test_an_install_that_failed_by_itself_goes_on_in_the_environment_there_is(installed, tmp_path):
    (installed / "requirements.txt").write_text("mcp==2.3.0\nnews==1.0\n", encoding="utf-8")
    failed = setup(installed)
    assert (failed.returncode, "there is no such package for Python" in failed.stderr) == (1, True), (
        failed.stderr
    )
    make_wheel(tmp_path / "wheels", "news", "1.0")
    assert "anew" not in ends_well(installed).stderr


REASONS = {
    "OSError: [Errno 28] No space left on device": "the disk is full",
    "[Errno 13] Permission denied: '/x'": "you cannot write there",
    "NewConnectionError('x')\nERROR: No matching distribution found for mcp": "is there a network?",
    "ERROR: No matching distribution found for mcp": "there is no such package for Python",
    "something else": "the lines above say why",
}


def test_what_went_wrong_is_named(project, tmp_path):
    """A Python whose venv fails with these words."""
    python = tmp_path / "python3"
    for words, reason in REASONS.items():
        failing = f'case "$*" in *"-m venv"*) cat >&2 <<"E"\n{words}\nE\nexit 1 ;; esac'
        python.write_text(f'#!/bin/sh\n{failing}\nexec {sys.executable} "$@"\n', encoding="utf-8")
        python.chmod(0o755)
        done = setup(project, PYTHON=str(python))
        assert (done.returncode, words in done.stderr, reason in done.stderr) == (1, True, True), done.stderr
