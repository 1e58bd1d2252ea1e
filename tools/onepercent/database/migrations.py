"""The tables of the database, version by version.

Tables of record hold what a person did. Derived tables make reading cheap whatever the history; triggers keep
them, `derived.py` counts them from the record, and they are never exported.
"""

from tools.onepercent import days
from tools.onepercent.database import Database, derived

APPLICATION_ID = 0x31504374
"""Marks the file as ours (PRAGMA application_id), so that no other program's database is migrated by
mistake."""

STATE = ("goals", "steps", "habits", "habit_schedules", "habit_pauses", "habit_marks", "diary", "ssp_evaluations",
         "xp_ledger", "persons")  # fmt: skip
"""Tables of what a person has, each after those that its rows refer to; undo gives these back as they were."""

HISTORY = ("audit", "previews", "applied")
"""Tables of how it came to be; `applied` says how to take the last of it back."""

XP_TRIGGERS = """
-- The first entry is a gain; max() is for the CHECK, which sqlite looks at before it finds the conflict.
CREATE TRIGGER xp_entered AFTER INSERT ON xp_ledger BEGIN
    INSERT INTO xp_balance VALUES (new.user, max(new.xp, 0), max(new.xp, 0)) ON CONFLICT (user) DO UPDATE
    SET balance = balance + new.xp, lifetime = lifetime + max(new.xp, 0); END

CREATE TRIGGER xp_withdrawn AFTER DELETE ON xp_ledger BEGIN
    UPDATE xp_balance SET balance = balance - old.xp, lifetime = lifetime - max(old.xp, 0)
    WHERE user = old.user; END
"""

MARK = "CASE WHEN new.status = 'completed' THEN '+' WHEN new.excuse_reason IS NOT NULL THEN 'e' ELSE '-' END"
MARK_OR_PART = MARK.replace("WHEN new.excuse", "WHEN new.status = 'partial' THEN '~' WHEN new.excuse")
"""The sign of a mark; see habits/histories.py."""

UNFOLD = "UPDATE habit_streaks SET until = '', run = 0, best = 0"
STAMPS = "created_at TEXT NOT NULL, updated_at TEXT NOT NULL"


def _mark_triggers(sign: str) -> str:
    """Put the sign of a mark in its place among the 31 of a month."""
    triggers = []
    for name, event, row, put in (
        ("made", "INSERT", "new", sign),
        ("changed", "UPDATE", "new", sign),
        ("removed", "DELETE", "old", "' '"),
    ):
        triggers.append(f"""CREATE TRIGGER mark_{name} AFTER {event} ON habit_marks BEGIN
    INSERT INTO habit_months VALUES ({row}.habit_id, substr({row}.date, 1, 7),
        printf('%*s%-*s', substr({row}.date, 9) - 1, '', 32 - substr({row}.date, 9), {put}))
    ON CONFLICT (habit_id, month) DO UPDATE SET marks = substr(marks, 1, substr({row}.date, 9) - 1)
        || {put} || substr(marks, substr({row}.date, 9) + 1); END""")
    return "\n\n".join(triggers)


def _unfold_triggers(table: str, day: str) -> str:
    """Set the fold of a streak back when a day that is folded changes."""
    triggers = []
    for event, row in (("INSERT", "new"), ("UPDATE", "new"), ("DELETE", "old")):
        triggers.append(f"""CREATE TRIGGER {table}_unfold_{event} AFTER {event} ON {table} BEGIN
    {UNFOLD} WHERE habit_id = {row}.habit_id AND until >= {row}.{day}; END""")
    return "\n\n".join(triggers)


# Version 1. Rows are hidden by deleted_at, never removed. Reading costs the same after ten years: sums that a
# snapshot shows are kept by triggers, and partial indexes hold only what is undeleted.
FIRST = f"""
CREATE TABLE goals (
    id INTEGER PRIMARY KEY AUTOINCREMENT, user TEXT NOT NULL,
    title TEXT NOT NULL, category TEXT NOT NULL, why_important TEXT, why_give_me TEXT, why_about_me TEXT,
    status TEXT NOT NULL DEFAULT 'work' CHECK (status IN ('work', 'complete')), completed_at TEXT,
    created_at TEXT NOT NULL, updated_at TEXT NOT NULL, deleted_at TEXT
) STRICT

CREATE INDEX goals_by_status ON goals (user, status) WHERE deleted_at IS NULL

CREATE TABLE steps (
    id INTEGER PRIMARY KEY AUTOINCREMENT, user TEXT NOT NULL, goal_id INTEGER NOT NULL REFERENCES goals (id),
    title TEXT NOT NULL, description TEXT, priority TEXT NOT NULL, dt TEXT, time_duration INTEGER, "order" INTEGER,
    is_complete INTEGER NOT NULL DEFAULT 0 CHECK (is_complete IN (0, 1)), completed_at TEXT,
    created_at TEXT NOT NULL, updated_at TEXT NOT NULL, deleted_at TEXT
) STRICT

-- The order in which a goal's steps are shown: absent values last.
CREATE INDEX steps_by_goal ON steps
    (goal_id, is_complete, ifnull("order", 9999999), ifnull(dt, '9999-12-32'), id) WHERE deleted_at IS NULL

CREATE INDEX steps_by_date ON steps (user, is_complete, dt) WHERE deleted_at IS NULL AND dt IS NOT NULL

CREATE TABLE habits (
    id INTEGER PRIMARY KEY AUTOINCREMENT, user TEXT NOT NULL,
    name TEXT NOT NULL, description TEXT, icon TEXT NOT NULL,
    xp_reward INTEGER NOT NULL, xp_penalty INTEGER NOT NULL,
    frequency_type TEXT NOT NULL, schedule_days TEXT,
    created_on TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL, deleted_at TEXT
) STRICT

CREATE INDEX habits_by_user ON habits (user) WHERE deleted_at IS NULL

-- xp: what the mark has brought so far, so that replacing it corrects exactly that.
CREATE TABLE habit_marks (
    habit_id INTEGER NOT NULL REFERENCES habits (id), date TEXT NOT NULL, user TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('completed', 'missed')), excuse_reason TEXT, xp INTEGER NOT NULL,
    created_at TEXT NOT NULL, updated_at TEXT NOT NULL, PRIMARY KEY (habit_id, date)
) STRICT, WITHOUT ROWID

CREATE TABLE diary (
    id INTEGER PRIMARY KEY AUTOINCREMENT, user TEXT NOT NULL, date TEXT NOT NULL,
    what_done TEXT, what_not_done TEXT, reflection TEXT, plans TEXT,
    created_at TEXT NOT NULL, updated_at TEXT NOT NULL
) STRICT

CREATE INDEX diary_by_date ON diary (user, date)

CREATE TABLE ssp_evaluations (
    id INTEGER PRIMARY KEY AUTOINCREMENT, user TEXT NOT NULL, created_at TEXT NOT NULL,
    work INTEGER, health_sport INTEGER, welfare INTEGER, family INTEGER, environment INTEGER, hobby INTEGER
) STRICT

CREATE INDEX ssp_by_user ON ssp_evaluations (user, id)

CREATE TABLE xp_ledger (
    id INTEGER PRIMARY KEY, user TEXT NOT NULL, at TEXT NOT NULL, xp INTEGER NOT NULL,
    action TEXT NOT NULL, entity_id INTEGER NOT NULL
) STRICT

-- plan: what a pending preview would do; its answer, once applied, is in the audit.
CREATE TABLE previews (
    id TEXT PRIMARY KEY, user TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'applied', 'cancelled', 'expired')),
    created_at TEXT NOT NULL, expires_at REAL NOT NULL, plan TEXT,
    idempotency_key TEXT, audit_id INTEGER REFERENCES audit (id)
) STRICT, WITHOUT ROWID

CREATE UNIQUE INDEX previews_by_key ON previews (user, idempotency_key) WHERE idempotency_key IS NOT NULL

CREATE INDEX previews_pending ON previews (user, expires_at) WHERE status = 'pending'

CREATE TABLE last_applied (
    user TEXT PRIMARY KEY, preview_id TEXT NOT NULL REFERENCES previews (id), journal TEXT NOT NULL
) STRICT, WITHOUT ROWID

CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT, request_id TEXT NOT NULL, at TEXT NOT NULL, user TEXT NOT NULL,
    tool TEXT NOT NULL, request TEXT NOT NULL, answer TEXT NOT NULL, error TEXT, ms REAL NOT NULL
) STRICT

CREATE TABLE goal_progress (
    goal_id INTEGER PRIMARY KEY REFERENCES goals (id) ON DELETE CASCADE,
    steps_count INTEGER NOT NULL DEFAULT 0, steps_completed INTEGER NOT NULL DEFAULT 0
) STRICT

CREATE TRIGGER goal_created AFTER INSERT ON goals BEGIN INSERT INTO goal_progress (goal_id) VALUES (new.id); END

CREATE TRIGGER step_created AFTER INSERT ON steps WHEN new.deleted_at IS NULL BEGIN
    UPDATE goal_progress SET steps_count = steps_count + 1, steps_completed = steps_completed + new.is_complete
    WHERE goal_id = new.goal_id; END

CREATE TRIGGER step_removed AFTER DELETE ON steps WHEN old.deleted_at IS NULL BEGIN
    UPDATE goal_progress SET steps_count = steps_count - 1, steps_completed = steps_completed - old.is_complete
    WHERE goal_id = old.goal_id; END

CREATE TRIGGER step_changed AFTER UPDATE OF is_complete, deleted_at ON steps BEGIN
    UPDATE goal_progress SET
        steps_count = steps_count + (new.deleted_at IS NULL) - (old.deleted_at IS NULL),
        steps_completed = steps_completed + (new.deleted_at IS NULL AND new.is_complete)
            - (old.deleted_at IS NULL AND old.is_complete)
    WHERE goal_id = new.goal_id; END

CREATE TABLE xp_balance (
    user TEXT PRIMARY KEY, balance INTEGER NOT NULL CHECK (balance >= 0), lifetime INTEGER NOT NULL
) STRICT, WITHOUT ROWID

{XP_TRIGGERS}

-- All marks up to the day `until` folded together; see habits/histories.py.
CREATE TABLE habit_streaks (
    habit_id INTEGER PRIMARY KEY REFERENCES habits (id) ON DELETE CASCADE, until TEXT NOT NULL DEFAULT '',
    run INTEGER NOT NULL DEFAULT 0, best INTEGER NOT NULL DEFAULT 0, last INTEGER NOT NULL DEFAULT 0
) STRICT

CREATE TRIGGER habit_created AFTER INSERT ON habits BEGIN INSERT INTO habit_streaks (habit_id) VALUES (new.id); END
"""

# Version 2: ids of the XP ledger are never given again. An undo takes entries out, and undoing that puts them
# back under their ids: nobody else may have got those meanwhile.
SECOND = f"""
DROP TRIGGER xp_entered

DROP TRIGGER xp_withdrawn

ALTER TABLE xp_ledger RENAME TO xp_ledger_before

CREATE TABLE xp_ledger (
    id INTEGER PRIMARY KEY AUTOINCREMENT, user TEXT NOT NULL, at TEXT NOT NULL, xp INTEGER NOT NULL,
    action TEXT NOT NULL, entity_id INTEGER NOT NULL
) STRICT

INSERT INTO xp_ledger SELECT id, user, at, xp, action, entity_id FROM xp_ledger_before

DROP TABLE xp_ledger_before

{XP_TRIGGERS}
"""

# Version 3: undo walks back, the diary can be deleted, steps move, history looks back. applied: what was
# applied, the last of each user, with the changes that led to the present state: taking them back is the undo
# of what is not undone, and the redo of what is.
THIRD = """
ALTER TABLE diary ADD COLUMN deleted_at TEXT

DROP INDEX diary_by_date

CREATE INDEX diary_by_date ON diary (user, date) WHERE deleted_at IS NULL

CREATE TABLE applied (
    id INTEGER PRIMARY KEY AUTOINCREMENT, user TEXT NOT NULL, preview_id TEXT NOT NULL REFERENCES previews (id),
    undone INTEGER NOT NULL DEFAULT 0 CHECK (undone IN (0, 1)), journal TEXT NOT NULL
) STRICT

-- What was applied last may have been an undo, which began its lines so.
INSERT INTO applied (user, preview_id, undone, journal)
    SELECT user, preview_id, journal LIKE '%"lines":["Отменено: %', journal FROM last_applied

DROP TABLE last_applied

CREATE INDEX applied_by_user ON applied (user, id)

CREATE TRIGGER step_moved AFTER UPDATE OF goal_id ON steps
    WHEN new.goal_id <> old.goal_id AND new.deleted_at IS NULL BEGIN
    UPDATE goal_progress SET steps_count = steps_count - 1, steps_completed = steps_completed - new.is_complete
    WHERE goal_id = old.goal_id;
    UPDATE goal_progress SET steps_count = steps_count + 1, steps_completed = steps_completed + new.is_complete
    WHERE goal_id = new.goal_id; END

-- Of old calls only those stay that a repeated idempotency_key is answered from.
CREATE INDEX audit_by_time ON audit (at)

CREATE INDEX previews_by_audit ON previews (audit_id) WHERE audit_id IS NOT NULL

ALTER TABLE audit ADD COLUMN token TEXT NOT NULL DEFAULT ''

-- Looking back: what was closed and earned between two days.
CREATE INDEX steps_by_completion ON steps (user, completed_at) WHERE is_complete = 1 AND deleted_at IS NULL

CREATE INDEX goals_by_completion ON goals (user, completed_at) WHERE status = 'complete' AND deleted_at IS NULL

CREATE INDEX xp_by_time ON xp_ledger (user, at)

CREATE INDEX xp_by_entity ON xp_ledger (entity_id, action)
"""

# Version 4: a year of history costs what a few snapshots cost.
FOURTH = f"""
-- Sums of XP between two moments are read from the index alone.
DROP INDEX xp_by_time

CREATE INDEX xp_by_time ON xp_ledger (user, at, xp)

-- A year of marks in twelve rows: 31 signs a month, a blank where there is no mark.
CREATE TABLE habit_months (
    habit_id INTEGER NOT NULL REFERENCES habits (id) ON DELETE CASCADE, month TEXT NOT NULL, marks TEXT NOT NULL,
    PRIMARY KEY (habit_id, month)
) STRICT, WITHOUT ROWID

{_mark_triggers(MARK)}

UPDATE habit_marks SET status = status
"""

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

{_mark_triggers(MARK_OR_PART)}

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

# Version 7. Until then each look at a series of steps that was not done left a copy of its step: a step whose last
# change is the making of the next one. The series goes on from the first of them.
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

MIGRATIONS = (FIRST, SECOND, THIRD, FOURTH, FIFTH, SIXTH, SEVENTH)
"""Migration n takes a database from version n to n + 1; its statements stand apart by an empty line. A released
one is never edited; append the next."""


def migrate(db: Database, upto: int | None = None) -> list[str]:
    """Bring `db`, inside its open write transaction, to version `upto`; by default to the newest, with what is derived
    counted anew. Returns the derived tables that differed from the record."""
    version = db.execute("PRAGMA user_version").fetchone()[0]
    db.create_function("date_of_stamp", 1, days.date_of_stamp)
    for migration in MIGRATIONS[version:upto]:
        for statement in migration.split("\n\n"):
            db.execute(statement)
        version += 1
    db.execute(f"PRAGMA user_version = {version}")
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    return derived.count_anew(db) if upto is None else []
