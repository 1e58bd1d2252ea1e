"""Clients of others, fetched once into a cache of the person who runs the tests."""

import os
import shutil
import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tools.core.files import exclusive_lock

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pi-mcp-tests"
ASKED_FOR = "PI_MCP_TEST_CLIENTS"
NOT_ASKED = "" if os.environ.get(ASKED_FOR) else f"fetches up to 2 GB once: {ASKED_FOR}=1 runs it"
INSTALL_S = 300


def from_npm(package: str, program: str) -> Path:
    """The program of an npm package, `name@version`."""
    if not shutil.which("npm"):
        pytest.skip("npm is not installed")
    folder = CACHE / package.replace("/", "-")
    found = folder / "node_modules" / ".bin" / program
    with _alone(folder):
        if not found.exists():
            _install(["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), package])
    return found


def from_pip(*packages: str) -> Path:
    """A Python that has these packages, `name==version`, and none of ours."""
    folder = CACHE / "_".join(packages)
    found = folder / "bin" / "python"
    with _alone(folder):
        if not (folder / "complete").exists():
            _install([sys.executable, "-m", "venv", str(folder)])
            _install([str(found), "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages])
            (folder / "complete").touch()
    return found


def _alone(folder: Path) -> AbstractContextManager[int]:
    """Two modules may want the same at once."""
    return exclusive_lock(folder.name, timeout_s=2 * INSTALL_S, path=folder.with_name(f"{folder.name}.lock"))


def _install(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_S)
    except subprocess.TimeoutExpired:
        pytest.skip(f"no answer within {INSTALL_S} s: {' '.join(command)}")
    if done.returncode:
        pytest.skip(f"cannot be installed here: {(done.stderr.strip().splitlines() or ['?'])[-1]}")
