"""The database file: opened once per process, read and written in short transactions, copied whole.

Writers wait for each other in sqlite itself (BEGIN IMMEDIATE), across threads and processes; readers never
wait (WAL).
"""

import logging
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from datetime import date
from json import JSONDecodeError
from pathlib import Path

from tools.core import files
from tools.core.leaving import at_leaving
from tools.toolkit import ToolError, state_path

from .. import settings
from ..base import days
from . import Database, migrations, scalar

logger = logging.getLogger(__name__)

# A writer's patience with the others: a transaction takes milliseconds, on a slow card tenths of a second.
BUSY_S = 15

LEAST_FREE_BYTES = 100_000

RESTORE = (
    "Put a backup in its place: `python3 -m tools onepercent restore FILE`, or an export:"
    " `python3 -m tools onepercent import FILE`. What is there now is kept beside it."
)
# By sqlite's texts (sqlite3ErrStr): Python 3.10 gives no result codes.
CAUSES = {
    "is locked": ("Another session has been writing for too long", "Try again in a moment."),
    "disk is full": ("The disk is full", "Make room, then try again."),
    "disk I/O error": (
        "The disk is full, or could not be read or written",
        "Make room, check the disk.",
    ),
    "readonly": ("{file} is read-only", "Make the file and its folder writable."),
    "unable to open": ("{file} cannot be opened", "Make the file and its folder writable."),
    "": ("The database refused the change", "The log (stderr) has the details."),
}

# By process, since a connection must not be used after a fork; path, device, inode: another file may take its
# place. A connection belongs to one call at a time; the next call takes it over, because closing the last one
# rewrites files.
_open_connections: dict[tuple[int, str, int, int], Database] = {}


def path() -> Path:
    """Path of the database file: ONEPERCENT_DB."""
    return state_path(str(settings.current().onepercent_db))


def reading() -> AbstractContextManager[Database]:
    """Open a read transaction: everything read inside is of one moment. Raises ToolError DATABASE_ERROR."""
    return _within("DEFERRED")


def writing(synchronous: str = "FULL") -> AbstractContextManager[Database]:
    """Open a write transaction: committed at the end, rolled back when anything is raised inside. What is
    written NORMAL, such as a preview, may be lost in a power cut until the next `checkpoint_log`. Raises
    ToolError DATABASE_ERROR, also when others have been writing for BUSY_S."""
    return _within("IMMEDIATE", synchronous)


@contextmanager
def applying() -> Iterator[Database]:
    """Open a write transaction as `writing` does, after which a copy of the one file is whole. It is written
    NORMAL, since the checkpoint syncs the log: one fsync less. Raises OSError, too."""
    with writing("NORMAL") as db:
        yield db
    checkpoint_log()


@contextmanager
def _within(mode: str, synchronous: str = "FULL") -> Iterator[Database]:
    with connected(reads_only=mode == "DEFERRED") as db:
        db.execute(f"PRAGMA synchronous = {synchronous}")
        with transaction(db, mode):
            token = days.CLOCK.set(stored_clock(db))
            try:
                yield db
            finally:
                days.CLOCK.reset(token)


def persons_today() -> date:
    """The person's date now, by the clock stored in the database; by the settings if it cannot be read."""
    with suppress(ToolError), reading():
        return days.today()
    return days.today()


def stored_clock(db: Database) -> days.PersonsClock:
    """Read the present user's clock: the settings' zone and hour 0 unless they have set others."""
    statement = "SELECT time_zone, day_start_hour FROM persons WHERE user = ?"
    zone, start_hour = db.execute(statement, (settings.user(),)).fetchone() or (None, 0)
    return days.PersonsClock(zone or settings.current().onepercent_tz, start_hour)


@contextmanager
def connected(reads_only: bool = False) -> Iterator[Database]:
    """Give a connection outside any transaction. `reads_only`: on a full disk it can still read, and be
    copied elsewhere. Raises ToolError DATABASE_ERROR for every error of sqlite inside."""
    file = path()
    try:
        # Asked before it is opened: should another file come in between, the next call opens that one.
        status = ensure_file(file)
        identity = (os.getpid(), str(file), status.st_dev, status.st_ino)
        keeps = True
        try:
            db = _open_connections.pop(identity, None) or open_database(file)
        except sqlite3.OperationalError:
            if not (reads_only and status.st_size and _must_be_read_alone(file)):
                raise
            db = connect(f"{file.absolute().as_uri()}?immutable=1")
            keeps = False
        try:
            yield db
        except sqlite3.Error:
            keeps = False  # The next call opens the file again.
            raise
        finally:
            if not keeps or _open_connections.setdefault(identity, db) is not db:
                db.close()
    except (sqlite3.Error, UnicodeDecodeError, JSONDecodeError, days.Unreadable) as error:
        logger.warning("%s: %s", file, error)
        raise translated(error, file) from error


def _must_be_read_alone(file: Path) -> bool:
    """True if the disk takes no files beside the database, because it is full or a card that turned
    read-only, and the file holds everything without them."""
    disk = os.statvfs(file.parent)
    if disk.f_bavail * disk.f_frsize > LEAST_FREE_BYTES and not disk.f_flag & os.ST_RDONLY:
        return False
    log = Path(f"{file}-wal")
    return not (log.exists() and log.stat().st_size)


def checkpoint_log() -> None:
    """Copy what the write-ahead log holds into the file itself: then all that was committed is on the disk,
    also what was written NORMAL. Raises OSError.

    Waits for nobody: pages that another session is still reading are left to the next checkpoint. The log
    keeps its length, so that the next write need not make the file longer, which costs a second fsync.
    """
    with suppress(ToolError), connected() as db:
        is_busy, pages, copied = db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        if not is_busy and pages == copied:
            return
    # sqlite syncs the log only before it copies.
    with suppress(FileNotFoundError):  # the last one to close the file has copied it
        files.sync(Path(f"{path()}-wal"))


@at_leaving
def release() -> None:
    """Close the connections that this process keeps. The last process to close the file leaves it whole,
    without a log."""
    for identity in list(_open_connections):
        if identity[0] == os.getpid():
            _open_connections.pop(identity).close()


def ensure_file(file: Path) -> os.stat_result:
    """Create an empty file if there is none, which only its owner reads: sqlite gives the files beside it
    the same mode. Raises ToolError DATABASE_ERROR."""
    try:
        if not file.exists():
            files.make_folder_of(file)
            file.touch(mode=0o600)
        return file.stat()
    except OSError as error:
        raise database_error(
            f"{file} cannot be opened: {error.strerror}",
            "Make its folder writable, or point ONEPERCENT_DB elsewhere.",
        ) from error


def connect(file: Path | str) -> Database:
    """Open a bare connection, which leaves transactions to its user; `file` may be a URI."""
    db = sqlite3.connect(
        file,
        timeout=BUSY_S,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
        uri=True,
    )
    db.row_factory = sqlite3.Row
    # Text of a damaged file is read as far as it goes, so that the rest can be seen and exported.
    db.text_factory = lambda data: data.decode(errors="replace")
    return db


def open_database(file: Path) -> Database:
    """Open the database in its newest version, created or migrated if necessary. Raises ToolError
    DATABASE_ERROR: the file is not our database, or it is from a newer version."""
    db = connect(file)
    try:
        version = scalar(db, "PRAGMA user_version")
        check_version(version, file)
        if version < len(migrations.MIGRATIONS) or scalar(db, "PRAGMA journal_mode") != "wal":
            _bring_up_to_date(db, file)
        db.execute("PRAGMA foreign_keys = ON")
    except BaseException:
        db.close()
        raise
    return db


def _bring_up_to_date(db: Database, file: Path) -> None:
    """Migrate in one process while the others wait: sqlite itself does not wait for a change of the journal
    mode."""
    newest = len(migrations.MIGRATIONS)
    with locked(file):
        version = scalar(db, "PRAGMA user_version")
        is_ours = scalar(db, "PRAGMA application_id") == migrations.APPLICATION_ID
        if not is_ours and scalar(db, "SELECT 1 FROM sqlite_master"):
            raise database_error(
                f"{file} is the database of another program",
                "Point ONEPERCENT_DB at a file of its own.",
            )
        if 0 < version < newest:
            save_copy(db, file.with_name(f"{file.name}.before-v{newest}"))
        db.execute("PRAGMA journal_mode = WAL")
        with transaction(db, "IMMEDIATE"):
            migrations.migrate(db)


def check_version(version: int, file: Path) -> None:
    """Raise ToolError DATABASE_ERROR for a file that a later version of this program wrote."""
    if version > len(migrations.MIGRATIONS):
        raise database_error(
            f"{file} was written by a newer version of OnePercent",
            "Update this server. The file was not changed.",
        )


def locked(file: Path):
    """Hold the lock for creating, migrating or replacing the file."""
    return files.exclusive_lock("onepercent", timeout_s=BUSY_S, path=Path(f"{file}.lock"))


@contextmanager
def transaction(db: Database, mode: str = "DEFERRED") -> Iterator[None]:
    """Commit at the end, or roll everything back when anything is raised inside."""
    db.execute(f"BEGIN {mode}")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:  # sqlite itself ends it at some errors, such as a full disk
            db.execute("ROLLBACK")
        raise


def save_copy(db: Database, file: Path) -> None:
    """Copy the whole database as it is at one moment, in place of `file`."""
    with replacing(file) as part:
        copy(db, part)


def copy(db: Database, part: Path) -> None:
    """Copy the whole database into an empty file."""
    with closing(connect(part)) as target:
        db.backup(target)
        target.execute("PRAGMA journal_mode = DELETE")


@contextmanager
def replacing(file: Path) -> Iterator[Path]:
    """Give an empty file, which only its owner reads, that takes the place of `file` once it is whole. Raises
    ToolError DATABASE_ERROR."""
    if file.exists() and not file.is_file():
        raise database_error(f"{file} is not a file", "Name a file; - writes to standard output.")
    try:
        with files.replacing(file) as part:
            yield part
    except OSError as error:
        raise database_error(
            f"{file} cannot be written: {error.strerror}", "Choose a folder that is writable."
        ) from error


class Damaged(ToolError):
    """The file is not a database, or holds what the tools cannot read."""


def database_error(message: str, hint: str) -> ToolError:
    """Error for a database, or a copy of it, that cannot be used."""
    return ToolError(message, hint, "DATABASE_ERROR")


def translated(error: Exception, file: Path) -> ToolError:
    """ToolError for an error of sqlite, or of reading what it gave."""
    reason = str(error)
    # Our own SQL functions fail at values that the tools never wrote.
    if not isinstance(error, sqlite3.Error) or re.search(
        "malformed|not a database|user-defined", reason
    ):
        return Damaged(f"{file} is not a database, or damaged", RESTORE, "DATABASE_ERROR")
    message, advice = next(cause for phrase, cause in CAUSES.items() if phrase in reason)
    return database_error(message.format(file=file), f"Nothing was changed. {advice}")
