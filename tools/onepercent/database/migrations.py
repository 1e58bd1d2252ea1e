"""Tables of the database, version by version.

Tables of record hold what a person did. Derived tables make reading cheap whatever the history; triggers keep
them, `derived.py` counts them from the record, and they are never exported.
"""

from ..base import days
from . import Database, derived, scalar
from .first_versions import FIRST, FOURTH, MARK, SECOND, STAMPS, THIRD, mark_triggers

# Marks the file as ours (PRAGMA application_id), so that no other program's database is migrated by
# mistake.
APPLICATION_ID = 0x31504374

# Tables of what a person has, each after those that its rows refer to; undo gives these back as they were.
STATE_TABLES = (
    "goals",
    "steps",
    "habits",
    "habit_schedules",
    "habit_pauses",
    "habit_marks",
    "diary",
    "ssp_evaluations",
    "xp_ledger",
    "persons",
)

# Tables of how it came to be; `applied` holds what undo needs.
HISTORY_TABLES = ("audit", "previews", "applied")

MARK_OR_PART = MARK.replace(
    "WHEN new.excuse", "WHEN new.status = 'partial' THEN '~' WHEN new.excuse"
)
UNFOLD = "UPDATE habit_streaks SET until = '', run = 0, best = 0"


def _unfold_triggers(table: str, day: str) -> str:
    """Triggers that set a folded streak back when a folded day changes."""
    triggers = []
    for event, row in (("INSERT", "new"), ("UPDATE", "new"), ("DELETE", "old")):
        triggers.append(f"""CREATE TRIGGER {table}_unfold_{event} AFTER {event} ON {table} BEGIN
    {UNFOLD} WHERE habit_id = {row}.habit_id AND until >= {row}.{day}; END""")
    return "\n\n".join(triggers)


# Version 5: habits as people have them, and the day that a thing counts for: what is done late counts on its
# day, and no journey to another zone moves it. What a habit's schedule is now holds since it began; only a
# change writes a row.
FIFTH = f"""
-- First, so that what follows finds room in the file.
DROP INDEX xp_by_time

DROP INDEX steps_by_completion

DROP INDEX goals_by_completion

ALTER TABLE goals ADD COLUMN due TEXT

ALTER TABLE goals ADD COLUMN archived_at TEXT

ALTER TABLE goals ADD COLUMN completed_on TEXT

ALTER TABLE steps ADD COLUMN completed_on TEXT

ALTER TABLE habits ADD COLUMN times INTEGER

ALTER TABLE habits ADD COLUMN n INTEGER

ALTER TABLE habits ADD COLUMN month_days TEXT

ALTER TABLE habits ADD COLUMN target_amount REAL

ALTER TABLE habits ADD COLUMN target_unit TEXT

ALTER TABLE habits ADD COLUMN archived_at TEXT

CREATE TABLE habit_schedules (
    habit_id INTEGER NOT NULL REFERENCES habits (id), first_day TEXT NOT NULL, user TEXT NOT NULL,
    frequency_type TEXT NOT NULL, detail TEXT, {STAMPS}, PRIMARY KEY (habit_id, first_day)
) STRICT, WITHOUT ROWID

CREATE TABLE habit_pauses (
    habit_id INTEGER NOT NULL REFERENCES habits (id), first_day TEXT NOT NULL, last_day TEXT, user TEXT NOT NULL,
    reason TEXT, {STAMPS}, PRIMARY KEY (habit_id, first_day)
) STRICT, WITHOUT ROWID

CREATE TABLE persons (
    user TEXT PRIMARY KEY, time_zone TEXT, day_start_hour INTEGER NOT NULL DEFAULT 0, {STAMPS}
) STRICT, WITHOUT ROWID

-- A mark may say how much: amounts of a day add up, and a part of what is wanted is a mark of its own
-- kind.
ALTER TABLE habit_marks RENAME TO habit_marks_before

CREATE TABLE habit_marks (
    habit_id INTEGER NOT NULL REFERENCES habits (id), date TEXT NOT NULL, user TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('completed', 'missed', 'partial')), excuse_reason TEXT,
    xp INTEGER NOT NULL, {STAMPS}, amount REAL, PRIMARY KEY (habit_id, date)
) STRICT, WITHOUT ROWID

INSERT INTO habit_marks SELECT *, NULL FROM habit_marks_before

-- And its triggers.
DROP TABLE habit_marks_before

{mark_triggers(MARK_OR_PART)}

-- The day in the person's zone; journals from before this version, when they are redone, name none.
ALTER TABLE xp_ledger ADD COLUMN day TEXT

UPDATE xp_ledger SET day = date_of_stamp(at)

UPDATE steps SET completed_on = date_of_stamp(completed_at) WHERE completed_at IS NOT NULL

UPDATE goals SET completed_on = date_of_stamp(completed_at) WHERE completed_at IS NOT NULL

CREATE TRIGGER xp_dated AFTER INSERT ON xp_ledger WHEN new.day IS NULL BEGIN
    UPDATE xp_ledger SET day = substr(at, 1, 10) WHERE id = new.id; END

CREATE TRIGGER steps_dated AFTER UPDATE OF completed_at ON steps
    WHEN new.completed_on IS NULL AND new.completed_at IS NOT NULL BEGIN
    UPDATE steps SET completed_on = substr(completed_at, 1, 10) WHERE id = new.id; END

CREATE TRIGGER goals_dated AFTER UPDATE OF completed_at ON goals
    WHEN new.completed_on IS NULL AND new.completed_at IS NOT NULL BEGIN
    UPDATE goals SET completed_on = substr(completed_at, 1, 10) WHERE id = new.id; END

CREATE INDEX xp_by_day ON xp_ledger (user, day, xp)

CREATE INDEX steps_by_completion ON steps (user, completed_on) WHERE is_complete = 1 AND deleted_at IS NULL

CREATE INDEX goals_by_completion ON goals (user, completed_on) WHERE status = 'complete' AND deleted_at IS NULL

-- Folded by former rules: the next change folds them again. What changes a day that is folded sets the fold
-- back.
{UNFOLD}

{_unfold_triggers("habit_marks", "date")}

{_unfold_triggers("habit_schedules", "first_day")}

{_unfold_triggers("habit_pauses", "first_day")}

CREATE TRIGGER habits_unfold AFTER UPDATE OF frequency_type, schedule_days, times, n, month_days, created_on
    ON habits BEGIN {UNFOLD} WHERE habit_id = new.id; END
"""

# Version 6: steps that repeat, half-done steps, the day of a goal's last change.
SIXTH = """
ALTER TABLE steps ADD COLUMN progress INTEGER

ALTER TABLE steps ADD COLUMN repeat TEXT

CREATE INDEX steps_repeating ON steps (user, dt) WHERE repeat IS NOT NULL AND deleted_at IS NULL

CREATE INDEX steps_by_change ON steps (goal_id, updated_at)
"""

# Version 7. Until then each look at a series of steps that was not done left a copy of its step: a step whose
# last change is the making of the next one. The series goes on from the first of them.
SEVENTH = """
CREATE TEMP TABLE copies AS WITH RECURSIVE copies (series, id, dt, created_at) AS (
    SELECT id, id, dt, created_at FROM steps WHERE repeat IS NOT NULL AND deleted_at IS NULL
    UNION ALL SELECT c.series, s.id, s.dt, s.created_at FROM copies c JOIN steps n ON n.id = c.id
    JOIN steps s ON s.goal_id = n.goal_id AND s.updated_at = c.created_at AND s.title = n.title AND s.dt < c.dt
    WHERE s.repeat IS NULL AND s.is_complete = 0 AND s.deleted_at IS NULL
) SELECT * FROM copies

UPDATE steps SET dt = (SELECT min(dt) FROM temp.copies WHERE series = steps.id)
    WHERE id IN (SELECT series FROM temp.copies WHERE id <> series)

UPDATE steps SET deleted_at = updated_at WHERE id IN (SELECT id FROM temp.copies WHERE id <> series)

DROP TABLE temp.copies
"""

# Version 8: amounts of goals, habits that end, that stay below a limit, and that add to a goal; the person's
# own order. A habit of every n days begins anew with each day on which it is done: its streaks are counted
# again.
EIGHTH = f"""
ALTER TABLE goals ADD COLUMN target_amount REAL

ALTER TABLE goals ADD COLUMN target_unit TEXT

ALTER TABLE goals ADD COLUMN amount REAL

ALTER TABLE goals ADD COLUMN place REAL

ALTER TABLE habits ADD COLUMN until TEXT

ALTER TABLE habits ADD COLUMN at_most INTEGER

ALTER TABLE habits ADD COLUMN goal_id INTEGER REFERENCES goals (id)

ALTER TABLE habits ADD COLUMN place REAL

CREATE INDEX habits_by_goal ON habits (goal_id) WHERE goal_id IS NOT NULL

DROP TRIGGER habits_unfold

CREATE TRIGGER habits_unfold AFTER UPDATE OF frequency_type, schedule_days, times, n, month_days, created_on, until,
    at_most ON habits BEGIN {UNFOLD} WHERE habit_id = new.id; END

{UNFOLD} WHERE habit_id IN (SELECT id FROM habits WHERE frequency_type = 'every_n_days'
    UNION SELECT habit_id FROM habit_schedules WHERE frequency_type = 'every_n_days')
"""

# Version 9: a note at a mark apart from its excuse.
NINTH = """
ALTER TABLE habit_marks ADD COLUMN note TEXT

UPDATE habit_marks SET note = excuse_reason, excuse_reason = NULL
    WHERE status <> 'missed' OR amount IS NOT NULL
"""

# Migration n takes a database from version n to n + 1; its statements stand apart by an empty line. A
# released one is never edited; append the next.
MIGRATIONS = (FIRST, SECOND, THIRD, FOURTH, FIFTH, SIXTH, SEVENTH, EIGHTH, NINTH)


def migrate(db: Database, upto: int | None = None) -> list[str]:
    """Bring `db`, inside its open write transaction, to version `upto`; by default to the newest, with what
    is derived recounted. Returns the derived tables that differed from the record."""
    version = scalar(db, "PRAGMA user_version")
    db.create_function("date_of_stamp", 1, days.date_of_stamp)
    for migration in MIGRATIONS[version:upto]:
        for statement in migration.split("\n\n"):
            db.execute(statement)
        version += 1
    db.execute(f"PRAGMA user_version = {version}")
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    return derived.recount(db) if upto is None else []
