"""The copies of the database, one a day: where they lie and which there are."""

from pathlib import Path

from .. import settings
from . import store

DIGIT = "[0-9]"
NAME_PATTERN = f"onepercent-{4 * DIGIT}-{2 * DIGIT}-{2 * DIGIT}.sqlite3"


def folder() -> Path:
    """The folder of the copies; a relative one lies beside the database."""
    return store.path().absolute().parent / settings.current().onepercent_backup_dir


def copies() -> list[Path]:
    """The copies, the newest first; none if the folder cannot be read."""
    return sorted(folder().glob(NAME_PATTERN), reverse=True)


def newest_day() -> str | None:
    """The day of the newest copy, from its name: onepercent-2026-03-18.sqlite3."""
    for copy in copies():
        return copy.name[11:21]
    return None
