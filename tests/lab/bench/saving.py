"""The figures in words: docs/benchmarks.md."""

import importlib
import inspect
import os
import platform
from datetime import date
from importlib.metadata import version
from pathlib import Path

from tests.lab.bench.rows import Row

FILE = Path(__file__).resolve().parents[3] / "docs" / "benchmarks.md"
HEADINGS = {
    "start": "A cold start",
    "resident": "Through the resident service",
    "http": "Over HTTP",
    "search": "Searching the Klipper docs",
    "onepercent": "OnePercent",
    "listing": "The list of tools",
}


def save(tables: dict[str, list[Row]], file: Path = FILE) -> None:
    about = f"""# Benchmarks

Measured on {date.today()} by `.venv-test/bin/python tests/lab/bench --save` with Python {platform.python_version()} and mcp
{version("mcp")} on {platform.machine()} with {os.cpu_count()} processors. Both figures of a line are of one run, in
which the two sides took turns. Compare ratios: milliseconds are another machine's.
"""
    sections = "".join(section(name, tables[name]) for name in HEADINGS if tables[name])
    file.write_text(about + sections, encoding="utf-8")


def section(name: str, rows: list[Row]) -> str:
    explained = inspect.getdoc(importlib.import_module(f"tests.lab.bench.bench_{name}")).partition("\n\n")[0]
    return f"\n## {HEADINGS[name]}\n\n{explained}\n\n" + "".join(f"- {row.sentence()}\n" for row in rows)
