"""Errors of the database file: what happened, and what to do."""

from pathlib import Path

from tools.core.errors import ToolError

RESTORE = (
    "Put a backup in its place: `python3 -m tools onepercent restore FILE`, or an export:"
    " `python3 -m tools onepercent import FILE`. What is there now is kept beside it."
)
# By sqlite's own words (sqlite3ErrStr): Python 3.10 gives no result codes.
CAUSES = {
    "is locked": ("Another session has been writing for too long", "Try again in a moment."),
    "disk is full": ("The disk is full", "Make room, then try again."),
    "disk I/O error": ("The disk is full, or could not be read or written", "Make room, check the disk."),
    "readonly database": ("{file} is read-only", "Make the file and its folder writable."),
    "unable to open": ("{file} cannot be opened", "Make the file and its folder writable."),
    "": ("The database refused the change", "The log (stderr) has the details."),
}


class Damaged(ToolError):
    """The file is not a database, or holds what the tools cannot read."""


def refused(message: str, hint: str) -> ToolError:
    """The error of a database that cannot be used."""
    return ToolError(message, hint, code="DATABASE_ERROR")


def translated(error: object, file: Path) -> ToolError:
    """The error for one of sqlite, or of reading what it gave."""
    import sqlite3

    if not isinstance(error, sqlite3.Error) or any(words in str(error) for words in ("malformed", "not a database")):
        return Damaged(f"{file} is not a database, or damaged", RESTORE, code="DATABASE_ERROR")
    message, advice = next(said for words, said in CAUSES.items() if words in str(error))
    return refused(message.format(file=file), f"Nothing was changed. {advice}")
