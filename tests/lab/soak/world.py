"""All that is around the sessions: the service, Anki, the upstream, a disk that can be full."""

import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

from tests.lab.bench.processes import installed
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
DISK_MB = 192
INSIDE = "SOAK_DISK"
"""Set once this process has, or cannot have, mounts of its own."""


def enter() -> None:
    """Start over where mounts are our own business, which end with this process, if that is allowed."""
    if INSIDE in os.environ:
        return
    words = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--map-root-user"]
    mount = [*words, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    is_allowed = shutil.which("unshare") and subprocess.run(mount, capture_output=True).returncode == 0
    os.environ[INSIDE] = "own" if is_allowed else ""
    start = [*(words if is_allowed else ()), sys.executable, *sys.argv]
    os.execvp(start[0], start)


class World:
    def __init__(self, seed: int):
        self.folder = Path(tempfile.mkdtemp(prefix="soak-"))
        self.disk, self.temporary = self.folder / "disk", self.folder / "tmp"
        for folder in (self.disk, self.temporary, self.folder / "home"):
            folder.mkdir(mode=0o700)
        self.has_disk = bool(os.environ[INSIDE])
        if self.has_disk:
            options = ["-t", "tmpfs", "-o", f"size={DISK_MB}m,mode=700", "tmpfs"]
            subprocess.run(["mount", *options, self.disk], check=True)
        self.published = Published(self.folder / "upstream", random.Random(f"{seed} upstream"))
        self.anki = Anki(self.folder / "anki")
        self.database = self.disk / "state" / "onepercent.sqlite3"
        self.checkout = self.disk / "docs" / "klipper"
        self.caller = installed()
        self.service = Service([PYTHON, str(PROJECT / "server.py")], **self.environ())

    def environ(self) -> dict[str, str]:
        """The settings of the service and its sessions."""
        home = str(self.folder / "home")
        return {
            **dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"), home),
            "TMPDIR": str(self.temporary),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": packages("pillow") if find_spec("PIL") else "",
            "MCP_STATE_DIR": str(self.database.parent),
            "KLIPPER_DOCS_DIR": str(self.checkout),
            "KLIPPER_DOCS_URL": self.published.upstream.url,
            "KLIPPER_DOCS_CHECK_INTERVAL": "5",
            "ANKI_CONNECT_URL": self.anki.url,
            "ANKI_CONNECT_TIMEOUT": "4",
            "ANKI_DEFAULT_MODEL": "Basic",
            "ONEPERCENT_RATE_LIMIT": "off",
            "ONEPERCENT_PREVIEW_TTL": "86400",
        }

    @contextmanager
    def database_locked(self) -> Iterator[None]:
        """Another process holds the write lock of OnePercent's database."""
        words = [sys.executable, "-c", LOCKING, str(self.database)]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
            holder.stdout.readline()
            yield

    @contextmanager
    def disk_full(self) -> Iterator[None]:
        """Not one block left."""
        with open(self.disk / "filling", "wb", buffering=0) as file:
            with suppress(OSError):
                while file.write(bytes(2**16)) == 2**16:
                    """until a write is cut short, or refused"""
            try:
                yield
            finally:
                file.truncate(0)  # whoever is just being started may have the file open for a moment longer
                os.unlink(file.name)

    def close(self) -> None:
        if self.anki.process.poll() is None:
            self.anki.end()
        if self.has_disk:
            subprocess.run(["umount", "--lazy", self.disk], check=True)
        shutil.rmtree(self.folder)
