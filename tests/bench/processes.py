"""The commands that are compared, and what the kernel says of their memory."""

import os
import sys
import tempfile
from pathlib import Path

from tests.client import PROJECT

ONE_TOOL = [sys.executable, str(PROJECT / "tests" / "bench" / "one_tool_server.py")]
COLD = [sys.executable, str(PROJECT / "server.py"), "--standalone"]


def installed() -> list[str]:
    """The command `pi-mcp` as setup.sh installs it."""
    text = (PROJECT / "systemd" / "pi-mcp").read_text(encoding="utf-8")
    command = Path(tempfile.mkdtemp()) / "pi-mcp"
    command.write_text(text.replace("@python@", os.path.realpath(sys.executable)).replace("@project@", str(PROJECT)))
    command.chmod(0o755)
    return [str(command)]


def pss_mib(pid: int) -> float:
    """What the process has for itself, and its share of what it has with others."""
    return _rollup(pid, "Pss")


def rss_mib(pid: int) -> float:
    return _rollup(pid, "Rss")


def _rollup(pid: int, kind: str) -> float:
    text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith(f"{kind}:")) / 1024
