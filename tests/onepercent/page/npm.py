"""Packages of npm for a test, installed into a folder of the test run."""

import shutil
import subprocess
from pathlib import Path

import pytest

WAIT_S = 120
OPTIONS = (
    "--no-audit",
    "--no-fund",
    "--ignore-scripts",
    "--loglevel=error",
    "--fetch-retries=0",
    "--fetch-timeout=30000",
)


def install(folder: Path, *packages: str) -> Path:
    """The node_modules with these packages; skips the test if npm is missing or does not answer."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    command = ["npm", "install", *OPTIONS, f"--prefix={folder}", *packages]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=WAIT_S, stdin=subprocess.DEVNULL, cwd=folder)
    except (subprocess.SubprocessError, OSError):
        pytest.skip(f"npm does not give {', '.join(packages)}")
    return folder / "node_modules"
