"""The soak, for a moment."""

import subprocess
import sys

import pytest

from tests.support.client import PROJECT

pytest.importorskip("anki.collection", reason="the PyPI package `anki` is not installed")

SYSTEMS = ("anki", "klipper", "onepercent", "search", "server")
FAULTS = (
    "anki dies", "anki hangs", "upstream gone", "upstream rewritten", "database locked briefly", "disk full",
    "search hangs", "search fails", "search refuses",
)  # fmt: skip
ATTACKS = (
    "silent connections", "unanswered questions", "half surrogates", "lines of many values", "refused calls",
    "damaged database", "spoilt import", "settings with BOM", "misspelt settings", "foreign checkout",
    "quadratic patterns", "odd file names", "large page", "private addresses", "dripping Anki",
)  # fmt: skip


def test_a_short_soak_uses_every_system_breaks_everything_and_finds_nothing_wrong():
    words = [sys.executable, str(PROJECT / "tests" / "soak"), "0.12", "--seed", "1", "--workers", "2"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stdout + done.stderr
    table = {line.partition(" ")[0]: line for line in done.stdout.splitlines()}
    assert all(f"{name} " in table["calls"] for name in SYSTEMS), done.stdout
    assert all(f"{name} " in table["faults"] for name in FAULTS), done.stdout
    assert all(f"{name} " in table["attacks"] for name in ATTACKS), done.stdout
