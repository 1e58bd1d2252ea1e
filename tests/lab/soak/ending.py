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
from tests.lab.soak.workers import Worker
from tests.lab.soak.world import World
from tests.support.services import wait_until


def examine(world: World, workers: list[Worker], record: Record) -> None:
    """Look at the stores themselves, without the service."""
    persons = [worker.person for worker in workers]
    with closing(sqlite3.connect(world.database)) as db:
        wrong = [*sound(db), *(text for somebody in persons for text in person(db, somebody))]
        lost = [text for somebody in persons for text in unwritten(db, somebody)]
    there, wanted = notes(world), Counter(front for worker in workers for front in worker.notes.notes)
    for text in (
        *wrong,
        *checkout(world),
        *leftovers(world, record.sessions["session killed"]),
        *map("a note that nobody confirmed: {}".format, there - wanted),
    ):
        record.complain(f"at the end: {text}")
    for text in (*lost, *map("the note {}".format, wanted - there)):
        record.lost(f"at the end: {text}")


def sound(db: sqlite3.Connection) -> Iterator[str]:
    """OnePercent's database by itself."""
    verdict = db.execute("PRAGMA integrity_check").fetchone()[0]
    if verdict != "ok" or db.execute("PRAGMA foreign_key_check").fetchall():
        yield f"the database is damaged: {verdict}"


def person(db: sqlite3.Connection, somebody: Person) -> Iterator[str]:
    """What is there of a person and was never confirmed."""
    if (there := _applied(db, somebody)) > somebody.applied:
        yield f"{somebody.user} has {there} applied previews, {somebody.applied} were confirmed"
    total = db.execute("SELECT total(xp) FROM xp_ledger WHERE user = ?", (somebody.user,)).fetchone()[0]
    if total != somebody.xp:
        yield f"{somebody.user} has {total} XP, not {somebody.xp}"
    if more := _goals(db, somebody) - somebody.goals.items():
        yield f"{somebody.user} has goals that nobody confirmed: {more}"


def unwritten(db: sqlite3.Connection, somebody: Person) -> Iterator[str]:
    """What was confirmed to a person and is not there."""
    if (there := _applied(db, somebody)) < somebody.applied:
        yield f"{somebody.applied - there} of the {somebody.applied} previews applied for {somebody.user}"
    if less := somebody.goals.items() - _goals(db, somebody):
        yield f"goals of {somebody.user}: {less}"


def _applied(db: sqlite3.Connection, somebody: Person) -> int:
    counted = "SELECT count(*) FROM previews WHERE user = ? AND status = 'applied'"
    return db.execute(counted, (somebody.user,)).fetchone()[0]


def _goals(db: sqlite3.Connection, somebody: Person) -> set[tuple[int, str]]:
    return set(db.execute("SELECT id, title FROM goals WHERE user = ? AND deleted_at IS NULL", (somebody.user,)))


def checkout(world: World) -> Iterator[str]:
    """The checkout is whole, and as the newest commit."""
    try:
        git(world.checkout, "fsck", "--no-dangling")
    except AssertionError as error:
        yield str(error)
    there = {path: text.decode() for path, text in contents(world.checkout / "docs").items()}
    if there != world.published.history[-1]:
        yield "the pages are not those of the newest commit"


def notes(world: World) -> Counter[str]:
    """The fronts of the notes in Anki's own collection, opened after Anki ended."""
    from anki.collection import Collection

    world.anki.end()
    collection = Collection(str(world.folder / "anki" / "collection.anki2"))
    try:
        assert collection.db.scalar("pragma integrity_check") == "ok"
        return Counter(collection.get_note(note_id)["Front"] for note_id in collection.find_notes(""))
    finally:
        collection.close()


def leftovers(world: World, killed: int) -> Iterator[str]:
    """Sessions, zombies, processes and files that nobody needs any more."""
    try:
        wait_until(lambda: world.service.children() == [])
    except AssertionError:
        yield f"sessions or zombies are left: {world.service.children()}"
    files = sorted(path.name for path in world.temporary.iterdir())
    if len(files) > killed:  # nobody tidies up after kill -9
        yield f"temporary files are left: {files[:5]}, {len(files)} in all"
    beside = sorted(path.name for path in world.checkout.parent.iterdir() if path != world.checkout)
    if beside:
        yield f"beside the checkout is {beside}"
    inside = sorted(path.name for path in (world.checkout / ".pi-mcp").iterdir())
    generations = len(list((world.checkout / ".pi-mcp/generations").iterdir()))
    if inside != ["current", "generations", "lock"] or generations > 2:  # the one before stays until the next sync
        yield f"{generations} generations of pages are left, and {inside}"
    if parts := [path.name for path in (world.state / "state").rglob("*") if path.suffix in (".part", ".new")]:
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
