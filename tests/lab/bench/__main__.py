"""Measures pi-mcp beside its anchors and prints a table: each row a ratio of two figures of one run.

usage: .venv-test/bin/python tests/lab/bench [--save] [NAME …]

NAME is one of search start resident http onepercent tokens (default: all, which takes some minutes; leave the
machine alone meanwhile). `--save` writes docs/benchmarks.md. Exits 1 if a figure is beyond its limit.
"""

import argparse
import importlib
import inspect
import os
import platform
import sys
import tempfile
from datetime import date
from importlib.metadata import version
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(PROJECT))

from tests.conftest import documentation  # noqa: E402
from tests.lab.bench.measuring import HEAD  # noqa: E402

# Their headings, in this order: search measures memory, so it comes before what others import.
BENCHES = {
    "search": "Searching the Klipper docs",
    "start": "A cold start",
    "resident": "Through the resident service",
    "http": "Over HTTP",
    "onepercent": "OnePercent",
    "tokens": "What a model is sent by tools/list",
}
WIDTHS = (42, 14, 46, 7, 0)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--save", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[[], *BENCHES])
    options = parser.parse_args()
    if options.save and options.names:
        parser.error("--save saves the figures of all, in one run")
    show(HEAD)
    with tempfile.TemporaryDirectory() as state:
        os.environ["MCP_STATE_DIR"] = state
        if docs := documentation():
            os.environ["KLIPPER_DOCS_DIR"] = str(docs)
        tables = {name: measure(name) for name in BENCHES if name in (options.names or BENCHES)}
    if options.save:
        (PROJECT / "docs" / "benchmarks.md").write_text(page(tables), "utf-8")
    return 0 if all(row.kept for table in tables.values() for row in table) else 1


def show(cells):
    line = "".join(f"{cell:<{width}}" for cell, width in zip(cells, WIDTHS, strict=True))
    print(line.rstrip(), flush=True)


def measure(name):
    """The rows of a bench, each printed as soon as it is there."""
    print()
    table = []
    for row in module(name).rows():
        show(row.cells())
        table.append(row)
    return table


def page(tables):
    """The text of docs/benchmarks.md."""
    text = f"""# Benchmarks

Measured on {date.today()} by `.venv-test/bin/python tests/lab/bench --save` with Python {platform.python_version()} and mcp
{version("mcp")} on {platform.machine()} with {os.cpu_count()} processors. Both figures of a line are of one run, in
which the two sides took turns. Compare ratios: milliseconds are another machine's.
"""
    for name, table in tables.items():
        lines = [HEAD, ["---"] * len(HEAD), *(row.cells() for row in table)]
        rows = "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
        text += f"\n## {BENCHES[name]}\n\n{inspect.getdoc(module(name))}\n\n{rows}"
    return text


def module(name):
    return importlib.import_module(f"tests.lab.bench.bench_{name}")


if __name__ == "__main__":
    sys.exit(main())
