"""The database's part of `server.py --check`."""

from tools.core.errors import ToolError
from tools.core.health import Health, check
from tools.onepercent.backup import copies
from tools.onepercent.backup.copies import faults_of
from tools.onepercent.database import store
from tools.onepercent.database.faults import RESTORE


@check
def database() -> Health:
    """Path, size, version and integrity of the database."""
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
    return Health("ok", f"{summary}, sound", copies.advice())
