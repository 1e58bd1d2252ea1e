"""The figures in words, docs/benchmarks.md, and as a plot, docs/benchmarks.svg."""

import importlib
import inspect
import os
import platform
from datetime import date
from importlib.metadata import version
from pathlib import Path

from tests.bench.bench_resident import COUNTS, sessions
from tests.bench.plot import Panel, svg
from tests.bench.rows import Row

FOLDER = Path(__file__).resolve().parents[2] / "docs"
HEADINGS = {
    "start": "A cold start",
    "resident": "Through the resident service",
    "calls": "A call",
    "http": "Over HTTP",
    "search": "Searching the Klipper docs",
    "tokens": "What a question costs a model",
    "onepercent": "OnePercent",
    "listing": "The list of tools",
}
PLOT = "How long until a session is ready, and what several take of the memory: pi-mcp beside one-tool servers"

Tables = dict[str, list[Row]]


def save(tables: Tables, folder: Path = FOLDER) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "benchmarks.md").write_text(words(tables), encoding="utf-8")
    (folder / "benchmarks.svg").write_text(svg(panels(tables), PLOT), encoding="utf-8")


def words(tables: Tables) -> str:
    about = f"""# Benchmarks

Measured on {date.today()} by `.venv/bin/python tests/bench --save` with Python {platform.python_version()} and mcp
{version("mcp")} on {platform.machine()} with {os.cpu_count()} processors. Both figures of a line are of one run, in
which the two sides took turns. Compare ratios: milliseconds are another machine's.

![{PLOT}](benchmarks.svg)
"""
    return about + "".join(section(name, tables[name]) for name in HEADINGS if tables[name])


def section(name: str, rows: list[Row]) -> str:
    explained = inspect.getdoc(importlib.import_module(f"tests.bench.bench_{name}")).partition("\n\n")[0]
    return f"\n## {HEADINGS[name]}\n\n{explained}\n\n" + "".join(f"- {row.sentence()}\n" for row in rows)


def panels(tables: Tables) -> list[Panel]:
    named = {row.what: row for rows in tables.values() for row in rows}
    cold, warm, alone = named["ready, cold"], named["ready, through the service"], named["memory, the service alone"]
    ready = [
        ("one-tool server", cold.anchor, False),
        ("pi-mcp", cold.ours, True),
        ("through the service", warm.ours, True),
    ]
    memory = []
    for count in COUNTS:
        each = named[f"memory, each of {sessions(count)}"]
        memory += [
            (f"{count} one-tool server{'s' * (count > 1)}", count * each.anchor, False),
            (f"pi-mcp's service, {sessions(count)}", alone.ours + count * each.ours, True),
        ]
    return [Panel("Ready after", "ms", ready), Panel("Memory in all", "MiB", memory)]
