"""Export, import and backup of everything the database holds, for all its users."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.core.errors import ToolError
from tools.core.files import compact_json
from tools.core.json_types import JsonObject
from tools.core.registry import command
from tools.onepercent import days, health
from tools.onepercent.database import faults, files, migrations, restore, rows, store
from tools.onepercent.database.types import Database
from tools.onepercent.habits import histories

FORMAT = "onepercent-export"

PARTS = {"state": migrations.STATE, "history": migrations.HISTORY}
"""`state` is what a person has, and is the same again after an undo; `history` is how it came to be."""

SEQUENCES = "sequences"
"""The highest ids ever given, so that an id is never given twice, not even after an import."""


@command("export")
def export(file: str) -> JsonObject:
    """Write everything to one JSON file, in place of what it held; nothing is lost, one row a line."""
    target = Path(file).expanduser()
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        with (
            store.reading() as db,
            os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as stream,
        ):
            stream.writelines(_lines(db))
            counts = {table: _count(db, table) for tables in PARTS.values() for table in tables}
        files.settle(part, target)
    except OSError as error:
        raise _failed(
            f"{target} cannot be written: {error.strerror}", "Choose a file in a folder that is writable."
        ) from error
    finally:
        part.unlink(missing_ok=True)
    return {"file": str(target), "size_bytes": target.stat().st_size, "rows": counts}


def _lines(db: Database) -> Iterator[str]:
    version = db.execute("PRAGMA user_version").fetchone()[0]
    yield f'{{"format":"{FORMAT}","version":{version},\n'
    sequences = dict(db.execute("SELECT name, seq FROM sqlite_sequence ORDER BY name").fetchall())
    yield f'"{SEQUENCES}":{json.dumps(sequences)}'
    for part, tables in PARTS.items():
        yield f',\n"{part}":{{'
        for index, table in enumerate(tables):
            yield from _table(db, table, "," if index else "")
        yield "}"
    yield "}\n"


def _table(db: Database, table: str, comma: str) -> Iterator[str]:
    rows = db.execute(f"SELECT * FROM {table} ORDER BY 1, 2")
    columns = [column[0] for column in rows.description]
    yield f'{comma}\n"{table}":{{"columns":{json.dumps(columns)},"rows":['
    for index, row in enumerate(rows):
        yield ("," if index else "") + "\n" + compact_json(list(row))
    yield "]}"


def _count(db: Database, table: str) -> int:
    return db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


@command("import")
def import_(file: str) -> JsonObject:
    """Replace everything by what an export holds; a copy of what was there is kept beside the database."""
    content = _read(Path(file).expanduser())
    with _assembled(content) as fresh:
        kept = restore.keep_present("import")
        restore.replace(fresh)
    return {"file": file, "database": str(store.path()), **({"kept": str(kept)} if kept else {})}


def _read(file: Path) -> JsonObject:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        sound = _is_export(content)
    except OSError as error:
        raise _failed(f"{file} cannot be read: {error.strerror}", "Name a file that `export` wrote.") from error
    except (ValueError, RecursionError):
        sound = False
    if not sound:
        raise _failed(f"{file} is not a whole export", "Name a file that `export` wrote. Nothing was changed.")
    if content["version"] > len(migrations.MIGRATIONS):
        raise faults.newer(file)
    return content


def _is_export(content: object) -> bool:
    return (
        isinstance(content, dict)
        and content.get("format") == FORMAT
        and type(content.get("version")) is int
        and content["version"] >= 1
        and isinstance(content.get(SEQUENCES), dict)
        and all(isinstance(content.get(part), dict) for part in PARTS)
    )


@contextmanager
def _assembled(content: JsonObject) -> Iterator[Database]:
    """A database of its own with the content of an export, migrated and checked."""
    import sqlite3

    with restore.part_of_database("import") as part:
        db = files.connect(part)
        try:
            db.execute("BEGIN")
            migrations.migrate(db, upto=content["version"])
            _fill(db, content)
            migrations.migrate(db)
            histories.settle_all(db, days.today(days.now()))
            _check(db)
            db.execute("COMMIT")
            yield db
        except (sqlite3.Error, TypeError, KeyError, ValueError, OverflowError, UnicodeError, AttributeError) as error:
            raise _failed(
                f"The export does not fit: {error}", "It was changed or damaged. Nothing was changed here."
            ) from error
        finally:
            db.close()


def _fill(db: Database, content: JsonObject) -> None:
    """The rows of every table that the export's version had."""
    there = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for part, tables in PARTS.items():
        for table in (*tables, *(migrations.FORMER if part == "history" else ())):
            if table in there:
                _insert(db, table, content[part][table])
    for name, highest in content[SEQUENCES].items():
        if type(highest) is not int or not 0 <= highest <= rows.LARGEST_ID:
            raise ValueError(f"{highest!r:.40} is not the highest id of {name}")
        db.execute("DELETE FROM sqlite_sequence WHERE name = ?", (name,))
        db.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (name, highest))


def _insert(db: Database, table: str, table_rows: JsonObject) -> None:
    columns = ", ".join(f'"{_column(name)}"' for name in table_rows["columns"])
    marks = ", ".join("?" * len(table_rows["columns"]))
    db.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks})", table_rows["rows"])


def _column(name: str) -> str:
    if not (isinstance(name, str) and name.isidentifier()):
        raise ValueError(f"{name!r} is not a column")
    return name


def _check(db: Database) -> None:
    if broken := health.faults_of(db):
        raise ValueError("; ".join(broken))


@command("backup")
def backup(file: str) -> JsonObject:
    """Copy the database, while it is in use, to one sqlite3 file."""
    target = Path(file).expanduser()
    if target.exists() and target.samefile(store.path()):
        raise _failed(f"{target} is the database itself", "Name another file.")
    with store.reading() as db:
        files.backup(db, target)
    return {"file": str(target), "size_bytes": target.stat().st_size}


def _failed(message: str, hint: str) -> ToolError:
    return ToolError(message, hint, code="DATABASE_ERROR")
