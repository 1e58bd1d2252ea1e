"""The soak, for a moment."""

import subprocess
import sys

import pytest

from tests.support.client import PROJECT

pytestmark = pytest.mark.slow

pytest.importorskip("anki.collection", reason="the PyPI package `anki` is not installed")

SYSTEMS = ("anki", "klipper", "onepercent")
FAULTS = ("anki dies", "anki hangs", "upstream gone", "database locked briefly")


def test_a_short_soak_uses_every_system_breaks_everything_and_finds_nothing_wrong():
    words = [sys.executable, str(PROJECT / "tests" / "lab" / "soak"), "0.12", "--seed", "1", "--workers", "2"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stdout + done.stderr
    table = {line.partition(" ")[0]: line for line in done.stdout.splitlines()}
    assert all(f"{name} " in table["calls"] for name in SYSTEMS), done.stdout
    assert all(f"{name} " in table["faults"] for name in FAULTS), done.stdout
    assert ("disk full " in table["faults"]) == ("a disk of its own: True" in done.stdout), done.stdout
