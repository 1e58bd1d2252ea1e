"""The database's part of `server.py --check`."""

from tools.core.errors import ToolError
from tools.core.health import Health, check
from tools.onepercent import backup
from tools.onepercent.database import store


@check
def database() -> Health:
    """Path, size, version and integrity of the database."""
    file = store.path()
    if not file.exists():
        return Health("unset", f"{file} is not there yet", "It is made by the first call.")
    try:
        with store.reading() as db:
            version = db.execute("PRAGMA user_version").fetchone()[0]
            faults = backup.faults_of(db)
    except ToolError as error:
        return Health("broken", error.message, error.hint)
    summary = f"{file}, {file.stat().st_size / 1_000_000:.1f} MB, version {version}"
    if faults:
        return Health("broken", f"{summary}: {'; '.join(faults)}", store.RESTORE)
    return Health("ok", f"{summary}, sound", backup.advice())
