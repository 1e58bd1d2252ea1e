"""The commands that are compared, and what the kernel says of their memory."""

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path

from tests.support.client import PROJECT, SERVER

ONE_TOOL = [sys.executable, str(PROJECT / "tests" / "lab" / "bench" / "one_tool_server.py")]
COLD = SERVER


def installed() -> list[str]:
    """The command `pi-mcp` as setup.sh installs it."""
    text = (PROJECT / "systemd" / "pi-mcp").read_text(encoding="utf-8")
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    command = Path(folder) / "pi-mcp"
    command.write_text(text.replace("@python@", os.path.realpath(sys.executable)).replace("@project@", str(PROJECT)))
    command.chmod(0o755)
    return [str(command)]


def memory_mib(pid: int, kind: str = "Rss") -> float:
    """The memory of a process as the kernel counts it; `Pss` shares what it has with others among them."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    return {line.split(":")[0]: int(line.split()[1]) for line in text.splitlines()[1:]}[kind] / 1024
