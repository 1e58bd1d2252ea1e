"""Records about Anki in the state folder: small databases, the note of each dedup_key, calls begun and not ended."""

import json
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING

from tools.core.errors import ToolError
from tools.core.json_types import JsonObject, compact_json
from tools.core.settings import state_path

if TYPE_CHECKING:
    from sqlite3 import Connection

PATIENCE_S = 10
"""Time that another session may hold one."""
MOST_KEYS = 50_000
"""Keys kept, newest first: about 3 MB."""
BEGUN_S = 3600
"""So long a call can be finished by the same call made again: later it means something new."""

# An empty profile is of an add-on that does not tell it.
SCHEMA = """
create table if not exists noted (
    id integer primary key, key blob not null, profile text not null, note integer not null, unique (key, profile)
);
create table if not exists begun (call text primary key, kept text not null, at real not null)
"""


@contextmanager
def database(name: str, schema: str, subject: str, hint: str) -> Iterator["Connection"]:
    """The database `name`, made with `schema` if it is not there, and closed afterwards.

    Raises ToolError STATE_NOT_WRITABLE, which calls it `subject`.
    """
    import sqlite3

    path = state_path(name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with closing(sqlite3.connect(path, timeout=PATIENCE_S)) as db:
            path.chmod(0o600)
            db.executescript(schema)
            yield db
    except (sqlite3.Error, OSError) as error:
        raise ToolError(f"{subject}, {path}, cannot be used: {error}", hint, code="STATE_NOT_WRITABLE") from error


def _calls() -> AbstractContextManager["Connection"]:
    hint = "Make its folder writable, or delete the file: keys used before are then forgotten."
    return database("anki-added.sqlite3", SCHEMA, "The record of added notes", hint)


def notes_by_key(keys: Iterable[str]) -> dict[str, dict[str, int]]:
    """By key and by profile of Anki: the note that was added under it."""
    if not (wanted := set(keys)):
        return {}
    query = "select profile, note from noted where key = ?"
    with _calls() as db:
        notes = {key: dict(db.execute(query, (_digest(key),)).fetchall()) for key in wanted}
    return {key: by_profile for key, by_profile in notes.items() if by_profile}


def remember_keys(added: dict[str, int], profile: str = "") -> None:
    """Keep the note of each key in a profile of Anki; the oldest keys beyond MOST_KEYS go."""
    if not added:
        return
    with _calls() as db, db:
        db.executemany(
            "insert or replace into noted (key, profile, note) values (?, ?, ?)",
            [(_digest(key), profile, note) for key, note in added.items()],
        )
        db.execute("delete from noted where id <= (select max(id) from noted) - ?", (MOST_KEYS,))


def _digest(key: str) -> bytes:
    # Half a surrogate in a key is no reason to fail.
    return sha256(key.encode("utf-8", "surrogatepass")).digest()


def begun(call: JsonObject) -> JsonObject | None:
    """The data that `begin` kept for this very call, if it began within the last hour and has not ended."""
    with _calls() as db:
        query = "select kept from begun where call = ? and at > ?"
        row = db.execute(query, (compact_json(call), time.time() - BEGUN_S)).fetchone()
    return json.loads(row[0]) if row else None


def begin(call: JsonObject, kept: JsonObject) -> None:
    """Remember that `call` has begun, with what is needed to finish it: the same call made again does so."""
    with _calls() as db, db:
        db.execute("delete from begun where at < ?", (time.time() - BEGUN_S,))
        db.execute(
            "insert or replace into begun values (?, ?, ?)", (compact_json(call), compact_json(kept), time.time())
        )


def finish(call: JsonObject) -> None:
    """The call has ended."""
    with _calls() as db, db:
        db.execute("delete from begun where call = ?", (compact_json(call),))
