"""The journal: for each deletion or change what was there before it, so that anki.restore can put it back.

A database in the state folder; the files of deleted media lie beside it.
"""

import json
import time
from collections import Counter
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tools.anki import client, state
from tools.core import calls, settings

if TYPE_CHECKING:
    from sqlite3 import Connection

MOST_ENTRIES = 1000
MOST_BYTES = 50_000_000
"""For notes and cards, and again for media; the oldest entries beyond go."""

SCHEMA = """
create table if not exists journal (
    id integer primary key autoincrement, at integer not null, tool text not null, summary text not null,
    data blob not null, media text
)"""


Schedule = list[int | None]
"""A card's place in the schedule: its id (of a deleted note's card the number of its template), then type,
queue, due, ivl, factor, reps, lapses and left of Anki's table `cards`, and the flags if they are to be put
back too."""


@dataclass
class Note:
    """A note as it was. `deleted` says that the change took the note itself; then `cards` has those that were
    studied."""

    id: int
    model: str
    deck: str
    fields: dict[str, str] = field(default_factory=dict)
    tags: list[str] | None = None
    deleted: bool = False
    cards: list[Schedule] = field(default_factory=list)


@dataclass
class CardStates:
    """The states of cards, as far as a change touched them: suspended or awake, by flag, in the schedule."""

    suspended: list[int] = field(default_factory=list)
    awake: list[int] = field(default_factory=list)
    by_flag: dict[str, list[int]] = field(default_factory=dict)
    schedules: list[Schedule] = field(default_factory=list)


@dataclass
class Before:
    """The things that one change overwrites: notes, decks and states of cards, the file of a deleted medium;
    and the profile of Anki that they are in, if it is known."""

    notes: list[Note] = field(default_factory=list)
    cards_by_deck: dict[str, list[int]] = field(default_factory=dict)
    cards: CardStates = field(default_factory=CardStates)
    filename: str = ""
    content: bytes = b""
    profile: str | None = None
    at: int = 0
    """The second of its entry."""


def write(tool: str, summary: str, before: Before) -> int:
    """Put on record what a change is about to overwrite; the entry's id.

    Raises ToolError STATE_NOT_WRITABLE: without a record nothing is changed.
    """
    if before.profile is None:
        before.profile = client.profile(*client.multi(client.PROFILE))
    data = asdict(before)
    content = data.pop("content")
    del data["at"]
    with _using() as db, db:
        query = "insert into journal (at, tool, summary, data, media) values (?, ?, ?, ?, ?)"
        values = (int(time.time()), tool, summary, json.dumps(data).encode(), before.filename or None)
        entry = db.execute(query, values).lastrowid or 0
        if before.filename:
            _file(entry).parent.mkdir(exist_ok=True, mode=0o700)
            _file(entry).write_bytes(content)
        _forget_old(db)
    return entry


def announce(entry: int, things: str) -> None:
    """Have the answer of this call say how it can be taken back, whatever its shape."""
    calls.follow(f"anki_restore {{entry: {entry}}} puts {things} back")


def last() -> int:
    """The id of the newest entry, 0 if there is none."""
    with _using() as db:
        return db.execute("select coalesce(max(id), 0) from journal").fetchone()[0]


def newest(count: int) -> list[list[int | str]]:
    """The last entries as [id, time, tool, summary], newest first."""
    with _using() as db:
        rows = db.execute(
            "select id, at, tool, summary from journal order by id desc limit ?", (count,)
        ).fetchall()
    return [
        [entry, time.strftime("%Y-%m-%d %H:%M", time.localtime(at)), *texts] for entry, at, *texts in rows
    ]


def read(entry: int) -> Before | None:
    """The content of an entry; None if no entry has this id."""
    with _using() as db:  # as text: sqlite holds no number of more than 63 bits
        row = db.execute("select data, at from journal where id = ?", (str(entry),)).fetchone()
    if row is None:
        return None
    data = json.loads(row[0])
    file = _file(entry)
    content = file.read_bytes() if file.is_file() else b""
    notes = [Note(**note) for note in data.pop("notes")]
    cards = CardStates(**data.pop("cards", {}))
    return Before(notes, cards=cards, content=content, at=row[1], **data)


def _forget_old(db: "Connection") -> None:
    """Keep the newest entries, as many as the limits allow."""
    used_bytes: Counter[bool] = Counter()
    rows = db.execute("select id, length(data) from journal order by id desc").fetchall()
    for number, (entry, size_bytes) in enumerate(rows):
        file = _file(entry)
        has_file = file.is_file()
        used_bytes[has_file] += file.stat().st_size if has_file else size_bytes
        if number and (number >= MOST_ENTRIES or used_bytes[has_file] > MOST_BYTES):
            db.execute("delete from journal where id = ?", (entry,))
            file.unlink(missing_ok=True)


def _file(entry: int) -> Path:
    return settings.current().state_dir / "anki-journal" / f"{entry}.media"


def _using() -> AbstractContextManager["Connection"]:
    hint = "Make its folder writable, or move the file away: what it kept can then not be put back."
    return state.database("anki-journal.sqlite3", SCHEMA, "The journal of changes", hint)
