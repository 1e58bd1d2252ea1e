"""The smoke test that people run on their Pi."""

import shutil
import subprocess

import pytest

from tests.support.client import PROJECT

pytestmark = pytest.mark.slow


def test_it_passes_and_prints_a_line_a_check(small_docs):
    small_docs({"Overview.md": "# Overview\n\nBLTouch.\n"})
    done = subprocess.run([PROJECT / "tests" / "smoke.sh"], capture_output=True, text=True, timeout=120)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(lines) > 15
    assert all(line.startswith(("ok ", "skip ")) for line in lines)


def test_without_an_environment_it_says_so(tmp_path):
    (tmp_path / "tests").mkdir()
    script = shutil.copy(PROJECT / "tests" / "smoke.sh", tmp_path / "tests")
    done = subprocess.run([script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, "run ./setup.sh first" in done.stderr) == (1, "", True)
