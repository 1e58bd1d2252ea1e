"""The dedup_keys of notes that this server has added."""

from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING

from tools.errors import ToolError
from tools.settings import current

if TYPE_CHECKING:
    from sqlite3 import Connection

MOST = 50_000
"""Keys kept, newest first: about 3 MB."""

SCHEMA = "create table if not exists added (id integer primary key, key blob not null unique, note integer not null)"


def notes(keys: Iterable[str]) -> dict[str, int]:
    """The note that was added under each key, where one was."""
    wanted = {_digest(key): key for key in keys}
    if not wanted:
        return {}
    with _using() as db:
        rows = (db.execute("select key, note from added where key = ?", (one,)).fetchone() for one in wanted)
        return {wanted[row[0]]: row[1] for row in rows if row}


def remember(added: dict[str, int]) -> None:
    """Keep the note of each key; the oldest keys beyond MOST go."""
    if not added:
        return
    with _using() as db, db:
        db.executemany(
            "insert or replace into added (key, note) values (?, ?)",
            [(_digest(key), one) for key, one in added.items()],
        )
        db.execute("delete from added where id <= (select max(id) from added) - ?", (MOST,))


def _digest(key: str) -> bytes:
    return sha256(key.encode("utf-8", "surrogatepass")).digest()


@contextmanager
def _using() -> Iterator["Connection"]:
    import sqlite3

    path = current().state_dir / "anki-added.sqlite3"
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with closing(sqlite3.connect(path, timeout=10)) as db:
            db.execute(SCHEMA)
            yield db
    except (sqlite3.Error, OSError) as error:
        raise ToolError(
            f"The record of dedup_keys, {path}, cannot be used: {error}",
            "Make its folder writable, or delete the file: keys used before are then forgotten.",
            code="STATE_NOT_WRITABLE",
        ) from error
