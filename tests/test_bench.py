"""The benchmarks' table and page; what they measure is not a matter of tests."""

import subprocess
import sys

import pytest

from tests.lab.bench import __main__ as bench
from tests.lab.bench.rows import Row
from tests.support.client import PROJECT


@pytest.mark.slow
def test_one_command_measures_and_prints_a_line_a_figure():
    command = [sys.executable, str(PROJECT / "tests" / "lab" / "bench"), "listing"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    head, _, every, average = done.stdout.splitlines()
    assert head.split() == ["what", "pi-mcp", "anchor", "ratio", "promised"]
    assert every.startswith("tools/list, all ") and average.endswith("at most 900 bytes")
    assert done.returncode == 0


def test_every_bench_is_saved_in_a_table():
    text = bench.page({name: [Row(f"of {name}", 1, "", 2, "one")] for name in bench.BENCHES})
    assert all(f"| of {name} | 1.00 | one: 2.00 | 0.50 |" in text for name in bench.BENCHES)
    assert text.count("\n## ") == len(bench.BENCHES)
