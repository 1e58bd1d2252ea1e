"""Measures pi-mcp beside its anchors and prints a table: each row a ratio of two figures of one run.

usage: .venv-test/bin/python tests/lab/bench [--save] [NAME …]

NAME is one of search start resident http listing onepercent (default: all, which takes some minutes; leave the
machine alone meanwhile). `--save` writes docs/benchmarks.md. Exits 1 if a figure is beyond its limit.
"""

import argparse
import importlib
import os
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(PROJECT))

from tests.lab.bench import rows, saving  # noqa: E402

BENCHES = ("search", "start", "resident", "http", "listing", "onepercent")
"""In this order: search measures memory, so it comes before what others import."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--save", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[[], *BENCHES])
    options = parser.parse_args()
    if options.save and options.names:
        parser.error("--save saves the figures of all, in one run")
    print(rows.line(rows.HEAD))
    with tempfile.TemporaryDirectory() as state:
        os.environ["MCP_STATE_DIR"] = state
        tables = {name: measure(name) for name in BENCHES if name in (options.names or BENCHES)}
    if options.save:
        saving.save(tables)
    return 0 if all(row.kept for table in tables.values() for row in table) else 1


def measure(name: str) -> list[rows.Row]:
    """The rows of a bench, each printed as soon as it is there."""
    print(flush=True)
    table = []
    for row in importlib.import_module(f"tests.lab.bench.bench_{name}").rows():
        print(rows.line(row.cells()), flush=True)
        table.append(row)
    return table


if __name__ == "__main__":
    sys.exit(main())
