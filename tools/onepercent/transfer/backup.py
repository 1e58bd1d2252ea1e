"""Backup and export: all that the database holds, of all its users, written as a copy of the file or as JSON,
and read back.

Copies are checked, one a day, thinned out to the last days and months. An import is put together in a
temporary file, migrated and checked; then sqlite copies it over the present one in a transaction, so that
sessions that are open and a power cut find the old state or the new.
"""

import json
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from datetime import timedelta
from pathlib import Path

from tools.core.health import Health, health_check
from tools.toolkit import JsonObject, TextOutput, command, compact_json, filled, make_folder_of

from ..base import days
from ..base.rules import BACKUP_DAYS_KEPT, BACKUP_DAYS_OLD, BACKUP_MONTHS_KEPT
from ..database import Database, derived, insertion, migrations, scalar, store
from ..database.copies import copies, folder, newest_day
from ..database.store import RESTORE, database_error
from ..habits import histories
from . import formats

FORMAT = "onepercent-export"
# `state` is what a person has, and an undo restores it exactly; `history` is how it came to be.
TABLE_GROUPS = {"state": migrations.STATE_TABLES, "history": migrations.HISTORY_TABLES}

# The errors of reading a file that is damaged, or that neither `export` nor `backup` wrote.
UNREADABLE_ERRORS = (
    ArithmeticError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
)


@command("backup")
def write_backup(file: str = "") -> JsonObject | TextOutput:
    """Copy the database, while it is in use, to one sqlite3 file, to standard output (-), or as the copy of
    the day."""
    if not file:
        return _copy_of_today()
    if file == "-":
        from tempfile import NamedTemporaryFile

        with NamedTemporaryFile() as part:
            with store.reading() as db:
                store.copy(db, Path(part.name))
            # The other end of a pipe may be slow: nothing is read from the database meanwhile.
            sys.stdout.buffer.writelines(part)
        return TextOutput("")
    target = _other_file(file)
    with store.reading() as db:
        store.save_copy(db, target)
    return _written(target)


def _other_file(file: str) -> Path:
    """The path of a file to write or read, with links followed. Raises ToolError DATABASE_ERROR if it is the
    database."""
    path = Path(file).expanduser().resolve()
    with suppress(FileNotFoundError):
        if path.samefile(store.path()):  # by another name, too
            raise database_error(f"{path} is the database itself", "Name another file.")
    return path


def _written(file: Path) -> JsonObject:
    return {"file": str(file), "size_bytes": file.stat().st_size}


def _copy_of_today() -> JsonObject:
    """Make or replace today's copy in ONEPERCENT_BACKUP_DIR, and remove outdated ones. A copy takes its place
    only once it is whole and sound, so a damaged database never drives sound copies out. Derived tables that
    differ are recounted. Raises ToolError DATABASE_ERROR.
    """
    if not store.path().exists():
        return {
            "file": None,
            "message": "There is no database yet, so there is nothing to back up.",
        }
    target = folder() / f"onepercent-{days.today()}.sqlite3"
    try:
        make_folder_of(target)
    except OSError as error:
        raise database_error(
            f"{target.parent}: {error.strerror}", "Point ONEPERCENT_BACKUP_DIR at a folder."
        ) from error
    healed = _heal()
    with store.reading() as db, store.replacing(target) as part:
        store.copy(db, part)
        with closing(store.connect(part)) as copy:
            if faults := _faults_of(copy):
                raise database_error(
                    f"The database is damaged, so older copies stay: {'; '.join(faults)}", RESTORE
                )
    # Keep the copies of the last days, and the first of each of the last months: the newest come first, so a
    # month's first copy is what stays for it.
    newest_first = copies()
    first_of_month = {copy.name[:-11]: copy for copy in newest_first}
    monthly = list(first_of_month.values())[:BACKUP_MONTHS_KEPT]
    for copy_file in newest_first[BACKUP_DAYS_KEPT:]:
        if copy_file not in monthly:
            copy_file.unlink(missing_ok=True)
    return _written(target) | filled(counted_anew=healed)


def _heal() -> list[str]:
    """Recount the derived tables if they differ from the record; return what differed. Raises ToolError
    DATABASE_ERROR."""
    today = store.persons_today()
    with store.reading() as db:
        if not (derived.differing(db) or histories.is_misfolded(db, today)):
            return []
    with store.writing() as db:
        differed = derived.recount(db)
        histories.fold_streaks(db, today)
    return differed or ["habit_streaks"]


def _advice() -> str:
    """A warning if the newest copy is missing or old, or would be lost together with the database."""
    newest = newest_day() or ""
    if newest < f"{days.today() - timedelta(BACKUP_DAYS_OLD)}":
        problem = f"The newest backup is of {newest}" if newest else "There is no backup yet"
        return (
            f"{problem}. `python3 -m tools onepercent backup` makes one;"
            " ./setup.sh --systemd makes one a day."
        )
    if folder().stat().st_dev == store.path().stat().st_dev:
        return f"The backups in {folder()} are on the database's own disk: set ONEPERCENT_BACKUP_DIR to another."
    return ""


@health_check
def check_database() -> Health:
    """Check the path, size, version and integrity of the database."""
    file = store.path()
    if not file.exists():
        return Health("unset", f"{file} is not there yet", "It is made by the first call.")
    with store.reading() as db:
        version = scalar(db, "PRAGMA user_version")
        faults = _faults_of(db)
    summary = f"{file}, {file.stat().st_size / 1_000_000:.1f} MB, version {version}"
    if faults:
        return Health("broken", f"{summary}: {'; '.join(faults)}", RESTORE)
    if healed := _heal():
        return Health(
            "broken",
            f"{summary}: {', '.join(healed)} differed from the record",
            "It was recounted and is correct again. If it happens again, please report it.",
        )
    return Health("ok", f"{summary}, sound, newest backup: {newest_day() or 'none'}", _advice())


def _faults_of(db: Database) -> list[str]:
    """Check an open database; list what is wrong with it, at most three faults of the file."""
    faults = [fault for (fault,) in db.execute("PRAGMA integrity_check(3)")]
    if faults != ["ok"]:
        return faults
    try:
        histories.is_misfolded(db, days.today())
    except days.Unreadable as error:
        return [f"a habit cannot be read: {error}"]
    return ["a row refers to nothing"] if scalar(db, "PRAGMA foreign_key_check") else []


@command("export")
def write_export(file: str, csv: str = "") -> JsonObject | TextOutput:
    """Write everything to one JSON file, in place of what it held, or to standard output (-); one row a
    line. FILE.ics gets your dated steps as a calendar; with --csv, the folder FILE gets marks, steps and
    diary as tables."""
    if csv == "--csv":
        return {"files": formats.write_tables(Path(file).expanduser())}
    lines_of = formats.calendar_lines if file.endswith(".ics") else _export_lines
    with store.reading() as db:
        if file == "-":
            sys.stdout.buffer.writelines(line.encode() for line in lines_of(db))
            return TextOutput("")
        target = _other_file(file)
        with store.replacing(target) as part, part.open("w", encoding="utf-8") as stream:
            stream.writelines(lines_of(db))
    return _written(target)


def _export_lines(db: Database) -> Iterator[str]:
    version = scalar(db, "PRAGMA user_version")
    sequences = json.dumps(dict(db.execute("SELECT name, seq FROM sqlite_sequence")))
    yield f'{{"format":"{FORMAT}","version":{version},\n"sequences":{sequences}'
    for group, tables in TABLE_GROUPS.items():
        for index, table in enumerate(tables):
            rows = db.execute(f"SELECT * FROM {table} ORDER BY 1, 2")
            columns = json.dumps([column[0] for column in rows.description])
            yield "," if index else f',\n"{group}":{{'
            yield f'\n"{table}":{{"columns":{columns},"rows":['
            yield ",".join("\n" + compact_json(list(row)) for row in rows) + "]}"
        yield "}"
    yield "}\n"


@command("restore")
def restore_backup(file: str) -> JsonObject:
    """Put a backup in place of the database; a copy of the present one is kept beside it."""
    return _replace_database(file, _fill_from_backup)


def import_export(file: str) -> JsonObject:
    """Replace everything by the content of an export; a copy of the present database is kept beside it."""
    return _replace_database(file, _fill_from_export)


def _replace_database(file: str, fill: Callable[[Database, Path], None]) -> JsonObject:
    """Fill an empty database from a file, migrate and check it, keep the present one, and copy the new one
    over it. Raises ToolError DATABASE_ERROR for everything that is wrong with the file."""
    source = _other_file(file)
    try:
        # In a temporary file of sqlite, which has no name and is removed by itself.
        with closing(store.connect("")) as fresh:
            fill(fresh, source)
            store.check_version(scalar(fresh, "PRAGMA user_version"), source)
            with store.transaction(fresh):
                differed = migrations.migrate(fresh)
                histories.fold_streaks(fresh, days.today())
                if faults := _faults_of(fresh):
                    raise ValueError("; ".join(faults))
            kept_copy = _keep_present()
            _overwrite_present(fresh)
    except OSError as error:
        raise database_error(
            f"{error.filename or source}: {error.strerror}",
            "Name a file that `export` or `backup` wrote.",
        ) from error
    except (*UNREADABLE_ERRORS, sqlite3.Error) as error:
        raise database_error(
            f"{source} is damaged, or neither an export nor a backup: {error}",
            "An export is for `import`, a backup for `restore`. Nothing was changed.",
        ) from error
    return {"file": str(source), "database": str(store.path())} | filled(
        kept=kept_copy, counted_anew=differed
    )


def _fill_from_backup(fresh: Database, source: Path) -> None:
    with closing(store.connect(f"{source.resolve(strict=True).as_uri()}?mode=ro")) as copy:
        copy.backup(fresh)
    if scalar(fresh, "PRAGMA application_id") != migrations.APPLICATION_ID:
        raise ValueError("it is not a database of OnePercent")


def _fill_from_export(fresh: Database, source: Path) -> None:
    """Insert the rows of every table that the export's version had."""
    content = json.loads(source.read_text("utf-8"))
    if content["format"] != FORMAT:
        raise ValueError("it is not an export")
    store.check_version(content["version"], source)
    with store.transaction(fresh):
        migrations.migrate(fresh, upto=content["version"])
        # The highest ids ever given, so that none is given twice.
        fresh.executemany(insertion("sqlite_sequence", "name", "seq"), content["sequences"].items())
        exported = content["state"] | content["history"]
        # Each table after those it refers to. Until version 2 undo kept its journal in the last one.
        for name in (*migrations.STATE_TABLES, *migrations.HISTORY_TABLES, "last_applied"):
            if scalar(fresh, "SELECT 1 FROM sqlite_master WHERE name = :name", {"name": name}):
                table = exported[name]
                fresh.executemany(insertion(name, *table["columns"]), table["rows"])


def _keep_present() -> str:
    """Keep a copy of the present database, and return its path, unless there is nothing in it; a damaged one is
    copied byte by byte."""
    file = store.path()
    if not file.exists() or not file.stat().st_size:
        return ""
    copy = file.with_name(f"{file.name}.before-{days.stamp(days.now()).replace(':', '')}")
    try:
        with store.reading() as db:
            store.save_copy(db, copy)
    except store.Damaged:
        from shutil import copy as copy_with_mode

        for suffix in ("", "-wal"):
            if Path(f"{file}{suffix}").exists():
                copy_with_mode(f"{file}{suffix}", f"{copy}{suffix}")
    return str(copy)


def _overwrite_present(fresh: Database) -> None:
    """Copy `fresh` over the present database in one write transaction: sqlite's locks and log protect it from
    readers and power cuts. A file that is not a database is replaced as a file."""
    file = store.path()
    store.ensure_file(file)
    try:
        with closing(store.connect(file)) as db:
            fresh.backup(db)
    except sqlite3.Error as error:
        fault = store.translated(error, file)
        if not isinstance(fault, store.Damaged):
            raise fault from error
        with store.locked(file):
            # First what sqlite keeps beside it: an old log must never meet the new file.
            for suffix in ("-wal", "-shm", "-journal"):
                Path(f"{file}{suffix}").unlink(missing_ok=True)
            store.save_copy(fresh, file)
    store.checkpoint_log()
