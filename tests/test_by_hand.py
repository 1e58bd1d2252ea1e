"""What people run by hand: the smoke test on their Pi, the benchmarks, and, for a moment, the soak."""

import sys

import pytest

from tests.support.client import PROJECT, finished

LAB = PROJECT / "tests" / "lab"
FAULTS = "anki dies|anki hangs|upstream gone|database locked briefly".split("|")


def run(*command):
    """What a script prints that ends well."""
    done = finished([str(word) for word in command], timeout=400)
    assert done.returncode == 0, done
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("language", ["ru", "en"])
def test_the_smoke_test_passes_in_every_language_and_prints_a_line_a_check(
    small_docs, env, language
):
    small_docs({"Overview.md": "# Overview\n\nBLTouch.\n"})
    env(MCP_LANGUAGE=language)
    lines = run(PROJECT / "tests" / "smoke.sh").splitlines()
    assert len(lines) > 15 and all(line.startswith(("ok ", "skip ")) for line in lines)


@pytest.mark.slow
def test_a_short_soak_uses_every_system_breaks_everything_and_finds_nothing_wrong():
    pytest.importorskip("anki.collection", reason="the PyPI package `anki` is not installed")
    text = run(sys.executable, LAB / "soak", "0.12", "--seed", "1", "--workers", "2")
    table = {line.partition(" ")[0]: line for line in text.splitlines()}
    assert all(f"{name} " in table["calls"] for name in "anki klipper onepercent".split()), text
    assert all(f"{name} " in table["faults"] for name in FAULTS), text
    assert ("disk full " in table["faults"]) == ("a disk of its own: True" in text), text
