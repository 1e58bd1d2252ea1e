"""Another database in place of the present one, for sessions that are open too; what was there is kept beside it."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.registry import command
from tools.onepercent import days, health
from tools.onepercent.database import faults, files, migrations, store
from tools.onepercent.database.types import Database
from tools.onepercent.habits import histories

BESIDE = ("-wal", "-shm", "-journal")
"""The files that sqlite keeps beside a database."""


@command("restore")
def restore(file: str) -> JsonObject:
    """Put a backup in place of the database; a copy of what was there is kept beside it."""
    source = Path(file).expanduser()
    if store.path().exists() and source.exists() and source.samefile(store.path()):
        raise _refused(f"{source} is the database itself", "Name a file that `backup` wrote.")
    with _checked_copy(source) as fresh:
        kept = keep_present("restore")
        replace(fresh)
    return {"file": str(source), "database": str(store.path()), **({"kept": str(kept)} if kept else {})}


@contextmanager
def _checked_copy(source: Path) -> Iterator[Database]:
    """The backup, copied, migrated and checked; nothing is written beside the backup itself."""
    import sqlite3

    with part_of_database("restore") as part:
        _copy(source, part)
        db = files.connect(part)
        try:
            _check_ours(db, source)
            db.execute("PRAGMA journal_mode = DELETE")
            db.execute("BEGIN IMMEDIATE")
            migrations.migrate(db)
            histories.settle_all(db, days.today(days.now()))
            db.execute("COMMIT")
            if faulty := health.faults_of(db):
                raise ValueError(faulty[0])
            yield db
        except (sqlite3.Error, ValueError) as error:
            raise _refused(
                f"{source} is not a sound backup: {error}", "Name another one. Nothing was changed."
            ) from error
        finally:
            db.close()


@contextmanager
def part_of_database(purpose: str) -> Iterator[Path]:
    """An empty file beside the database, for the owner alone, which is gone afterwards."""
    file = store.path()
    part = file.with_name(f"{file.name}.{os.getpid()}.{purpose}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(part, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise _refused(f"{part} cannot be written: {error.strerror}", "Make its folder writable.") from error
    try:
        yield part
    finally:
        for name in ("", *BESIDE):
            Path(f"{part}{name}").unlink(missing_ok=True)


def _copy(source: Path, part: Path) -> None:
    try:
        shutil.copyfile(source, part)
        if Path(f"{source}-wal").exists():
            shutil.copyfile(f"{source}-wal", f"{part}-wal")
    except OSError as error:
        raise _refused(f"{source} cannot be read: {error.strerror}", "Name a file that `backup` wrote.") from error


def _check_ours(db: Database, source: Path) -> None:
    if db.execute("PRAGMA user_version").fetchone()[0] > len(migrations.MIGRATIONS):
        raise faults.newer(source)
    if db.execute("PRAGMA application_id").fetchone()[0] != migrations.APPLICATION_ID:
        raise _refused(
            f"{source} is not a database of OnePercent", "A JSON export is for `import`. Nothing was changed."
        )


def keep_present(reason: str) -> Path | None:
    """A copy of the present database, if there is something in it; of a damaged one, byte by byte."""
    file = store.path()
    if not file.exists() or not file.stat().st_size:
        return None
    kept = file.with_name(f"{file.name}.before-{reason}-{days.stamp(days.now()).replace(':', '')}")
    try:
        with store.reading() as db:
            files.backup(db, kept)
    except faults.Damaged:
        for name in ("", "-wal"):
            if Path(f"{file}{name}").exists():
                shutil.copyfile(f"{file}{name}", f"{kept}{name}")
                os.chmod(f"{kept}{name}", 0o600)
    return kept


def replace(fresh: Database) -> None:
    """Put the database `fresh` in place of the present one, all at once, also for sessions that have it open."""
    try:
        _overwrite(fresh)
    except faults.Damaged:
        _swap(fresh)
    store.empty_log()


def _overwrite(fresh: Database) -> None:
    """As one write transaction: sqlite's own locks and log keep readers and a power cut out of it."""
    import sqlite3

    file = store.path()
    try:
        with store.connected() as db:
            fresh.backup(db)
    except faults.Damaged:
        db = files.connect(file)  # without the pragmas that read the damaged schema
        try:
            fresh.backup(db)
        except sqlite3.Error as error:
            raise faults.translated(error, file) from error
        finally:
            db.close()


def _swap(fresh: Database) -> None:
    """For a file that sqlite does not take for a database. Its log goes first: it must never meet the new file."""
    file = store.path()
    with files.alone(file):
        for name in BESIDE:
            Path(f"{file}{name}").unlink(missing_ok=True)
        files.backup(fresh, file)


def _refused(message: str, hint: str) -> ToolError:
    return faults.refused(message, hint)
