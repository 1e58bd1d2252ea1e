"""The journal: for each deletion or change what was there before it, so that anki.restore can put it back.

A database in the state folder; the files of deleted media lie beside it, up to 50 MB in all.
"""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tools.anki import state
from tools.core import settings
from tools.core.json_types import JsonObject

if TYPE_CHECKING:
    from sqlite3 import Connection

MOST_ENTRIES = 1000
MAX_ID = 2**63 - 1
"""The largest number that sqlite holds."""
MOST_BYTES = 50_000_000
"""Of notes and decks, and again of media; the oldest entries beyond go."""

SCHEMA = """
create table if not exists journal (
    id integer primary key autoincrement, at integer not null, tool text not null, summary text not null,
    data blob not null, media text
)"""


@dataclass
class Note:
    """A note as it was. `deleted` says that the change took the note itself."""

    id: int
    model: str
    deck: str
    fields: dict[str, str] = field(default_factory=dict)
    tags: list[str] | None = None
    deleted: bool = False


class Schedule(NamedTuple):
    """Where a card stood in the schedule, in the columns of Anki's table `cards`."""

    card: int
    type: int
    queue: int
    due: int
    ivl: int
    factor: int
    reps: int
    lapses: int
    left: int


@dataclass
class CardStates:
    """How cards stood, as far as a change touched it: suspended or awake, under which flag, where in the schedule."""

    suspended: list[int] = field(default_factory=list)
    awake: list[int] = field(default_factory=list)
    by_flag: dict[str, list[int]] = field(default_factory=dict)
    schedules: list[Schedule] = field(default_factory=list)


@dataclass
class Before:
    """What was there before one change: notes, the deck and state of cards, the file of a deleted medium."""

    notes: list[Note] = field(default_factory=list)
    cards_by_deck: dict[str, list[int]] = field(default_factory=dict)
    cards: CardStates = field(default_factory=CardStates)
    filename: str = ""
    content: bytes = b""


@dataclass(frozen=True)
class Entry:
    """One line of the journal."""

    id: int
    at: str
    tool: str
    summary: str


def write(tool: str, summary: str, before: Before) -> int:
    """Put on record what a change is about to overwrite; the entry's id.

    Raises ToolError STATE_NOT_WRITABLE: without a record nothing is changed.
    """
    data = {
        "notes": [asdict(note) for note in before.notes],
        "cards_by_deck": before.cards_by_deck,
        "cards": asdict(before.cards),
        "filename": before.filename,
    }
    with _using() as db, db:
        query = "insert into journal (at, tool, summary, data, media) values (?, ?, ?, ?, ?)"
        text = json.dumps(data).encode()
        entry = db.execute(query, (int(time.time()), tool, summary, text, before.filename or None)).lastrowid or 0
        if before.filename:
            _file(entry).write_bytes(before.content)
        _forget_old(db)
    return entry


def newest(count: int) -> list[Entry]:
    """The last entries, newest first."""
    with _using() as db:
        rows = db.execute("select id, at, tool, summary from journal order by id desc limit ?", (count,)).fetchall()
    return [Entry(row[0], time.strftime("%Y-%m-%d %H:%M", time.localtime(row[1])), row[2], row[3]) for row in rows]


def read(entry: int) -> Before | None:
    """What an entry keeps; None if no entry has this id."""
    if abs(entry) > MAX_ID:
        return None
    with _using() as db:
        row = db.execute("select data from journal where id = ?", (entry,)).fetchone()
    if row is None:
        return None
    data: JsonObject = json.loads(row[0])
    name = data["filename"]
    content = _file(entry).read_bytes() if name and _file(entry).is_file() else b""
    notes = [Note(**note) for note in data["notes"]]
    return Before(notes, data["cards_by_deck"], _card_states(data.get("cards", {})), name, content)


def _card_states(data: JsonObject) -> CardStates:
    schedules = [Schedule(*row) for row in data.pop("schedules", ())]
    return CardStates(**data, schedules=schedules)


def _forget_old(db: "Connection") -> None:
    """Keep the newest entries, as many as the limits allow."""
    rows = db.execute("select id, length(data), media from journal order by id desc").fetchall()
    data_bytes = media_bytes = 0
    for number, (entry, size, media) in enumerate(rows):
        data_bytes += size
        media_bytes += _file(entry).stat().st_size if media and _file(entry).is_file() else 0
        too_much = media_bytes > MOST_BYTES if media else data_bytes > MOST_BYTES
        if number and (number >= MOST_ENTRIES or too_much):
            db.execute("delete from journal where id = ?", (entry,))
            _file(entry).unlink(missing_ok=True)


def _file(entry: int) -> Path:
    return settings.current().state_dir / "anki-journal" / f"{entry}.media"


@contextmanager
def _using() -> Iterator["Connection"]:
    hint = "Make its folder writable, or move the file away: what it kept can then not be put back."
    with state.database("anki-journal.sqlite3", SCHEMA, "The journal of changes", hint) as db:
        _file(0).parent.mkdir(exist_ok=True, mode=0o700)
        yield db
