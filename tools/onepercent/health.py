"""How `server.py --check` sees the database."""

from itertools import islice

from tools.core.errors import ToolError
from tools.core.health import Health, check
from tools.onepercent.database import rows, store
from tools.onepercent.database.faults import RESTORE
from tools.onepercent.database.types import Database

LEDGER = (
    """SELECT count(*) FROM xp_balance b WHERE balance <> (SELECT total(xp) FROM xp_ledger l WHERE l.user = b.user)"""
)

MONTHS = """SELECT (SELECT count(*) FROM habit_marks)
    <> (SELECT ifnull(sum(length(replace(marks, ' ', ''))), 0) FROM habit_months)"""

MOST = 3
"""Faults of one kind that are named."""


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
    return Health("ok", f"{summary}, sound")


def faults_of(db: Database) -> list[str]:
    """What is wrong with an open database, at most some lines of each kind."""
    if faults := [row[0] for row in db.execute("PRAGMA quick_check(3)") if row[0] != "ok"]:
        return faults
    if faults := list(islice(rows.unreadable_texts(db), MOST)):
        return faults
    faults = [f"a row of {row[0]} refers to nothing" for row in db.execute("PRAGMA foreign_key_check").fetchmany(MOST)]
    faults += islice(rows.faults(db), MOST)
    if db.execute(LEDGER).fetchone()[0]:
        faults.append("XP differs from its ledger")
    if db.execute(MONTHS).fetchone()[0]:
        faults.append("the months of habits differ from their marks")
    return faults
