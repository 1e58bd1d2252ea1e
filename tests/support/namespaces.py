"""Namespaces in which an ordinary user is root: may mount, and has a network of their own."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
TIMEOUT_S = 300


def run_again(nodeid: str) -> None:
    """Run this test as root of namespaces of its own; skip it if this machine gives none."""
    unshare = ["unshare", "--map-root-user", "--mount"]
    if subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode:
        pytest.skip("only root can mount here")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "SKIPPED_TO"))}
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rs", f"--basetemp={folder}/test", nodeid]
        done = subprocess.run(
            [*unshare, *words], cwd=PROJECT, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S
        )
    assert done.returncode == 0, done.stdout + done.stderr
    if " skipped" in done.stdout:
        pytest.skip(done.stdout.splitlines()[-2])
