"""Clients of others, fetched once into a cache of the person who runs the tests."""

import os
import shutil
import subprocess
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
    lock = folder.with_name(f"{folder.name}.lock")  # two modules may want the same at once
    with exclusive_lock(folder.name, timeout_s=2 * INSTALL_S, path=lock):
        if not found.exists():
            command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), package]
            try:
                subprocess.run(command, capture_output=True, check=True, timeout=INSTALL_S)
            except subprocess.SubprocessError as error:
                pytest.skip(f"cannot be installed here: {error}")
    return found
