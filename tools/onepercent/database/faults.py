"""What can be wrong with the database file, said as what happened and what to do."""

from pathlib import Path

from tools.core.errors import ToolError

BUSY, LOCKED, READONLY, IOERR, CORRUPT, FULL, CANTOPEN, NOTADB = 5, 6, 8, 10, 11, 13, 14, 26
"""Result codes of sqlite (sqlite.org/rescode.html); the module has their names only since Python 3.11."""
WORDS = {
    "database is locked": BUSY,
    "table is locked": LOCKED,
    "readonly database": READONLY,
    "disk I/O error": IOERR,
    "malformed": CORRUPT,
    "disk is full": FULL,
    "unable to open": CANTOPEN,
    "not a database": NOTADB,
}
"""What sqlite says for each of them."""
RESTORE = (
    "Put a backup in its place: `python3 -m tools onepercent restore FILE`, or an export:"
    " `python3 -m tools onepercent import FILE`. What is there now is kept beside it."
)


class Damaged(ToolError):
    """The file is not a database, or holds what the tools cannot read."""


def newer(file: Path) -> ToolError:
    """The error of a file that a later version of this program wrote."""
    return refused(
        f"{file} was written by a newer version of OnePercent", "Update this server. The file was not touched."
    )


def refused(message: str, hint: str) -> ToolError:
    """The error of a database that cannot be used."""
    return ToolError(message, hint, code="DATABASE_ERROR")


def damaged(message: str) -> Damaged:
    """The error of a file that only a backup can replace."""
    return Damaged(message, RESTORE, code="DATABASE_ERROR")


def translated(error: object, file: Path) -> ToolError:
    """An error of sqlite, or of reading what it gave, said as what happened and what to do."""
    import sqlite3

    code = _code(error)
    if code in (CORRUPT, NOTADB) or not isinstance(error, sqlite3.Error):
        return damaged(f"{file} is not a database, or damaged")
    message, advice = {
        BUSY: ("Another session has been writing for too long", "Try again in a moment."),
        LOCKED: ("Another session is writing", "Try again in a moment."),
        FULL: ("The disk is full", "Make room, then try again."),
        IOERR: ("The disk could not be read or written", "Check the disk and its free space."),
        READONLY: (f"{file} is read-only", "Make the file and its folder writable."),
        CANTOPEN: (f"{file} cannot be opened", "Make the file and its folder writable."),
    }.get(code, ("The database refused the change", "The log (stderr) has the details."))
    return refused(message, f"Nothing was changed. {advice}")


def _code(error: object) -> int:
    """sqlite's primary result code; Python 3.10 gives only its words."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return next((code for words, code in WORDS.items() if words in str(error)), 0)
    return code & 0xFF
