"""All that is around the sessions: the service, Anki, the upstream, the disk."""

import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from tests.lab.bench.processes import installed
from tests.lab.soak import disk
from tests.lab.soak.anki_process import Anki
from tests.lab.soak.docs import Published
from tests.support.client import PROJECT, PYTHON
from tests.support.installing import packages
from tests.support.services import Service

LOCKING = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=60, isolation_level=None)
try:
    db.execute("BEGIN IMMEDIATE")
except sqlite3.OperationalError:  # the disk is full as well
    pass
print(flush=True)
sys.stdin.read()
"""


class World:
    def __init__(self, seed: int):
        self.folder = Path(tempfile.mkdtemp(prefix="soak-"))
        self.state = self.folder / "disk"
        self.temporary = self.folder / "tmp"
        for folder in (self.state, self.temporary, self.folder / "home"):
            folder.mkdir(mode=0o700)
        self.disk = disk.OwnDisk(self.state) if os.environ[disk.INSIDE] == "own" else None
        self.published = Published(self.folder / "upstream", random.Random(f"{seed} upstream"))
        self.anki = Anki(self.folder / "anki", dict(os.environ))
        self.caller = installed()
        self.service = Service([PYTHON, str(PROJECT / "server.py")], **self.environ())

    def environ(self) -> dict[str, str]:
        """The settings of the service and its sessions."""
        return {
            "HOME": str(self.folder / "home"),
            "XDG_CONFIG_HOME": str(self.folder / "home" / "config"),
            "XDG_RUNTIME_DIR": str(self.folder / "home"),
            "TMPDIR": str(self.temporary),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": packages("pillow") if find_spec("PIL") else "",
            "MCP_STATE_DIR": str(self.state / "state"),
            "KLIPPER_DOCS_DIR": str(self.state / "docs" / "klipper"),
            "KLIPPER_DOCS_URL": self.published.upstream.url,
            "KLIPPER_DOCS_CHECK_INTERVAL": "5",
            "ANKI_CONNECT_URL": self.anki.url,
            "ANKI_CONNECT_TIMEOUT": "4",
            "ANKI_DEFAULT_MODEL": "Basic",
            "ONEPERCENT_RATE_LIMIT": "off",
            "ONEPERCENT_PREVIEW_TTL": "86400",
        }

    @property
    def database(self) -> Path:
        return self.state / "state" / "onepercent.sqlite3"

    @property
    def checkout(self) -> Path:
        return self.state / "docs" / "klipper"

    @contextmanager
    def database_locked(self) -> Iterator[None]:
        """Another process holds the write lock of OnePercent's database."""
        words = [sys.executable, "-c", LOCKING, str(self.database)]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
            holder.stdout.readline()
            yield

    def close(self) -> None:
        if self.anki.process.poll() is None:
            self.anki.end()
        if self.disk:
            self.disk.close()
        shutil.rmtree(self.folder)
