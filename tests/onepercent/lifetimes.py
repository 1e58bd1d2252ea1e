"""Years of somebody's life in the database, for benchmarks and tests of speed."""

from tools.onepercent.base import days
from tools.onepercent.database import store
from tools.onepercent.habits import histories

STAMP = "2026-01-01T09:00:00.000Z"

# What a year leaves: 300 goals, 3000 steps, 500 entries, 1000 calls, and a mark on 21 of 23 days of each
# habit; however long, 20 goals are open with 5 open steps each.
NUMBERS = """WITH RECURSIVE numbers(n) AS
    (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < 3000 * :years)"""
LIFE = (
    """INSERT INTO goals (user, created_at, updated_at, title, category, status)
    SELECT 'local', :stamp, :stamp, 'Марафон', 'work', iif(n < :closed, 'complete', 'work')
    FROM numbers WHERE n < 300 * :years""",
    """INSERT INTO steps (user, created_at, updated_at, title, priority, goal_id, is_complete, dt)
    SELECT 'local', :stamp, :stamp, 'Бег 5 км', 'attention', :closed + 1 + n % 20, 0,
        date(:today, (n % 30) || ' days')
    FROM numbers WHERE n < 100""",
    """INSERT INTO steps (user, created_at, updated_at, title, priority, goal_id, is_complete,
        dt, completed_at)
    SELECT 'local', :stamp, :stamp, 'Глава 12', 'attention', 1 + n % :closed, 1,
        day, day || 'T09:00:00.000Z'
    FROM (SELECT n, date(:today, -(1 + n * 7 % (:length - 1)) || ' days') AS day FROM numbers)
    WHERE n < 3000 * :years - 100""",
    """INSERT INTO habits (user, created_at, updated_at, name, frequency_type, icon,
        xp_reward, xp_penalty, created_on)
    SELECT 'local', :stamp, :stamp, 'Привычка ' || n, iif(n % 3, 'daily', 'weekdays'), 'star',
        10, 10, date(:today, -:length || ' days')
    FROM numbers WHERE n < :habits""",
    """INSERT INTO habit_marks (user, created_at, updated_at, habit_id, date, status, xp)
    SELECT 'local', :stamp, :stamp, id, date(:today, -numbers.n || ' days'),
        iif((numbers.n + id) % 10, 'completed', 'missed'), 10
    FROM habits, numbers WHERE numbers.n < :length AND (numbers.n * 7 + id * 5) % 23 > 1""",
    """INSERT INTO diary (user, created_at, updated_at, date, what_done, plans)
    SELECT 'local', :stamp, :stamp, date(:today, -(n * 7 % :length) || ' days'), :text, :text
    FROM numbers WHERE n < 500 * :years""",
    """INSERT INTO xp_ledger (user, at, xp, action, entity_id)
    SELECT user, date || 'T09:00:00.000Z', xp, 'habit.mark_completed', 1
    FROM habit_marks ORDER BY date""",
    """INSERT INTO audit (request_id, at, user, tool, ms, request, answer)
    SELECT 'x', :stamp, 'local', 'preview_actions', 5.0, :text, :text
    FROM numbers WHERE n < 1000 * :years""",
)


def live(years, habits=30):
    """Fill the present database, which is empty, with what a busy person leaves in that time."""
    today = days.today(days.now())
    values = {"years": years, "habits": habits, "today": str(today), "length": 365 * years}
    values |= {"closed": 300 * years - 20, "stamp": STAMP, "text": "Сделано. " * 60}
    with store.writing() as db:
        for statement in LIFE:
            db.execute(f"{NUMBERS} {statement}", values)
        histories.fold_streaks(db, today)
