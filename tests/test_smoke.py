"""The smoke test that people run on their Pi."""

import os
import subprocess

from tests.client import PROJECT


def test_it_passes_and_prints_a_line_a_check(small_docs):
    small_docs({"Overview.md": "# Overview\n\nBLTouch.\n"})
    done = subprocess.run([PROJECT / "tests" / "smoke.sh"], capture_output=True, text=True, timeout=120)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(lines) > 15
    assert all(line.startswith(("ok ", "skip ")) for line in lines)


def test_a_failure_is_a_line_and_exit_1():
    done = subprocess.run(
        [PROJECT / "tests" / "smoke.sh"],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHON": "false"},
    )
    assert done.returncode == 1
    assert "FAIL  greet" in done.stdout
