"""The commands that are compared, the memory of a process, and a figure beside its anchor."""

import atexit
import os
import re
import shutil
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.support.client import PROJECT

HEAD = ("what", "pi-mcp", "anchor", "ratio", "promised")
ONE_TOOL = [sys.executable, str(PROJECT / "tests" / "lab" / "bench" / "one_tool_server.py")]


def installed():
    """The command `pi-mcp` as setup.sh installs it."""
    text = (PROJECT / "systemd" / "pi-mcp").read_text("utf-8")
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    command = Path(folder) / "pi-mcp"
    paths = {"@python@": os.path.realpath(sys.executable), "@project@": str(PROJECT)}
    command.write_text(re.sub("@(python|project)@", lambda match: paths[match[0]], text))
    command.chmod(0o755)
    return [str(command)]


def memory_mib(pid, kind="Rss"):
    """The memory of a process as the kernel counts it; `Pss` shares what it has with others among them."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    return {line.split(":")[0]: int(line.split()[1]) for line in text.splitlines()[1:]}[kind] / 1024


@dataclass(frozen=True)
class Row:
    """What was measured: `ours` and the `anchor`, in one unit. `promise` is the limit in words, `kept`
    whether it holds."""

    what: str
    ours: float
    unit: str
    anchor: float
    anchor_name: str
    promise: str = ""
    kept: bool = True

    def cells(self):
        ours = f"{short(self.ours)} {self.unit}".rstrip()
        anchor = f"{self.anchor_name}: {short(self.anchor)} {self.unit}".rstrip()
        promise = self.promise if self.kept else f"{self.promise}, NOT KEPT"
        return self.what, ours, anchor, short(self.ours / self.anchor), promise


def at_most(limit, what, ours, unit, anchor, anchor_name):
    """A figure that is promised to be at most so many times its anchor."""
    return Row(what, ours, unit, anchor, anchor_name, f"at most {limit:g}", ours <= limit * anchor)


def short(value):
    """A figure with three digits: it is not more certain than that."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def turns(times, *sides):
    """What each side measured; they take turns, so that a slow moment of the machine meets each."""
    rounds = [[measure() for measure in sides] for _ in range(times)]
    return zip(*rounds, strict=True)


def medians(times, *sides):
    """The medians of measurements that take turns."""
    return map(statistics.median, turns(times, *sides))
