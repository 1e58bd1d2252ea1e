"""The database file: opened once a process, read and written in short transactions.

Writers are put in order by sqlite itself (BEGIN IMMEDIATE), across threads and processes; readers never wait (WAL).
Connections belong to one call at a time and are kept for the next one, because closing the last one rewrites files.
"""

import atexit
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools import settings
from tools.onepercent import faults, files

logger = logging.getLogger(__name__)

KEPT = 2
"""Connections kept open."""


@dataclass(frozen=True)
class Connection:
    """An open connection and the file it was opened on: path, device and inode."""

    db: Any
    identity: tuple[Any, ...]


_kept: dict[int, list[Connection]] = {}
"""By process: a connection must not be used after a fork."""


def path() -> Path:
    """The database file: ONEPERCENT_DB."""
    now = settings.current()
    return now.state_dir / now.onepercent_db


@contextmanager
def reading() -> Iterator[Any]:
    """A read transaction: everything read inside is of one moment.

    Raises ToolError DATABASE_ERROR.
    """
    with connected() as db:
        db.execute("BEGIN")
        try:
            yield db
        finally:
            _end(db, "ROLLBACK")


@contextmanager
def writing(patience_s: float | None = None) -> Iterator[Any]:
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
            _end(db, "ROLLBACK")
            raise


def _end(db: Any, statement: str) -> None:
    if db.in_transaction:
        db.execute(statement)


@contextmanager
def connected() -> Iterator[Any]:
    """A connection outside any transaction.

    Raises ToolError DATABASE_ERROR for every error of sqlite inside.
    """
    import sqlite3

    file = path()
    try:
        connection = _take(file)
        try:
            yield connection.db
        except sqlite3.Error:
            connection.db.close()
            raise
        except BaseException:
            _give_back(connection)
            raise
        _give_back(connection)
    except sqlite3.Error as error:
        logger.warning("%s: %s", file, error)
        raise faults.translated(error, file) from error


def _take(file: Path) -> Connection:
    kept = _kept.setdefault(os.getpid(), [])
    wanted = _identity(file)
    while connection := _pop(kept):
        if connection.identity == wanted:
            return connection
        connection.db.close()
    db = files.open_database(file)
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


def _identity(file: Path) -> tuple[Any, ...]:
    try:
        found = file.stat()
    except OSError:
        return (str(file), None)
    return (str(file), found.st_dev, found.st_ino)


def release() -> None:
    """Close the connections kept by this process."""
    for connection in _kept.pop(os.getpid(), []):
        connection.db.close()


atexit.register(release)
