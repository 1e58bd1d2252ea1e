#!/usr/bin/env python3
"""A soak of the resident service: sessions come and go, all systems are used, and around it things break.

usage: .venv-test/bin/python tests/lab/soak [MINUTES] [--seed N] [--workers N]      (default 10 minutes, 4
workers)

Every answer is checked against a model; an error counts as right only while a fault explains it. Prints a
table, and exits 1 for a wrong answer, a lost write, a service that grew, or anything left over. A seed
repeats what the sessions ask; when they are served, and what is broken then, depends on the machine. Needs
`./setup.sh test` to have been run.
"""

import argparse
import os
import random
import signal
import sqlite3
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing, suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from tests.klipper.upstreams import contents, git
from tests.lab.bench.measuring import memory_mib
from tests.lab.soak.docs import texts
from tests.lab.soak.record import Record
from tests.lab.soak.sessions import BAD_SIGNS, Worker
from tests.lab.soak.world import Faults, World, enter
from tests.support.services import wait_until

GROWN_MIB = 1


def main():
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("minutes", type=float, nargs="?", default=10)
    words.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    words.add_argument("--workers", type=int, default=4)
    options = words.parse_args()
    enter()
    # A time zone in which it is noon now: marks are of days, and no day should end in the middle.
    os.environ["TZ"] = f"SOAK{time.gmtime().tm_hour - 12:+d}"
    time.tzset()
    # And so through everything that tidies up.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    return soak(options.minutes * 60, options.seed, options.workers)


def soak(duration_s, seed, count):
    """Run a soak. Exit status 0 if all went well."""
    around = World(seed)
    record = Record()
    print(f"seed {seed}, {count} workers, a disk of its own: {around.has_disk}", flush=True)
    try:
        with around.service as service:
            log = threading.Thread(target=read_log, args=(service.process.stderr, record))
            log.start()
            faults = Faults(around, seed, record, duration_s)
            workers = [
                Worker(f"worker{number}", around, faults, record, seed) for number in range(count)
            ]
            workers[0].converse([workers[0].docs.sync])
            before, handles_before = sizes(service.process.pid)
            run(workers, faults)
            for worker in workers:
                worker.settle()
            workers[0].converse([workers[0].docs.sync])
            examine(around, workers, record)
            after, handles_after = sizes(service.process.pid)
            service.stop()
            log.join()
    finally:
        around.close()
    record.show()
    print(
        f"memory       {before:.1f} → {after:.1f} MiB (at most {GROWN_MIB} more), handles {handles_before} → {handles_after}"
    )
    is_good = not record.wrong and after <= before + GROWN_MIB and handles_after <= handles_before
    return 0 if is_good else 1


def sizes(pid):
    """The memory of the service itself, and its open handles."""
    return memory_mib(pid), len(os.listdir(f"/proc/{pid}/fd"))


def read_log(stream, record):
    """Follow what the service writes to stderr, so that it never waits for room."""
    for line in stream:
        text = line.decode(errors="replace").strip()
        if any(sign in text for sign in (*BAD_SIGNS, "failed")):
            record.complain(f"the service's log: {text}")


def run(workers, faults):
    """Let everything happen at once; the faults end first, so that nobody has to wait for their end."""
    stopping = threading.Event()
    with ThreadPoolExecutor(len(workers) + len(faults.rounds)) as threads:
        using = [threads.submit(worker.keep_going, stopping) for worker in workers]
        breaking = [threads.submit(faults.go_round, steps) for steps in faults.rounds]
        try:
            wait(breaking)
        finally:
            faults.stopping.set()
            wait(breaking)
            stopping.set()
    for future in (*using, *breaking):
        future.result()  # raises what went wrong in the soak itself


def examine(world, workers, record):
    """Look at the stores themselves, without the service."""
    with closing(sqlite3.connect(world.database)) as db:
        damages = [row for row in db.execute("PRAGMA integrity_check") if row != ("ok",)]
        damages += db.execute("PRAGMA foreign_key_check")
        wrong = [f"the database: {row}" for row in damages]
        wrong += [text for worker in workers for text in person(db, worker.person)]
    expected = Counter(front for worker in workers for front in worker.notes.notes)
    for text in (*wrong, *notes(world, expected), *checkout(world), *leftovers(world)):
        record.complain(f"at the end: {text}")


def person(db, somebody):
    """Compare what is stored of a person with what was confirmed to them."""

    def asked(sql):
        return db.execute(sql, (somebody.user,)).fetchall()

    [(applied,)] = asked("SELECT count() FROM previews WHERE status = 'applied' AND user = ?")
    [(xp,)] = asked("SELECT total(xp) FROM xp_ledger WHERE user = ?")
    goals = dict(asked("SELECT id, title FROM goals WHERE deleted_at IS NULL AND user = ?"))
    stored = (applied, xp, goals)
    confirmed = (somebody.applied, somebody.xp, somebody.goals)
    if stored != confirmed:
        yield f"{somebody.user} has {stored}, confirmed were {confirmed}"


def notes(world, expected):
    """Compare the notes in Anki's own collection, opened after Anki ended, with those expected."""
    from anki.collection import Collection

    world.anki.end()
    collection = Collection(str(world.folder / "anki" / "collection.anki2"))
    try:
        assert collection.db.scalar("pragma integrity_check") == "ok"
        present = Counter(
            collection.get_note(note_id)["Front"] for note_id in collection.find_notes("")
        )
    finally:
        collection.close()
    yield from (f"a note that nobody confirmed: {front}" for front in present - expected)
    yield from (f"a lost note: {front}" for front in expected - present)


def checkout(world):
    """Check that the checkout is whole, and has the pages of the newest commit."""
    try:
        git(world.checkout, "fsck", "--no-dangling")
    except AssertionError as error:
        yield str(error)
    if texts(contents(world.checkout / "docs")) != world.published.history[-1]:
        yield "the pages are not those of the newest commit"


def leftovers(world):
    """The remains of the sessions once they had time to end."""
    with suppress(AssertionError):
        wait_until(lambda: not list(remains(world)))
    return list(remains(world))


def remains(world):
    """Sessions, zombies, processes and files that nobody needs any more."""
    if sessions := world.service.children():
        yield f"sessions or zombies: {sessions}"
    inside = world.checkout / ".pi-mcp"
    state = world.database.parent
    files = [*world.temporary.iterdir(), *state.rglob("*.part"), *state.rglob("*.new")]
    files += set(world.checkout.parent.iterdir()) - {world.checkout}
    files += {*inside.iterdir()} - {inside / name for name in ("current", "generations", "lock")}
    # The one before stays until the next sync.
    files += sorted((inside / "generations").iterdir())[:-2]
    if files:
        yield f"files: {files[:5]}, {len(files)} in all"
    known = {world.service.process.pid, os.getpid()}
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has just ended; the environment of a zombie is empty
            is_ours = str(world.folder).encode() in (process / "environ").read_bytes()
            if is_ours and int(process.name) not in known:
                yield f"a process: {process.name}"


if __name__ == "__main__":
    sys.exit(main())
