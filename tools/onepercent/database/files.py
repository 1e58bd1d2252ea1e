"""The database file on disk: made, opened in its newest version, copied."""

import os
import struct
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from tools.core import locks
from tools.core.errors import ToolError
from tools.onepercent.database import migrations
from tools.onepercent.database.faults import newer, refused
from tools.onepercent.database.types import Database

BUSY_S = 15
"""How long a writer waits for the others: a transaction takes milliseconds, on a slow card tenths of a second."""

WAL_SIZE_BYTES = 4_000_000
"""What the file of the write-ahead log is cut back to after an import or a very large apply."""

MAGIC = b"SQLite format 3\0"
"""How every database file begins."""

USER_VERSION_AT = 60
"""Where the file's header has PRAGMA user_version, four bytes, big-endian (sqlite.org/fileformat2.html)."""

LENIENT_TEXT = partial(str, encoding="utf-8", errors="replace")
"""Reads text of a damaged file as far as it goes, so that the rest can be seen and exported; the check finds it."""


def open_database(file: Path) -> Database:
    """A connection to the database in its newest version, made or migrated where necessary.

    Raises ToolError DATABASE_ERROR: the file is not a database of ours, or it is one from a newer version.
    """
    if version_in_header(file) > len(migrations.MIGRATIONS):
        raise newer(file)
    _create(file)
    db = connect(file)
    try:
        if not _up_to_date(db):
            _bring_up_to_date(db, file)
        db.execute("PRAGMA synchronous = FULL")
        db.execute(f"PRAGMA journal_size_limit = {WAL_SIZE_BYTES}")
        db.execute("PRAGMA foreign_keys = ON")
    except BaseException:
        db.close()
        raise
    return db


def connect(file: Path) -> Database:
    """A bare connection that leaves transactions to its user."""
    import sqlite3

    db = sqlite3.connect(file, timeout=BUSY_S, isolation_level=None, check_same_thread=False, cached_statements=256)
    db.row_factory = sqlite3.Row
    db.text_factory = LENIENT_TEXT
    return db


def roll_back(db: Database) -> None:
    """Take back what the transaction did, if sqlite has not ended it already."""
    if db.in_transaction:
        db.execute("ROLLBACK")


def version_in_header(file: Path) -> int:
    """The file's version, without sqlite, which would touch the files beside it; 0 if there is none."""
    try:
        with file.open("rb") as stream:
            head = stream.read(USER_VERSION_AT + 4)
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise refused(
            f"{file} cannot be read: {error.strerror}", "Check ONEPERCENT_DB and the file's owner."
        ) from error
    if len(head) < USER_VERSION_AT + 4 or not head.startswith(MAGIC):
        return 0
    return struct.unpack_from(">i", head, USER_VERSION_AT)[0]


def _create(file: Path) -> None:
    """An empty file that only its owner reads; sqlite gives the files beside it the same mode."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not file.exists():
            os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise refused(
            f"{file} cannot be made: {error.strerror}", "Make its folder writable, or point ONEPERCENT_DB elsewhere."
        ) from error


def _up_to_date(db: Database) -> bool:
    version = db.execute("PRAGMA user_version").fetchone()[0]
    return version == len(migrations.MIGRATIONS) and db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"


def _bring_up_to_date(db: Database, file: Path) -> None:
    """One process migrates, the others wait for it: sqlite does not wait where the journal mode changes."""
    with alone(file):
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
            roll_back(db)
            raise


@contextmanager
def alone(file: Path) -> Iterator[None]:
    """Nobody else makes, migrates or replaces the file meanwhile.

    Raises ToolError DATABASE_ERROR.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(locks.exclusive("onepercent", timeout_s=BUSY_S, path=Path(f"{file}.lock")))
        except ToolError as error:
            raise refused(error.message, error.hint) from error
        yield


def _check_ours(db: Database, file: Path) -> None:
    if db.execute("PRAGMA application_id").fetchone()[0] == migrations.APPLICATION_ID:
        return
    if db.execute("SELECT 1 FROM sqlite_master").fetchone():
        raise refused(f"{file} is the database of another program", "Point ONEPERCENT_DB at a file of its own.")


def backup(db: Database, file: Path) -> None:
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
        raise refused(f"{file} cannot be written: {error.strerror}", "Choose a folder that is writable.") from error
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
