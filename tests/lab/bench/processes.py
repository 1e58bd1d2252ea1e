"""The commands that are compared, and what the kernel says of their memory."""

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path

from tests.support.client import PROJECT, PYTHON

ONE_TOOL = [sys.executable, str(PROJECT / "tests" / "lab" / "bench" / "one_tool_server.py")]
COLD = [PYTHON, str(PROJECT / "server.py"), "--standalone"]


def installed() -> list[str]:
    """The command `pi-mcp` as setup.sh installs it."""
    text = (PROJECT / "systemd" / "pi-mcp").read_text(encoding="utf-8")
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    command = Path(folder) / "pi-mcp"
    command.write_text(text.replace("@python@", os.path.realpath(sys.executable)).replace("@project@", str(PROJECT)))
    command.chmod(0o755)
    return [str(command)]


def pss_mib(pid: int) -> float:
    """What the process has for itself, and its share of what it has with others."""
    return memory_kib(pid)["Pss"] / 1024


def rss_mib(pid: int) -> float:
    return memory_kib(pid)["Rss"] / 1024


def memory_kib(pid: int) -> dict[str, int]:
    """The sizes of a process by the names that the kernel gives them."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    return {line.split(":")[0]: int(line.split()[1]) for line in text.splitlines()[1:]}


def cpu_s(pid: int) -> float:
    """The processor's time that a process took."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
