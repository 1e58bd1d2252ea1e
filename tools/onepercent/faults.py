"""What can be wrong with the database file, in words of what happened and what to do."""

from pathlib import Path
from typing import Any

from tools.errors import ToolError

RESTORE = (
    "Stop the server and move the file aside; then copy a backup in its place, or fill a new one with"
    " `python3 -m tools onepercent import FILE`."
)


def newer(file: Path) -> ToolError:
    """The error of a file that a later version of this program wrote."""
    return refused(
        f"{file} was written by a newer version of OnePercent", "Update this server. The file was not touched."
    )


def refused(message: str, hint: str) -> ToolError:
    """The error of a database that cannot be used."""
    return ToolError(message, hint, code="DATABASE_ERROR")


def translated(error: Any, file: Path) -> ToolError:
    """An error of sqlite in words of what happened and what to do."""
    import sqlite3

    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return refused(f"{file} is no database, or damaged", RESTORE)
    message, advice = {
        sqlite3.SQLITE_BUSY: ("Another session has been writing for too long", "Try again in a moment."),
        sqlite3.SQLITE_LOCKED: ("Another session is writing", "Try again in a moment."),
        sqlite3.SQLITE_FULL: ("The disk is full", "Make room, then try again."),
        sqlite3.SQLITE_IOERR: ("The disk could not be read or written", "Check the disk and its free space."),
        sqlite3.SQLITE_READONLY: (f"{file} is read-only", "Make the file and its folder writable."),
        sqlite3.SQLITE_CANTOPEN: (f"{file} cannot be opened", "Make the file and its folder writable."),
    }.get(code, ("The database refused the change", "The log (stderr) has the details."))
    return refused(message, f"Nothing was changed. {advice}")
