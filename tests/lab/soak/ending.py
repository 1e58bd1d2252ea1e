"""What must be so after the soak: everything confirmed is there, everything is sound, nothing is left over."""

import os
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from tests.klipper.upstreams import contents, git
from tests.lab.soak.life import Person
from tests.lab.soak.record import Record
from tests.lab.soak.sessions import Worker
from tests.lab.soak.world import World
from tests.support.services import wait_until


def examine(world: World, workers: list[Worker], record: Record) -> None:
    """Look at the stores themselves, without the service."""
    with closing(sqlite3.connect(world.database)) as db:
        texts = [f"the database: {row}" for row in db.execute("PRAGMA integrity_check") if row != ("ok",)]
        texts += [f"the database: {row}" for row in db.execute("PRAGMA foreign_key_check")]
        texts += [text for worker in workers for text in person(db, worker.person)]
    wanted = Counter(front for worker in workers for front in worker.notes.notes)
    for text in (*texts, *notes(world, wanted), *checkout(world), *leftovers(world)):
        record.complain(f"at the end: {text}")


def person(db: sqlite3.Connection, somebody: Person) -> Iterator[str]:
    """What is there of a person, beside what was confirmed to them."""

    def asked(sql: str) -> list[tuple]:
        return db.execute(f"{sql} WHERE user = ?", (somebody.user,)).fetchall()

    statuses = [status for (status,) in asked("SELECT status FROM previews")]
    [(xp,)] = asked("SELECT total(xp) FROM xp_ledger")
    goals = {goal: title for goal, title, deleted in asked("SELECT id, title, deleted_at FROM goals") if not deleted}
    there, confirmed = (
        (statuses.count("applied"), xp, goals),
        (somebody.applied, somebody.xp, somebody.goals),
    )
    if there != confirmed:
        yield f"{somebody.user} has {there}, confirmed were {confirmed}"


def notes(world: World, wanted: Counter[str]) -> Iterator[str]:
    """The notes in Anki's own collection, opened after Anki ended."""
    from anki.collection import Collection

    world.anki.end()
    collection = Collection(str(world.folder / "anki" / "collection.anki2"))
    try:
        assert collection.db.scalar("pragma integrity_check") == "ok"
        there = Counter(collection.get_note(note_id)["Front"] for note_id in collection.find_notes(""))
    finally:
        collection.close()
    yield from (f"a note that nobody confirmed: {front}" for front in there - wanted)
    yield from (f"a lost note: {front}" for front in wanted - there)


def checkout(world: World) -> Iterator[str]:
    """The checkout is whole, and as the newest commit."""
    try:
        git(world.checkout, "fsck", "--no-dangling")
    except AssertionError as error:
        yield str(error)
    there = {path: text.decode() for path, text in contents(world.checkout / "docs").items()}
    if there != world.published.history[-1]:
        yield "the pages are not those of the newest commit"


def leftovers(world: World) -> Iterator[str]:
    """Sessions, zombies, processes and files that nobody needs any more."""
    try:
        wait_until(lambda: world.service.children() == [])
    except AssertionError:
        yield f"sessions or zombies: {world.service.children()}"
    inside = world.checkout / ".pi-mcp"
    generations = list((inside / "generations").iterdir())  # the one before stays until the next sync
    files = [
        *world.temporary.iterdir(),
        *(path for path in world.checkout.parent.iterdir() if path != world.checkout),
        *(path for path in inside.iterdir() if path.name not in ("current", "generations", "lock")),
        *(generations if len(generations) > 2 else ()),
        *(path for path in world.database.parent.rglob("*") if path.suffix in (".part", ".new")),
    ]
    if files:
        yield f"files: {files[:5]}, {len(files)} in all"
    known = {world.service.process.pid, os.getpid()}
    if strays := sorted(set(_processes(world.folder)) - known):
        yield f"processes: {strays}"


def _processes(folder: Path) -> Iterator[int]:
    """Those whose environment names the folder of this soak."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            state = (process / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
            if state != "Z" and str(folder).encode() in (process / "environ").read_bytes():
                yield int(process.name)
        except OSError:
            continue
