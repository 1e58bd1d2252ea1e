"""The state folder's records about Anki: the note of each dedup_key, and data kept for an hour."""

import json
import time
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from tools.toolkit import ToolError, compact_json, make_folder_of, state_path

if TYPE_CHECKING:
    from sqlite3 import Connection

# Time to wait while another session writes.
BUSY_TIMEOUT_S = 10
# Seconds in which the same call, made again, finishes the first one; later it means something new.
REMEMBERED_S = 3600

# `profile` is empty if the add-on does not name it; `call` names something remembered for an hour.
NOTES_SCHEMA = """
create table if not exists noted (
    id integer primary key, key blob not null, profile text not null, note integer not null, unique (key, profile)
);
create table if not exists begun (call text primary key, kept text not null, at real not null)
"""


@contextmanager
def open_records(name: str, schema: str) -> Iterator["Connection"]:
    """Open a database of the state folder, made with `schema` if it is not there; it is closed afterwards.

    Raises ToolError STATE_NOT_WRITABLE.
    """
    import sqlite3

    path = state_path(name)
    try:
        make_folder_of(path)
        with closing(sqlite3.connect(path, timeout=BUSY_TIMEOUT_S)) as db:
            path.chmod(0o600)
            # A commit removes sqlite's journal; with less than EXTRA a power cut may bring it back, and with
            # it the state before.
            db.execute("pragma synchronous = extra")
            db.executescript(schema)
            yield db
    except (sqlite3.Error, OSError) as error:
        raise ToolError(
            f"{path} cannot be used: {error}",
            "Make its folder writable, or move the file away: what it recorded is then lost.",
            "STATE_NOT_WRITABLE",
        ) from error


_open_notes = partial(open_records, "anki-added.sqlite3", NOTES_SCHEMA)


def notes_by_key(keys: Collection[str], profile: str) -> dict[str, int]:
    """Notes added under these keys in this profile of Anki, or while the profile's name was not known."""
    notes = {}
    if keys:
        # The row of the profile itself comes last and counts.
        query = "select note from noted where key = ? and profile in (?, '') order by profile"
        with _open_notes() as db:
            for key in keys:
                for (note,) in db.execute(query, (_digest(key), profile)):
                    notes[key] = note
    return notes


def remember_keys(added: dict[str, int], profile: str) -> None:
    """Record the note of each key in a profile of Anki."""
    if not added:
        return
    with _open_notes() as db, db:
        db.executemany(
            "insert or replace into noted (key, profile, note) values (?, ?, ?)",
            [(_digest(key), profile, note) for key, note in added.items()],
        )


def _digest(key: str) -> bytes:
    # Half a surrogate in a key is no reason to fail.
    from hashlib import sha256  # here, for its 3.4 MiB of OpenSSL

    return sha256(key.encode("utf-8", "surrogatepass")).digest()


def recall(subject: str) -> Any:
    """Return the data remembered under this name within the last hour, or None."""
    with _open_notes() as db:
        since = time.time() - REMEMBERED_S
        row = db.execute(
            "select kept from begun where call = ? and at > ?", (subject, since)
        ).fetchone()
    return json.loads(row[0]) if row else None


def remember(subject: str, data: object) -> None:
    """Keep data under a name for an hour, in place of earlier data."""
    with _open_notes() as db, db:
        db.execute(
            "insert or replace into begun values (?, ?, ?)",
            (subject, compact_json(data), time.time()),
        )
