"""The real server on another day, to be started as a process of its own.

usage: python serve_at.py FILE [WORD …]      FILE holds the moment it is, in ISO format, and may change; WORDs are those
of server.py
"""

import runpy
import sys
from datetime import datetime
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(PROJECT))

from tools.onepercent import days

if __name__ == "__main__":
    clock = Path(sys.argv[1])
    days.now = lambda: datetime.fromisoformat(clock.read_text("utf-8"))
    sys.argv = ["server.py", *(sys.argv[2:] or ["--standalone"])]
    runpy.run_path(str(PROJECT / "server.py"), run_name="__main__")
