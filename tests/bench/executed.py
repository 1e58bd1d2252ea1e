#!/usr/bin/env python3
"""Find out which test file executes which function of server.py and tools/, and how long each takes.

usage: executed.py FILE.json [TEST_FILE …]      (default: every test file; some minutes)

The map is what mutations.py chooses the related tests from. Child processes count. What fails without any change of the
sources is noted, so that nobody takes it for a noticed mutation.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).resolve().parents[2]
TRACER = Path(__file__).resolve().parent / "executing"
LEFT_OUT = ("test_setup", "test_smoke", "test_soak", "test_bench", "test_readme", "test_house", "test_requirements")
"""Files of tests that are not of what a function does."""
TIMEOUT_S = 900
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
PASSED = re.compile(r"^\d+ passed\b", re.MULTILINE)


class Executed(NamedTuple):
    """What a test file does: functions as "path name", its duration, and the tests that fail by themselves."""

    functions: list[str]
    duration_s: float
    failing: list[str]


def environ(folder: Path, **more: str) -> dict[str, str]:
    """The environment of tests in a copy of the project: nobody's settings, no bytecode of another moment."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("EXECUTED_", "PYTEST_"))}
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(folder), **more}


def pytest_words(*words: str) -> list[str]:
    return [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", "-rfE", *words]


def measure(project: Path, file: str, folder: Path) -> Executed:
    """Run one test file under the tracer."""
    target = folder / "executed"
    target.unlink(missing_ok=True)
    traced = environ(folder, EXECUTED_OF=str(project), EXECUTED_TO=str(target), PYTHONPATH=str(TRACER))
    began = time.monotonic()
    output = run(project, file, traced)
    duration_s = time.monotonic() - began
    failing = FAILED.findall(output)
    if failing:  # being traced may have been the reason
        failing = FAILED.findall(run(project, file, environ(folder)))
    lines = target.read_text(encoding="utf-8").splitlines() if target.exists() else []
    return Executed(sorted(set(lines)), round(duration_s, 1), sorted(failing))


def run(project: Path, file: str, environment: dict[str, str]) -> str:
    words = pytest_words(file)
    done = subprocess.run(words, cwd=project, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S)
    return done.stdout


def test_files(project: Path) -> list[str]:
    paths = [path.relative_to(project) for path in sorted((project / "tests").rglob("test_*.py"))]
    return [str(path) for path in paths if not path.stem.startswith(LEFT_OUT) and "systemd" not in path.parts]


def main() -> int:
    target, *files = sys.argv[1:]
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for file in files or test_files(PROJECT):
            found[file] = measure(PROJECT, file, Path(folder))
            functions, duration_s, failing = found[file]
            print(f"{file}: {len(functions)} functions, {duration_s:.1f} s, failing {failing}", flush=True)
            known = json.loads(Path(target).read_text("utf-8")) if Path(target).exists() else {}
            Path(target).write_text(json.dumps({**known, file: found[file]}), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
