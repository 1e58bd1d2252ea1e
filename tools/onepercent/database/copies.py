"""The daily copies of the database: where they are kept and which there are."""

from pathlib import Path

from .. import settings
from . import store

# Not the names of other files: an ISO date.
NAME_PATTERN = "onepercent-[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9].sqlite3"


def folder() -> Path:
    """Folder of the copies; a relative one is beside the database."""
    return store.path().absolute().parent / settings.current().onepercent_backup_dir


def copies() -> list[Path]:
    """Copies, newest first; none if the folder cannot be read."""
    return sorted(folder().glob(NAME_PATTERN), reverse=True)


def newest_day() -> str | None:
    """Day of the newest copy, from its name: onepercent-2026-03-18.sqlite3."""
    for copy in copies():
        return copy.name[11:21]
    return None
