"""The database file: opened once a process, read and written in short transactions.

Writers are put in order by sqlite itself (BEGIN IMMEDIATE), across threads and processes; readers never wait (WAL).
Connections belong to one call at a time and are kept for the next one, because closing the last one rewrites files.
"""

import atexit
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tools.core.errors import ToolError
from tools.core.leaving import at_leaving
from tools.core.settings import state_path
from tools.onepercent import days, settings
from tools.onepercent.database import faults, files
from tools.onepercent.database.files import roll_back
from tools.onepercent.database.types import Database

logger = logging.getLogger(__name__)

KEPT = 2
"""Connections kept open."""

CHECKPOINT_PATIENCE_S = 0.2
"""How long a checkpoint waits for other sessions: whoever comes next does what is left."""

MAX_OPENINGS = 5
"""How often a file is opened again that was replaced while it was being opened."""


@dataclass(frozen=True)
class Connection:
    """An open connection and the file it was opened on: path, device and inode."""

    db: Database
    identity: tuple[str | int | None, ...]


_kept: dict[int, list[Connection]] = {}
"""By process: a connection must not be used after a fork."""


def path() -> Path:
    """The database file: ONEPERCENT_DB."""
    return state_path(str(settings.current().onepercent_db))


@contextmanager
def reading() -> Iterator[Database]:
    """A read transaction: everything read inside is of one moment.

    Raises ToolError DATABASE_ERROR.
    """
    with connected() as db:
        db.execute("BEGIN")
        try:
            yield db
        finally:
            roll_back(db)


@contextmanager
def writing(patience_s: float | None = None) -> Iterator[Database]:
    """A write transaction: committed at the end, rolled back when anything is raised inside.

    Raises ToolError DATABASE_ERROR, also when others have been writing for `patience_s` (files.BUSY_S by default).
    """
    with connected() as db:
        db.execute(f"PRAGMA busy_timeout = {round((patience_s or files.BUSY_S) * 1000)}")
        db.execute("BEGIN IMMEDIATE")
        try:
            yield db
            db.execute("COMMIT")
        except BaseException:
            roll_back(db)
            raise


@contextmanager
def connected() -> Iterator[Database]:
    """A connection outside any transaction.

    Raises ToolError DATABASE_ERROR for every error of sqlite inside.
    """
    import sqlite3

    file = path()
    try:
        connection = _take(file)
        try:
            yield connection.db
        except (sqlite3.Error, UnicodeDecodeError, days.Unreadable):
            connection.db.close()
            raise
        except BaseException:
            _give_back(connection)
            raise
        _give_back(connection)
    except (sqlite3.Error, UnicodeDecodeError, days.Unreadable) as error:
        logger.warning("%s: %s", file, error if isinstance(error, sqlite3.Error) else type(error).__name__)
        raise faults.translated(error, file) from error


def _take(file: Path) -> Connection:
    kept = _kept.setdefault(os.getpid(), [])
    identity = _identity(file)
    while connection := _pop(kept):
        if connection.identity == identity:
            return connection
        connection.db.close()
    return _opened(file)


def _opened(file: Path) -> Connection:
    """A new connection to what lies at `file` now: another session may restore a backup at this moment."""
    for _ in range(MAX_OPENINGS):
        before = _identity(file)
        db = files.open_database(file)
        if before == _identity(file) or (before[1] is None and files.version_in_header(file)):
            break
        db.close()
    return Connection(db, _identity(file))


def _pop(kept: list[Connection]) -> Connection | None:
    try:
        return kept.pop()
    except IndexError:  # Another thread took the last one.
        return None


def _give_back(connection: Connection) -> None:
    kept = _kept.setdefault(os.getpid(), [])
    if len(kept) < KEPT and not connection.db.in_transaction:
        kept.append(connection)
    else:
        connection.db.close()


def _identity(file: Path) -> tuple[str | int | None, ...]:
    try:
        status = file.stat()
    except OSError:
        return (str(file), None)
    return (str(file), status.st_dev, status.st_ino)


def checkpoint() -> None:
    """Copy what the write-ahead log holds into the file itself: a copy of that one file is then whole.

    Waits for nobody: what another session still reads around is left to the next checkpoint. The log keeps its length,
    so that the next write need not make the file longer, which costs a second fsync.
    """
    with suppress(ToolError), connected() as db:
        db.execute("PRAGMA wal_checkpoint(PASSIVE)")


def empty_log() -> None:
    """The same, and leave no log that could be mistaken for that of another file put in this one's place."""
    with suppress(ToolError), connected() as db:
        db.execute(f"PRAGMA busy_timeout = {round(CHECKPOINT_PATIENCE_S * 1000)}")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.execute(f"PRAGMA busy_timeout = {files.BUSY_S * 1000}")


def release() -> None:
    """Close the connections kept by this process."""
    for connection in _kept.pop(os.getpid(), []):
        connection.db.close()


@at_leaving
def leave(status: int = 0) -> None:
    """What a process that has used the database does before it ends."""
    if os.getpid() in _kept:
        empty_log()
        release()


atexit.register(leave, 0)
