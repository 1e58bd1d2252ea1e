"""How `server.py --check` sees the database."""

from typing import Any

from tools.errors import ToolError
from tools.onepercent import store
from tools.onepercent.faults import RESTORE
from tools.registry import Health, check

LEDGER = (
    """SELECT count(*) FROM xp_balance b WHERE balance <> (SELECT total(xp) FROM xp_ledger l WHERE l.user = b.user)"""
)


@check
def database() -> Health:
    """Path, size, version and integrity of the database."""
    file = store.path()
    if not file.exists():
        return Health("unset", f"{file} is not there yet", "It is made by the first call.")
    try:
        with store.reading() as db:
            version = db.execute("PRAGMA user_version").fetchone()[0]
            faults = _faults(db)
    except ToolError as error:
        return Health("broken", error.message, error.hint)
    summary = f"{file}, {file.stat().st_size / 1_000_000:.1f} MB, version {version}"
    if faults:
        return Health("broken", f"{summary}: {'; '.join(faults)}", RESTORE)
    return Health("ok", f"{summary}, sound")


def _faults(db: Any) -> list[str]:
    found = [row[0] for row in db.execute("PRAGMA quick_check(3)") if row[0] != "ok"]
    found += [f"a row of {row[0]} refers to nothing" for row in db.execute("PRAGMA foreign_key_check").fetchmany(3)]
    return found + (["XP differs from its ledger"] if db.execute(LEDGER).fetchone()[0] else [])
