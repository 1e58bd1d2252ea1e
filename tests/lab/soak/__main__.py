#!/usr/bin/env python3
"""A soak of the resident service: sessions come and go, all systems are used, and around it things break.

usage: .venv-test/bin/python tests/lab/soak [MINUTES] [--seed N] [--workers N]      (default 10 minutes, 4 workers)

Every answer is checked against a model; an error counts as right only while a fault explains it. Prints a table, and
exits 1 for a wrong answer, a lost write, a service that grew, or anything left over. A seed repeats what the sessions
ask; when they are served, and what is broken then, depends on the machine. Needs `./setup.sh test` to have been run.
"""

import argparse
import os
import random
import signal
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from tests.lab.bench.processes import memory_mib
from tests.lab.soak import ending, world
from tests.lab.soak.faults import Faults
from tests.lab.soak.record import Record
from tests.lab.soak.sessions import BAD_SIGNS, Worker

GROWN_MIB = 1


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("minutes", type=float, nargs="?", default=10)
    words.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    words.add_argument("--workers", type=int, default=4)
    options = words.parse_args()
    world.enter()
    # A time zone in which it is noon now: marks are of days, and no day should end in the middle.
    os.environ["TZ"] = f"SOAK{time.gmtime().tm_hour - 12:+d}"
    time.tzset()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # and so through everything that tidies up
    return soak(options.minutes * 60, options.seed, options.workers)


def soak(duration_s: float, seed: int, count: int) -> int:
    """Exit status 0 if all went well."""
    around, record = world.World(seed), Record()
    print(
        f"seed {seed}, {duration_s / 60:g} minutes, {count} workers, a disk of its own: {around.has_disk}", flush=True
    )
    try:
        with around.service as service:
            log = threading.Thread(target=read_log, args=(service.process.stderr, record))
            log.start()
            faults = Faults(around, seed, record, duration_s)
            workers = [Worker(f"worker{number}", around, faults, record, seed) for number in range(count)]
            workers[0].alone(workers[0].docs.sync())
            before, handles = sizes(service.process.pid)
            run(workers, faults)
            for worker in workers:
                worker.settle()
            workers[0].alone(workers[0].docs.sync())
            ending.examine(around, workers, record)
            after, more = sizes(service.process.pid)
            service.stop()
            log.join()
    finally:
        around.close()
    record.show()
    print(f"memory       {before:.1f} → {after:.1f} MiB (at most {GROWN_MIB} more), handles {handles} → {more}")
    return 0 if not record.wrong and after <= before + GROWN_MIB and more <= handles else 1


def sizes(pid: int) -> tuple[float, int]:
    """The memory of the service itself, and its open handles."""
    return memory_mib(pid), len(os.listdir(f"/proc/{pid}/fd"))


def read_log(stream, record: Record) -> None:
    """Follow what the service writes to stderr, so that it never waits for room."""
    for line in stream:
        text = line.decode(errors="replace").strip()
        if any(sign in text for sign in (*BAD_SIGNS, "failed")):
            record.complain(f"the service's log: {text}")


def run(workers: list[Worker], faults: Faults) -> None:
    """Let everything happen at once; the faults end first, so that nobody has to wait for their end."""
    for part in (*workers, faults):
        part.start()
    try:
        faults.last()
    finally:
        for part in (faults, *workers):
            part.stop()


if __name__ == "__main__":
    sys.exit(main())
