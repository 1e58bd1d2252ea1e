"""The database file: opened once a process, read and written in short transactions.

Writers are put in order by sqlite itself (BEGIN IMMEDIATE), across threads and processes; readers never wait (WAL).
Connections belong to one call at a time and are kept for the next one, because closing the last one rewrites files.
"""

import logging
import os
import struct
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools import locks, settings
from tools.errors import ToolError
from tools.onepercent import migrations

logger = logging.getLogger(__name__)

BUSY_S = 15
"""How long a writer waits for the others: a transaction takes milliseconds, on a slow card tenths of a second."""

KEPT = 2
"""Connections kept open."""

USER_VERSION_AT = 60
"""Where the file's header has PRAGMA user_version, four bytes, big-endian (sqlite.org/fileformat2.html)."""


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

    Raises ToolError DATABASE_ERROR, also when others have been writing for `patience_s` (BUSY_S by default).
    """
    with connected() as db:
        db.execute(f"PRAGMA busy_timeout = {round((patience_s or BUSY_S) * 1000)}")
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
        _give_back(connection)
    except sqlite3.Error as error:
        logger.warning("%s: %s", file, error)
        raise translated(error, file) from error


def _take(file: Path) -> Connection:
    kept = _kept.setdefault(os.getpid(), [])
    wanted = _identity(file)
    while connection := _pop(kept):
        if connection.identity == wanted:
            return connection
        connection.db.close()
    db = open_database(file)
    return Connection(db, _identity(file))


def _pop(kept: list[Connection]) -> Connection | None:
    try:
        return kept.pop()
    except IndexError:  # Another thread took the last one.
        return None


def _give_back(connection: Connection) -> None:
    kept = _kept.setdefault(os.getpid(), [])
    if len(kept) < KEPT:
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


def open_database(file: Path) -> Any:
    """A connection to the database in its newest version, made or migrated where necessary.

    Raises ToolError DATABASE_ERROR: the file is no database of ours, or one from a newer version.
    """
    if version_in_header(file) > len(migrations.MIGRATIONS):
        raise newer(file)
    _create(file)
    db = connect(file)
    try:
        if not _up_to_date(db):
            _bring_up_to_date(db, file)
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA foreign_keys = ON")
    except BaseException:
        db.close()
        raise
    return db


def connect(file: Path) -> Any:
    """A bare connection that leaves transactions to its user."""
    import sqlite3

    db = sqlite3.connect(file, timeout=BUSY_S, isolation_level=None, check_same_thread=False, cached_statements=256)
    db.row_factory = sqlite3.Row
    return db


def version_in_header(file: Path) -> int:
    """The file's version, without sqlite, which would touch the files beside it; 0 where there is none."""
    try:
        with file.open("rb") as stream:
            head = stream.read(USER_VERSION_AT + 4)
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise _refused(
            f"{file} cannot be read: {error.strerror}", "Check ONEPERCENT_DB and the file's owner."
        ) from error
    return struct.unpack_from(">i", head, USER_VERSION_AT)[0] if len(head) >= USER_VERSION_AT + 4 else 0


def _create(file: Path) -> None:
    """An empty file that only its owner reads; sqlite gives the files beside it the same mode."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not file.exists():
            os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise _refused(
            f"{file} cannot be made: {error.strerror}", "Make its folder writable, or point ONEPERCENT_DB elsewhere."
        ) from error


def _up_to_date(db: Any) -> bool:
    version = db.execute("PRAGMA user_version").fetchone()[0]
    return version == len(migrations.MIGRATIONS) and db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"


def _bring_up_to_date(db: Any, file: Path) -> None:
    """One process migrates, the others wait for it: sqlite does not wait where the journal mode changes."""
    with _alone(file):
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version > len(migrations.MIGRATIONS):
            raise newer(file)
        _check_ours(db, file)
        if 0 < version < len(migrations.MIGRATIONS):
            backup(db, file.with_name(f"{file.name}.before-v{len(migrations.MIGRATIONS)}"))
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("BEGIN IMMEDIATE")
        try:
            migrations.migrate(db)
            db.execute("COMMIT")
        except BaseException:
            _end(db, "ROLLBACK")
            raise


@contextmanager
def _alone(file: Path) -> Iterator[None]:
    with ExitStack() as stack:
        try:
            stack.enter_context(locks.exclusive("onepercent", timeout_s=BUSY_S, path=Path(f"{file}.lock")))
        except ToolError as error:
            raise _refused(error.message, error.hint) from error
        yield


def _check_ours(db: Any, file: Path) -> None:
    if db.execute("PRAGMA application_id").fetchone()[0] == migrations.APPLICATION_ID:
        return
    if db.execute("SELECT 1 FROM sqlite_master").fetchone():
        raise _refused(f"{file} is the database of another program", "Point ONEPERCENT_DB at a file of its own.")


def backup(db: Any, file: Path) -> None:
    """A copy of the whole database as it is at one moment, in place of `file`, complete or not at all."""
    import sqlite3

    part = file.with_name(f"{file.name}.{os.getpid()}.part")
    try:
        os.close(os.open(part, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600))
        copy = sqlite3.connect(part, isolation_level=None)
        try:
            db.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")
        finally:
            copy.close()
        settle(part, file)
    except OSError as error:
        raise _refused(f"{file} cannot be written: {error.strerror}", "Choose a folder that is writable.") from error
    finally:
        part.unlink(missing_ok=True)


def settle(part: Path, file: Path) -> None:
    """Move a finished file to its place so that it survives a power cut."""
    _sync(part)
    part.replace(file)
    _sync(file.parent)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def newer(file: Path) -> ToolError:
    """The error of a file that a later version of this program wrote."""
    return _refused(
        f"{file} was written by a newer version of OnePercent", "Update this server. The file was not touched."
    )


def _refused(message: str, hint: str) -> ToolError:
    return ToolError(message, hint, code="DATABASE_ERROR")


def translated(error: Any, file: Path) -> ToolError:
    """An error of sqlite in words of what happened and what to do."""
    import sqlite3

    found = {
        sqlite3.SQLITE_BUSY: (
            "Another session has been writing for too long",
            "Nothing was changed. Try again in a moment.",
        ),
        sqlite3.SQLITE_LOCKED: ("Another session is writing", "Nothing was changed. Try again in a moment."),
        sqlite3.SQLITE_FULL: ("The disk is full", "Nothing was changed. Make room, then try again."),
        sqlite3.SQLITE_IOERR: (
            "The disk could not be read or written",
            "Nothing was changed. Check the disk and its free space.",
        ),
        sqlite3.SQLITE_READONLY: (
            f"{file} is read-only",
            "Nothing was changed. Make the file and its folder writable.",
        ),
        sqlite3.SQLITE_CANTOPEN: (f"{file} cannot be opened", "Make the file and its folder readable and writable."),
        sqlite3.SQLITE_CORRUPT: (f"{file} is damaged", RESTORE),
        sqlite3.SQLITE_NOTADB: (f"{file} is no database, or damaged", RESTORE),
    }.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)
    message, hint = found or (
        "The database refused the change",
        "Nothing was changed. The log (stderr) has the details.",
    )
    return _refused(message, hint)


RESTORE = (
    "Stop the server and move the file aside; then copy a backup in its place, or fill a new one with"
    " `python3 -m tools onepercent import FILE`."
)
