"""Backup and export: everything the database holds, of all its users, as a copy of the file or as JSON, and
back in.

Copies are checked, one a day, thinned out to the last days and months. What comes in is put together in a
temporary file, migrated and checked; then sqlite copies it over the present one in a transaction, so that
sessions that are open and a power cut find the old state or the new.
"""

import json
import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import date, timedelta
from pathlib import Path

from tools.core.errors import ToolError
from tools.core.health import Health, check
from tools.core.json_types import JsonObject, compact_json
from tools.core.registry import TextOutput, command
from tools.onepercent import days, settings
from tools.onepercent.database import Database, migrations, store
from tools.onepercent.database.store import RESTORE, refused
from tools.onepercent.habits import histories
from tools.onepercent.habits.schedules import detail, schedule
from tools.onepercent.rules import BACKUP_DAYS_KEPT, BACKUP_DAYS_OLD, BACKUP_MONTHS_KEPT

DIGIT = "[0-9]"
NAME = f"onepercent-{4 * DIGIT}-{2 * DIGIT}-{2 * DIGIT}.sqlite3"
MOST = 3  # faults that are named

# Each selects a row if something is wrong.
QUERIES = {
    "a row refers to nothing": "PRAGMA foreign_key_check",
    "XP differs from its ledger": """SELECT 1 FROM xp_balance b
        WHERE balance <> (SELECT total(xp) FROM xp_ledger l WHERE l.user = b.user)""",
    "the months of habits differ from their marks": """SELECT 1 WHERE (SELECT count(*) FROM habit_marks)
        <> (SELECT ifnull(sum(length(replace(marks, ' ', ''))), 0) FROM habit_months)""",
}

FORMAT = "onepercent-export"
PARTS = {"state": migrations.STATE, "history": migrations.HISTORY}
"""`state` is what a person has, and is the same again after an undo; `history` is how it came to be."""
SEQUENCES = "sequences"
"""The highest ids ever given, so that an id is never given twice, not even after an import."""
BESIDE = ("-wal", "-shm", "-journal")  # the files that sqlite keeps beside a database

# What reading a file leads to that neither `export` nor `backup` wrote, or that is damaged.
NOT_OURS = (
    sqlite3.Error,
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)


@command("backup")
def backup(file: str = "") -> JsonObject | TextOutput:
    """Copy the database, while it is in use, to one sqlite3 file, to standard output (-), or as the copy of
    the day."""
    if not file:
        return _copy_of_today()
    import shutil
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder, store.reading() as db:
        target = Path(folder, "copy") if file == "-" else destination(file)
        store.backup(db, target)
        if file != "-":
            return {"file": str(target), "size_bytes": target.stat().st_size}
        with target.open("rb") as stream:
            shutil.copyfileobj(stream, sys.stdout.buffer)
    return TextOutput("")


def destination(file: str) -> Path:
    """The file to write; through a link, the file that it leads to. Raises ToolError DATABASE_ERROR if it is
    the database."""
    target = Path(file).expanduser().resolve()
    if target.exists() and store.path().exists() and target.samefile(store.path()):
        raise refused(f"{target} is the database itself", "Name another file.")
    return target


def _copy_of_today() -> JsonObject:
    """Make the copy of today in ONEPERCENT_BACKUP_DIR, in place of one that is there, and remove those that
    are past.

    A copy takes its place once it is whole and sound, so a damaged database never drives sound copies out.
    Raises ToolError DATABASE_ERROR.
    """
    if not store.path().exists():
        return {"file": None, "message": "There is no database yet, so there is nothing to back up."}
    target = folder() / f"onepercent-{days.today()}.sqlite3"
    try:
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise refused(
            f"{target.parent}: {error.strerror}", "Point ONEPERCENT_BACKUP_DIR at a folder."
        ) from error
    with store.reading() as db, store.replacing(target) as part:
        store.copy(db, part)
        with closing(store.connect(part)) as copy:
            if faults := faults_of(copy):
                raise refused(f"The database is damaged, so older copies stay: {'; '.join(faults)}", RESTORE)
    kept = copies()
    months: dict[str, Path] = {}
    for each in kept:  # newest first, so the first of a month is what stays
        months[each.name[:-11]] = each
    past = {*kept[BACKUP_DAYS_KEPT:]} - {*list(months.values())[:BACKUP_MONTHS_KEPT]}
    for old in past:
        old.unlink(missing_ok=True)
    size = target.stat().st_size
    return {"file": str(target), "size_bytes": size, "copies": len(kept) - len(past), "removed": len(past)}


def folder() -> Path:
    """The folder of the copies; a relative one lies beside the database."""
    return store.path().absolute().parent / settings.current().onepercent_backup_dir


def copies() -> list[Path]:
    """The copies, the newest first; none if the folder cannot be read."""
    return sorted(folder().glob(NAME), reverse=True)


def newest_day() -> str | None:
    """The day of the newest copy."""
    return next(map(_day_of, copies()), None)


def _day_of(copy: Path) -> str:
    return copy.name[11:21]  # onepercent-2026-03-18.sqlite3


def advice() -> str:
    """A warning if the newest copy is missing or old, or would be lost together with the database; else
    nothing."""
    command = "`python3 -m tools onepercent backup` makes one; ./setup.sh --systemd makes one a day."
    newest = next(iter(copies()), None)
    if newest is None:
        return f"There is no backup yet. {command}"
    if date.fromisoformat(_day_of(newest)) < days.today() - timedelta(days=BACKUP_DAYS_OLD):
        return f"The newest backup is {newest}. {command}"
    if newest.stat().st_dev == store.path().stat().st_dev:
        return f"The backups in {newest.parent} are on the database's own disk: set ONEPERCENT_BACKUP_DIR to another."
    return ""


@check
def database() -> Health:
    """The database's part of `server.py --check`: path, size, version and integrity of the database."""
    file = store.path()
    if not file.exists():
        return Health("unset", f"{file} is not there yet", "It is made by the first call.")
    try:
        with store.reading() as db:
            version = db.execute("PRAGMA user_version").fetchone()[0]
            faults = faults_of(db)
    except ToolError as error:
        return Health("broken", error.message, error.hint)
    summary = f"{file}, {file.stat().st_size / 1_000_000:.1f} MB, version {version}"
    if faults:
        return Health("broken", f"{summary}: {'; '.join(faults)}", RESTORE)
    return Health("ok", f"{summary}, sound, newest backup: {newest_day() or 'none'}", advice())


def faults_of(db: Database) -> list[str]:
    """The faults of an open database, in a few lines; none of a sound one."""
    if faults := [row[0] for row in db.execute(f"PRAGMA integrity_check({MOST})") if row[0] != "ok"]:
        return faults
    try:
        for habit in db.execute("SELECT * FROM habits").fetchall():
            schedule(habit["frequency_type"], detail(habit))
            histories.of_habit(db, habit["id"], days.today())
    except days.Unreadable as error:
        return [f"a habit cannot be read: {error}"]
    return [fault for fault, query in QUERIES.items() if db.execute(query).fetchone()][:MOST]


@command("export")
def export(file: str) -> JsonObject | TextOutput:
    """Write everything to one JSON file, in place of what it held, or to standard output (-); one row a
    line."""
    if file == "-":
        with store.reading() as db:
            sys.stdout.buffer.writelines(line.encode() for line in _lines(db))
        return TextOutput("")
    target = destination(file)
    with store.reading() as db, store.replacing(target) as part:
        with part.open("w", encoding="utf-8") as stream:
            stream.writelines(_lines(db))
        tables = (table for tables in PARTS.values() for table in tables)
        counts = {table: db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables}
    return {"file": str(target), "size_bytes": target.stat().st_size, "rows": counts}


def _lines(db: Database) -> Iterator[str]:
    version = db.execute("PRAGMA user_version").fetchone()[0]
    yield f'{{"format":"{FORMAT}","version":{version},\n'
    sequences = dict(db.execute("SELECT name, seq FROM sqlite_sequence ORDER BY name").fetchall())
    yield f'"{SEQUENCES}":{json.dumps(sequences)}'
    for part, tables in PARTS.items():
        for index, table in enumerate(tables):
            rows = db.execute(f"SELECT * FROM {table} ORDER BY 1, 2")
            columns = json.dumps([column[0] for column in rows.description])
            yield "," if index else f',\n"{part}":{{'
            yield f'\n"{table}":{{"columns":{columns},"rows":['
            yield ",".join("\n" + compact_json(list(row)) for row in rows) + "]}"
        yield "}"
    yield "}\n"


@command("restore")
def restore(file: str) -> JsonObject:
    """Put a backup in place of the database; a copy of what was there is kept beside it."""
    source = Path(file).expanduser()
    with _coming_in(source) as fresh:
        if store.path().exists() and source.samefile(store.path()):
            raise ValueError("it is the database itself")
        with closing(store.connect(f"{source.resolve(strict=True).as_uri()}?mode=ro")) as copy:
            copy.backup(fresh)
        if fresh.execute("PRAGMA application_id").fetchone()[0] != migrations.APPLICATION_ID:
            raise ValueError("it is not a database of OnePercent")
        return _put_in_place(fresh, source, "restore")


def import_(file: str) -> JsonObject:
    """Replace everything by what an export holds; a copy of what was there is kept beside the database."""
    source = Path(file).expanduser()
    with _coming_in(source) as fresh:
        content = json.loads(source.read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise ValueError("it is not an export")
        store.check_version(content["version"], source)
        with store.transaction(fresh):
            migrations.migrate(fresh, upto=content["version"])
            _fill(fresh, content)
        return _put_in_place(fresh, source, "import")


@contextmanager
def _coming_in(source: Path) -> Iterator[Database]:
    """An empty database in a file of sqlite's own, which has no name and goes by itself. Raises ToolError
    DATABASE_ERROR for everything that is wrong with `source`."""
    try:
        with closing(store.connect("")) as fresh:
            yield fresh
    except OSError as error:
        message = f"{error.filename or source}: {error.strerror}"
        raise refused(message, "Name a file that `export` or `backup` wrote.") from error
    except NOT_OURS as error:
        message = f"{source} is damaged, or neither an export nor a backup: {error}"
        hint = "An export is for `import`, a backup for `restore`. Nothing was changed."
        raise refused(message, hint) from error


def _fill(db: Database, content: JsonObject) -> None:
    """Insert the rows of every table that the export's version had."""
    there = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    db.executemany("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", content[SEQUENCES].items())
    exported = {**content["state"], **content["history"]}
    for table in there.intersection(
        (*migrations.STATE, *migrations.HISTORY, "last_applied")
    ):  # which undo had until 2
        columns = exported[table]["columns"]
        names = ", ".join(f'"{name}"' for name in columns)
        marks = ", ".join("?" * len(columns))
        db.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", exported[table]["rows"])


def _put_in_place(fresh: Database, source: Path, reason: str) -> JsonObject:
    """Migrate and check `fresh`, keep the present database, and copy `fresh` over it."""
    store.check_version(fresh.execute("PRAGMA user_version").fetchone()[0], source)
    with store.transaction(fresh):
        migrations.migrate(fresh)
        histories.settle(fresh, days.today())
        if faulty := faults_of(fresh):
            raise ValueError("; ".join(faulty))
    kept = _keep_present(reason)
    _overwrite(fresh)
    answer = {"file": str(source), "database": str(store.path())}
    return answer | {"kept": str(kept)} if kept else answer


def _keep_present(reason: str) -> Path | None:
    """A copy of the present database, if there is something in it; of a damaged one, byte by byte."""
    file = store.path()
    if not file.exists() or not file.stat().st_size:
        return None
    kept = file.with_name(f"{file.name}.before-{reason}-{days.stamp(days.now()).replace(':', '')}")
    try:
        with store.reading() as db:
            store.backup(db, kept)
    except store.Damaged:
        from shutil import copyfile

        for beside in ("", "-wal"):
            if Path(f"{file}{beside}").exists():
                copyfile(f"{file}{beside}", f"{kept}{beside}")
                os.chmod(f"{kept}{beside}", 0o600)
    return kept


def _overwrite(fresh: Database) -> None:
    """Copy `fresh` over the present database as one write transaction: sqlite's own locks and log keep
    readers and a power cut out of it. What sqlite does not take for a database is replaced as a file."""
    file = store.path()
    store.ensure(file)
    try:
        with closing(store.connect(file)) as db:
            fresh.backup(db)
    except sqlite3.Error as error:
        fault = store.translated(error, file)
        if not isinstance(fault, store.Damaged):
            raise fault from error
        with store.alone(file):
            for beside in BESIDE:  # First: an old log must never meet the new file.
                Path(f"{file}{beside}").unlink(missing_ok=True)
            store.backup(fresh, file)
    store.checkpoint()
