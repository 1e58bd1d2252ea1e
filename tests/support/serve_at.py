"""The real server on another day, to be started as a process of its own.

usage: python serve_at.py FILE [WORD …]      FILE holds the moment it is, in ISO format, and may change; WORDs are those
of server.py
"""

import sys
from datetime import datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

import server
from tools.onepercent.base import days

if __name__ == "__main__":
    clock = Path(sys.argv[1])
    days.now = lambda: datetime.fromisoformat(clock.read_text("utf-8"))
    sys.exit(server.main(sys.argv[2:] or ["--standalone"]))
