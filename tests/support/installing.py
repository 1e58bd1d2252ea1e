"""setup.sh on a copy of the project."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.klipper.upstreams import git
from tests.support.client import PROJECT

made_by_setup = pytest.mark.skipif(
    not (PROJECT / ".venv" / "requirements.txt").exists(), reason="this environment was not made by setup.sh"
)


def copy_of_the_project(folder):
    """Its tracked files."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=PROJECT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        if (PROJECT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(PROJECT / name, folder / name)
    return folder


def give_packages(folder):
    """Make its .venv: a new one, into which pip installs, with links to the packages there are here but Pillow."""
    venv = folder / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    [there] = venv.glob("lib/python*/site-packages")
    for package in Path(sysconfig.get_path("purelib")).iterdir():
        if not package.name.lower().startswith("pil"):
            (there / package.name).symlink_to(package)
    shutil.copy(folder / "requirements.txt", venv)


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


def publish(folder):
    """Commit what is there, for those who pull from it."""
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "change")
