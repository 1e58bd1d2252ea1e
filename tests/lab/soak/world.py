"""All that is around the sessions, the service, Anki, the upstream, a small disk; what goes wrong with it,
and when."""

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from math import inf
from pathlib import Path

from tests.lab.bench.measuring import installed
from tests.lab.soak.anki_process import Anki
from tests.lab.soak.docs import Published
from tests.support.client import PROJECT, PYTHON
from tests.support.services import Service

DISK_MB = 192
# Set once this process has mounts of its own.
INSIDE = "SOAK_DISK"


def enter():
    """Start again in a mount namespace, whose mounts end with this process, if that is allowed."""
    if INSIDE in os.environ:
        return
    alone = ["unshare", "--mount", "--map-root-user"]
    tried = [*alone, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    if not subprocess.run(tried, capture_output=True).returncode:
        os.environ[INSIDE] = "own"
        os.execvp(alone[0], [*alone, sys.executable, *sys.argv])


class World:
    def __init__(self, seed):
        self.folder = Path(tempfile.mkdtemp(prefix="soak-"))
        self.disk = self.folder / "disk"
        self.temporary = self.folder / "tmp"
        for folder in (self.disk, self.temporary, self.folder / "home"):
            folder.mkdir(mode=0o700)
        self.has_disk = INSIDE in os.environ
        if self.has_disk:
            options = ["-t", "tmpfs", "-o", f"size={DISK_MB}m,mode=700", "tmpfs"]
            subprocess.run(["mount", *options, self.disk], check=True)
        self.published = Published(self.folder / "upstream", random.Random(f"{seed} upstream"))
        self.anki = Anki(self.folder / "anki")
        self.database = self.disk / "state" / "onepercent.sqlite3"
        self.checkout = self.disk / "docs" / "klipper"
        self.caller = installed()
        self.service = Service([PYTHON, str(PROJECT / "server.py")], **self.environ())

    def environ(self):
        """The settings of the service and its sessions."""
        home = str(self.folder / "home")
        return {
            **dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"), home),
            "TMPDIR": str(self.temporary),
            "PYTHONDONTWRITEBYTECODE": "1",
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
    def anki_dead(self):
        """Kill Anki in the middle of an action, if one comes soon."""
        self.anki.die_within(random.randint(1, 8), timeout_s=3)
        yield
        self.anki.start()

    @contextmanager
    def anki_hanging(self):
        self.anki.process.send_signal(signal.SIGSTOP)
        yield
        self.anki.process.send_signal(signal.SIGCONT)

    @contextmanager
    def database_locked(self):
        """Hold the write lock of OnePercent's database, in this other process."""
        with closing(sqlite3.connect(self.database, timeout=60, isolation_level=None)) as db:
            with suppress(sqlite3.OperationalError):  # the disk is full as well
                db.execute("BEGIN IMMEDIATE")
            yield

    @contextmanager
    def disk_full(self):
        """Fill the disk to its last block."""
        with open(self.disk / "filling", "wb", buffering=0) as file:
            with suppress(OSError):
                while file.write(bytes(2**16)) == 2**16:
                    """until a write is cut short, or refused"""
            try:
                yield
            finally:
                # Whoever is just being started may have the file open for a moment longer.
                file.truncate(0)
                os.unlink(file.name)

    def close(self):
        if self.anki.process.poll() is None:
            self.anki.end()
        if self.has_disk:
            subprocess.run(["umount", "--lazy", self.disk], check=True)
        shutil.rmtree(self.folder)


# A soak of this length has time for a lock that outlasts the service's patience.
LONG_S = 60


@dataclass(frozen=True)
class Fault:
    """What is broken, for how long, and the errors that excuses; `broken` gives a context manager of a
    world."""

    broken: object
    lasts_s: float
    codes: tuple = ()


FAULTS = {
    "anki dies": Fault(World.anki_dead, 1, ("ANKI_UNREACHABLE", "ANKI_CUT")),
    "anki hangs": Fault(World.anki_hanging, 6, ("ANKI_NO_ANSWER",)),
    "upstream gone": Fault(lambda world: world.published.vanished(), 3, ("UPSTREAM_UNREACHABLE",)),
    # Less than the service waits: no call may fail.
    "database locked briefly": Fault(World.database_locked, 3),
    "database locked for long": Fault(World.database_locked, 17, ("DATABASE_ERROR",)),
    "disk full": Fault(World.disk_full, 3, ("DATABASE_ERROR", "STATE_NOT_WRITABLE", "DISK_FULL")),
}


@dataclass
class Window:
    """When a fault was there, or is there still."""

    fault: str
    began: float
    ended: float = inf

    def excuses(self, code, request):
        """True if the fault explains this error, and was there at some moment of the call."""
        is_then = self.began <= request.ended and self.ended >= request.began
        return is_then and code in FAULTS[self.fault].codes


class Faults:
    """Rounds, each for a thread of its own, that break one thing now and then, in a short soak after shorter
    calms."""

    def __init__(self, world, seed, record, duration_s):
        self.world = world
        self.record = record
        self.chance = random.Random(seed)
        self.pace = min(1, duration_s / 120)
        self.end = time.monotonic() + duration_s
        self.stopping = threading.Event()
        self.windows = []
        rounds = [["anki dies", "anki hangs"], ["upstream gone"], ["database locked briefly"]]
        if duration_s >= LONG_S:
            rounds[-1].append("database locked for long")
        if world.has_disk:
            rounds.append(["disk full"])
        self.rounds = [[partial(self.have, fault) for fault in faults] for faults in rounds]
        # No fault: an upstream as it should be, while it is there.
        self.rounds.append([world.published.publish])

    def go_round(self, steps):
        """Take one step after the other until the time is up, each at least once."""
        number = 0
        while number < len(steps) or time.monotonic() < self.end:
            if self.stopping.wait(self.chance.uniform(2, 10) * self.pace):
                return
            steps[number % len(steps)]()
            number += 1

    def have(self, name):
        fault = FAULTS[name]
        window = Window(name, time.monotonic())
        self.windows.append(window)
        with fault.broken(self.world):
            self.stopping.wait(fault.lasts_s)
        window.ended = time.monotonic()
        self.record.count("faults", name)

    def excuse(self, code, request):
        """The fault that excuses an error; empty if there is none."""
        excuses = [window.fault for window in self.windows if window.excuses(code, request)]
        return excuses[0] if excuses else ""
