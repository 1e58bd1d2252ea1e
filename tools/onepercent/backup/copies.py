"""Backups: copies of the database, checked, in a file or one a day, thinned out to the last days and months."""

import shutil
import sys
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from tools.core.json_types import JsonObject
from tools.core.registry import TextOutput, command
from tools.onepercent import days, settings
from tools.onepercent.database import store
from tools.onepercent.database.faults import RESTORE, refused
from tools.onepercent.database.types import Database
from tools.onepercent.habits import histories
from tools.onepercent.habits.schedules import detail, schedule

DIGIT = "[0-9]"
NAME = f"onepercent-{4 * DIGIT}-{2 * DIGIT}-{2 * DIGIT}.sqlite3"
DAYS_KEPT, MONTHS_KEPT = 14, 12
OLDEST = timedelta(days=2)
"""The age of the newest copy from which on something is wrong with making them."""
MOST = 3
"""Faults that are named."""

# Each selects a row if something is wrong.
QUERIES = {
    "a row refers to nothing": "PRAGMA foreign_key_check",
    "XP differs from its ledger": """SELECT 1 FROM xp_balance b
        WHERE balance <> (SELECT total(xp) FROM xp_ledger l WHERE l.user = b.user)""",
    "the months of habits differ from their marks": """SELECT 1 WHERE (SELECT count(*) FROM habit_marks)
        <> (SELECT ifnull(sum(length(replace(marks, ' ', ''))), 0) FROM habit_months)""",
}


@command("backup")
def backup(file: str = "") -> JsonObject | TextOutput:
    """Copy the database, while it is in use, to one sqlite3 file, to standard output (-), or as the copy of the day."""
    if not file:
        return _copy_of_today()
    if file == "-":
        with TemporaryDirectory() as folder:
            copy = Path(folder, "copy")
            with store.reading() as db:
                store.backup(db, copy)
            with copy.open("rb") as stream:
                shutil.copyfileobj(stream, sys.stdout.buffer)
        return TextOutput("")
    target = destination(file)
    with store.reading() as db:
        store.backup(db, target)
    return {"file": str(target), "size_bytes": target.stat().st_size}


def destination(file: str) -> Path:
    """The file to write; through a link, the file that it leads to.

    Raises ToolError DATABASE_ERROR if it is the database.
    """
    target = Path(file).expanduser().resolve()
    if target.exists() and store.path().exists() and target.samefile(store.path()):
        raise refused(f"{target} is the database itself", "Name another file.")
    return target


def _copy_of_today() -> JsonObject:
    """Make the copy of today in ONEPERCENT_BACKUP_DIR, in place of one that is there, and remove those that are past.

    A copy takes its place once it is whole and sound, so a damaged database never drives sound copies out.
    Raises ToolError DATABASE_ERROR.
    """
    if not store.path().exists():
        return {"file": None, "message": "There is no database yet, so there is nothing to back up."}
    target = folder() / f"onepercent-{days.today(days.now())}.sqlite3"
    try:
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise refused(f"{target.parent}: {error.strerror}", "Point ONEPERCENT_BACKUP_DIR at a folder.") from error
    with store.reading() as db, store.replacing(target) as part:
        store.copy(db, part)
        with closing(store.connect(part)) as copy:
            if faults := faults_of(copy):
                raise refused(f"The database is damaged, so older copies stay: {'; '.join(faults)}", RESTORE)
    copies = there()
    months = {copy.name[:-11]: copy for copy in copies}  # of copies in a month the first day's is the last to come
    past = {*copies[DAYS_KEPT:]} - {*list(months.values())[:MONTHS_KEPT]}
    for old in past:
        old.unlink(missing_ok=True)
    size = target.stat().st_size
    return {"file": str(target), "size_bytes": size, "copies": len(copies) - len(past), "removed": len(past)}


def folder() -> Path:
    """The folder of the copies; a relative one lies beside the database."""
    return store.path().absolute().parent / settings.current().onepercent_backup_dir


def there() -> list[Path]:
    """The copies, the newest first; none if the folder cannot be read."""
    return sorted(folder().glob(NAME), reverse=True)


def advice() -> str:
    """A warning if the newest copy is missing or old, or would be lost together with the database; else nothing."""
    command = "`python3 -m tools onepercent backup` makes one; ./setup.sh --systemd makes one a day."
    newest = next(iter(there()), None)
    if newest is None:
        return f"There is no backup yet. {command}"
    if date.fromisoformat(newest.name[11:21]) < days.today(days.now()) - OLDEST:
        return f"The newest backup is {newest}. {command}"
    if newest.stat().st_dev == store.path().stat().st_dev:
        return f"The backups in {newest.parent} are on the database's own disk: set ONEPERCENT_BACKUP_DIR to another."
    return ""


def faults_of(db: Database) -> list[str]:
    """The faults of an open database, in a few lines; none of a sound one."""
    if faults := [row[0] for row in db.execute(f"PRAGMA integrity_check({MOST})") if row[0] != "ok"]:
        return faults
    try:
        for habit in db.execute("SELECT * FROM habits").fetchall():
            schedule(habit["frequency_type"], detail(habit))
            histories.of_habit(db, habit["id"], days.today(days.now()))
    except days.Unreadable as error:
        return [f"a habit cannot be read: {error}"]
    return [fault for fault, query in QUERIES.items() if db.execute(query).fetchone()][:MOST]
