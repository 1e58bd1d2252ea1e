#!/usr/bin/env python3
"""A soak of the resident service: sessions come and go, all systems are used, and around it things break.

usage: .venv-test/bin/python tests/lab/soak [MINUTES] [--seed N] [--workers N]      (default 10 minutes, 4 workers)

Every answer is checked against a model; an error counts as right only while a fault explains it. Prints a table, and
exits 1 for a wrong answer, a lost write, a service that grew, a process above its bound, or anything left over. A seed repeats what the sessions
ask; when they are served, and what is broken then, depends on the machine. Needs `./setup.sh test` to have been run.
"""

import argparse
import os
import random
import signal
import sys
import time
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(PROJECT))

from tests.lab.soak import disk  # noqa: E402

WARM_S = 60

if __name__ == "__main__":
    disk.enter()

from tests.lab.soak import ending, report  # noqa: E402
from tests.lab.soak.faults import Faults  # noqa: E402
from tests.lab.soak.record import Record  # noqa: E402
from tests.lab.soak.sessions import Judge  # noqa: E402
from tests.lab.soak.watching import Watching  # noqa: E402
from tests.lab.soak.workers import Worker  # noqa: E402
from tests.lab.soak.world import World  # noqa: E402


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("minutes", type=float, nargs="?", default=10)
    words.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    words.add_argument("--workers", type=int, default=4)
    options = words.parse_args()
    settle_day()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # and so through everything that tidies up
    return soak(options.minutes * 60, options.seed, options.workers)


def settle_day() -> None:
    """A time zone in which it is noon now: marks are of days, and no day should end in the middle."""
    os.environ["TZ"] = f"SOAK{time.gmtime().tm_hour - 12:+d}"
    time.tzset()


def soak(duration_s: float, seed: int, count: int) -> int:
    """Exit status 0 if all went well."""
    world, record = World(seed), Record()
    print(
        f"seed {seed}, {duration_s / 60:g} minutes, {count} workers, a disk of its own: {bool(world.disk)}", flush=True
    )
    try:
        with world.service as service:
            log = report.Log(service.process.stderr)
            watching = Watching(service.process.pid)
            faults = Faults(world, seed, record, duration_s)
            judge = Judge(faults, record)
            workers = [Worker(f"worker{number}", world, judge, record, seed) for number in range(count)]
            workers[0].sync()
            run([watching, *workers], faults)
            for worker in workers:
                worker.settle()
            workers[0].sync()
            ending.examine(world, workers, record)
            watching.take()
            service.stop()
            log.thread.join()
    finally:
        world.close()
    for line in log.bad:
        record.complain(f"the service's log: {line}")
    return 0 if report.show(record, watching, min(WARM_S, duration_s / 10)) else 1


def run(parts: list, faults: Faults) -> None:
    """Let everything happen at once; the faults end first, so that nobody has to wait for their end."""
    for part in (*parts, faults):
        part.start()
    try:
        faults.last()
    finally:
        for part in (faults, *reversed(parts)):
            part.stop()


if __name__ == "__main__":
    sys.exit(main())
