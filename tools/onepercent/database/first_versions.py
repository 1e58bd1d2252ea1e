"""Tables of the first four versions, whose migrations are never edited."""

XP_TRIGGERS = """
-- The first entry is a gain; max() is for the CHECK, which sqlite looks at before it finds the conflict.
CREATE TRIGGER xp_entered AFTER INSERT ON xp_ledger BEGIN
    INSERT INTO xp_balance VALUES (new.user, max(new.xp, 0), max(new.xp, 0)) ON CONFLICT (user) DO UPDATE
    SET balance = balance + new.xp, lifetime = lifetime + max(new.xp, 0); END

CREATE TRIGGER xp_withdrawn AFTER DELETE ON xp_ledger BEGIN
    UPDATE xp_balance SET balance = balance - old.xp, lifetime = lifetime - max(old.xp, 0)
    WHERE user = old.user; END
"""

# The sign of a mark; see habits/histories.py.
MARK = "CASE WHEN new.status = 'completed' THEN '+' WHEN new.excuse_reason IS NOT NULL THEN 'e' ELSE '-' END"

STAMPS = "created_at TEXT NOT NULL, updated_at TEXT NOT NULL"


def mark_triggers(sign: str) -> str:
    """Triggers that put the sign of a mark in its place among the 31 of a month."""
    triggers = []
    for name, event, row, written in (
        ("made", "INSERT", "new", sign),
        ("changed", "UPDATE", "new", sign),
        ("removed", "DELETE", "old", "' '"),
    ):
        triggers.append(f"""CREATE TRIGGER mark_{name} AFTER {event} ON habit_marks BEGIN
    INSERT INTO habit_months VALUES ({row}.habit_id, substr({row}.date, 1, 7),
        printf('%*s%-*s', substr({row}.date, 9) - 1, '', 32 - substr({row}.date, 9), {written}))
    ON CONFLICT (habit_id, month) DO UPDATE SET marks = substr(marks, 1, substr({row}.date, 9) - 1)
        || {written} || substr(marks, substr({row}.date, 9) + 1); END""")
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

{mark_triggers(MARK)}

UPDATE habit_marks SET status = status
"""
