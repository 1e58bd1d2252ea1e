"""What must be so after the soak: everything confirmed is there, everything is sound, nothing is left over."""

import os
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from tests.bench.soaking.life import Person
from tests.bench.soaking.record import Record
from tests.bench.soaking.workers import Worker
from tests.bench.soaking.world import World
from tests.klipper.upstreams import contents, git
from tests.services import wait_until

LIVES = ("goals", "steps", "habits", "diary")


def examine(world: World, workers: list[Worker], persons: list[Person], record: Record) -> None:
    """Look at the stores themselves, without the service."""
    for text in (*database(world, persons), *checkout(world), *notes(world, workers), *leftovers(world)):
        record.complain(f"at the end: {text}")


def database(world: World, persons: list[Person]) -> Iterator[str]:
    """OnePercent's database against the models."""
    with closing(sqlite3.connect(world.database)) as db:
        sound = db.execute("PRAGMA integrity_check").fetchone()[0]
        if sound != "ok" or db.execute("PRAGMA foreign_key_check").fetchall():
            yield f"the database is damaged: {sound}"
        for person in persons:
            applied = "SELECT count(*) FROM previews WHERE user = ? AND status = 'applied'"
            if (there := db.execute(applied, (person.user,)).fetchone()[0]) != person.applied:
                yield f"{person.user} has {there} applied previews, {person.applied} were confirmed"
            total = db.execute("SELECT total(xp) FROM xp_ledger WHERE user = ?", (person.user,)).fetchone()[0]
            if total != person.life.balance:
                yield f"{person.user} has {total} XP, not {person.life.balance}"
            for table in LIVES:
                there = Counter(row[0] for row in db.execute(f"SELECT id FROM {table} WHERE user = ?", (person.user,)))
                if there != Counter(getattr(person.life, table).keys()):
                    yield f"{person.user} has other {table} than were confirmed"


def checkout(world: World) -> Iterator[str]:
    """The checkout is whole, and as the newest commit."""
    try:
        git(world.checkout, "fsck", "--no-dangling")
    except AssertionError as error:
        yield str(error)
    there = {path: text.decode() for path, text in contents(world.checkout / "docs").items()}
    if there != world.published.history[-1]:
        yield "the pages are not those of the newest commit"


def notes(world: World, workers: list[Worker]) -> Iterator[str]:
    """Anki's own collection, opened after Anki ended: every owner's notes once, and no others."""
    from anki.collection import Collection

    world.anki.end()
    collection = Collection(str(world.folder / "anki" / "collection.anki2"))
    try:
        there = Counter(collection.get_note(one)["Front"] for one in collection.find_notes(""))
        wanted = Counter(front for worker in workers for front in worker.notes.notes)
        if there != wanted:
            yield f"notes in Anki and not confirmed: {there - wanted}; confirmed and not in Anki: {wanted - there}"
        if collection.db.scalar("pragma integrity_check") != "ok":
            yield "Anki's collection is damaged"
    finally:
        collection.close()


def leftovers(world: World) -> Iterator[str]:
    """Sessions, zombies, processes and files that nobody needs any more."""
    try:
        wait_until(lambda: world.service.children() == [])
    except AssertionError:
        yield f"sessions or zombies are left: {world.service.children()}"
    if files := sorted(one.name for one in world.temporary.iterdir()):
        yield f"temporary files are left: {files[:5]}, {len(files)} in all"
    beside = sorted(one.name for one in world.checkout.parent.iterdir() if one != world.checkout)
    if beside != [f".{world.checkout.name}.lock"]:
        yield f"beside the checkout is {beside}"
    if inside := [one.name for one in (world.checkout / ".git" / "objects" / "pack").glob("*tmp*")]:
        yield f"half a pack is left: {inside}"
    if parts := [one.name for one in (world.state / "state").rglob("*") if one.suffix in (".part", ".new")]:
        yield f"half a file is left: {parts}"
    known = {world.service.process.pid, os.getpid()}
    if strays := sorted(set(_processes(world.folder)) - known):
        yield f"processes are left: {strays}"


def _processes(folder: Path) -> Iterator[int]:
    """Those whose environment names the folder of this soak."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            state = (process / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
            if state != "Z" and str(folder).encode() in (process / "environ").read_bytes():
                yield int(process.name)
        except OSError:
            continue
