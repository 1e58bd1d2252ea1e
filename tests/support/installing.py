"""setup.sh on a copy of the project."""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

import pytest

from tests.support.client import PROJECT

MARKER = f'python_version {"<" if sys.version_info < (3, 11) else ">="} "3.11"'
"""Of the lines that are for this Python only."""
made_by_setup = pytest.mark.skipif(
    not (PROJECT / ".venv" / "requirements.txt").exists(), reason="this environment was not made by setup.sh"
)


def copy_of_the_project(folder):
    """Its tracked files."""
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=PROJECT, capture_output=True, text=True, check=True
    ).stdout
    for name in filter(None, names.split("\0")):
        if (PROJECT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(PROJECT / name, folder / name)
    return folder


@cache
def packages(*names):
    """A folder for PYTHONPATH with what .venv need not have: the packages of HTTP, or of an extra."""
    folder = tempfile.TemporaryDirectory(prefix="pi-mcp-packages-")
    atexit.register(folder.cleanup)
    for name in names:
        installed = distribution(name)
        for top in {file.parts[0] for file in installed.files} - {"..", "__pycache__"}:
            Path(folder.name, top).symlink_to(installed.locate_file(top))
    return folder.name


def pins(name):
    """The packages with their versions that a requirements file pins for this Python."""
    lines = (PROJECT / name).read_text(encoding="utf-8").splitlines()
    wanted = [line.partition(";") for line in lines if "==" in line.partition(";")[0]]
    return dict(
        line.split("==") for line, _, marker in wanted if "python_version" not in marker or MARKER in marker
    )


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
    return {
        path: path.stat().st_mtime_ns
        for path in folder.rglob("*")
        if path.is_file() and ".venv" not in path.parts
    }
