"""setup.sh on a copy of the project, with an upstream of our own; the packages are those of this environment."""

import os
import shutil
import subprocess

import pytest

from tests.client import PROJECT
from tests.klipper.upstreams import Upstream

pytestmark = pytest.mark.skipif(
    not (PROJECT / ".venv" / "requirements.txt").exists(), reason="this environment was not made by setup.sh"
)


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """The project's tracked files, with the environment that is there already."""
    folder = tmp_path / "pi-mcp"
    names = subprocess.run(["git", "ls-files", "-z"], cwd=PROJECT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        if (PROJECT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(PROJECT / name, folder / name)
    (folder / ".venv").symlink_to(PROJECT / ".venv")
    monkeypatch.delenv("KLIPPER_DOCS_DIR")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    return folder


def setup(folder, *words, **environment):
    return subprocess.run(
        ["./setup.sh", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
    )


def files(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file() and ".venv" not in path.parts}


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
