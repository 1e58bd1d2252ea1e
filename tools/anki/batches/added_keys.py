"""What this server added: the note of each dedup_key, and notes that were sent and whose answer is not known.

A note goes on record before it is sent, so that the same call made again finds it also after a lost answer.
"""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from tools.anki import state

if TYPE_CHECKING:
    from sqlite3 import Connection

MOST = 50_000
"""Rows kept of each kind, newest first: about 3 MB."""

SCHEMA = """
create table if not exists added (id integer primary key, key blob not null unique, note integer not null);
create table if not exists sent (
    id integer primary key, digest blob not null unique, key blob, deck text not null, model text not null,
    first blob not null
);
create index if not exists sent_key on sent (key);
"""


@dataclass(frozen=True)
class Sent:
    """A note as it went out: what is needed to find it again. `first` is the text of its first field."""

    deck: str
    model: str
    first: str
    key: str = ""

    @property
    def digest(self) -> bytes:
        return _digest("\0".join((self.deck.casefold(), self.model.casefold(), self.first)))


def notes(keys: Iterable[str]) -> dict[str, int]:
    """The note that was added under each key, if one was."""
    wanted = {_digest(key): key for key in keys}
    if not wanted:
        return {}
    with _using() as db:
        rows = (db.execute("select key, note from added where key = ?", (digest,)).fetchone() for digest in wanted)
        return {wanted[row[0]]: row[1] for row in rows if row}


def remember(added: dict[str, int]) -> None:
    """Keep the note of each key; the oldest keys beyond MOST go."""
    if not added:
        return
    with _using() as db, db:
        db.executemany(
            "insert or replace into added (key, note) values (?, ?)",
            [(_digest(key), note) for key, note in added.items()],
        )
        db.execute("delete from added where id <= (select max(id) from added) - ?", (MOST,))


def sending(notes: Iterable[Sent]) -> None:
    """Put notes on record that are about to be sent."""
    with _using() as db, db:
        db.executemany(
            "insert or replace into sent (digest, key, deck, model, first) values (?, ?, ?, ?, ?)",
            [(*_keys(note), note.deck, note.model, _bytes(note.first)) for note in notes],
        )
        db.execute("delete from sent where id <= (select max(id) from sent) - ?", (MOST,))


def unsettled(notes: dict[int, Sent]) -> dict[int, Sent]:
    """By index: the note that an earlier call sent under the same key, or with the same text, and lost sight of."""
    if not notes:
        return {}
    with _using() as db:
        rows = {index: _row(db, note) for index, note in notes.items()}
    return {index: row for index, row in rows.items() if row}


def settled(notes: Iterable[Sent]) -> None:
    """What became of these notes is known."""
    rows = [_keys(note) for note in notes]
    if rows:
        with _using() as db, db:
            db.executemany("delete from sent where digest = ? or key = ?", rows)


def _row(db: "Connection", note: Sent) -> Sent | None:
    query = "select deck, model, first from sent where digest = ? or key = ?"
    row = db.execute(query, _keys(note)).fetchone()
    return Sent(row[0], row[1], row[2].decode("utf-8", "surrogatepass"), note.key) if row else None


def _keys(note: Sent) -> tuple[bytes, bytes | None]:
    return note.digest, _digest(note.key) if note.key else None


def _digest(key: str) -> bytes:
    return sha256(_bytes(key)).digest()


def _bytes(text: str) -> bytes:
    """The text, also with half a surrogate in it, which sqlite refuses as text."""
    return text.encode("utf-8", "surrogatepass")


def _using() -> AbstractContextManager["Connection"]:
    return state.database(
        "anki-added.sqlite3",
        SCHEMA,
        "The record of added notes",
        "Make its folder writable, or delete the file: keys used before are then forgotten.",
    )
