"""Derived tables: compared with the record that they are counted from, and recounted."""

from . import Database, scalar

STEPS_OF_GOAL = "FROM steps WHERE goal_id = goals.id AND deleted_at IS NULL"
XP = "FROM xp_ledger WHERE user = users.user"
# The query that counts all rows of a table.
COUNTING_QUERIES = {
    "goal_progress": f"""SELECT id, (SELECT count(*) {STEPS_OF_GOAL}), (SELECT count(*) {STEPS_OF_GOAL} AND is_complete)
        FROM goals""",
    # Who has undone everything keeps a row.
    "xp_balance": f"""SELECT user, (SELECT ifnull(sum(xp), 0) {XP}), (SELECT ifnull(sum(max(xp, 0)), 0) {XP})
        FROM (SELECT user FROM xp_ledger UNION SELECT user FROM xp_balance) AS users""",
}

SIGN = """CASE m.status WHEN 'completed' THEN '+' WHEN 'partial' THEN '~'
    ELSE iif(excuse_reason IS NULL, '-', 'e') END"""
# The query that selects a row if a table differs from the record.
DIFFERENT = {
    "habit_months": f"""SELECT 1 FROM habit_marks m LEFT JOIN habit_months o ON o.habit_id = m.habit_id
        AND o.month = substr(date, 1, 7) WHERE substr(marks, substr(date, 9), 1) IS NOT {SIGN}
        UNION ALL SELECT 1 WHERE (SELECT count(*) FROM habit_marks)
        <> (SELECT ifnull(sum(length(replace(marks, ' ', ''))), 0) FROM habit_months)""",
    "habit_streaks": "SELECT id FROM habits EXCEPT SELECT habit_id FROM habit_streaks",
}
for _table, _query in COUNTING_QUERIES.items():
    DIFFERENT[_table] = f"""SELECT * FROM (SELECT * FROM {_table} EXCEPT {_query})
        UNION ALL SELECT * FROM ({_query} EXCEPT SELECT * FROM {_table})"""


def differing(db: Database) -> list[str]:
    """Derived tables that differ from the record; the runs of folded streaks are not compared."""
    return [table for table, query in DIFFERENT.items() if scalar(db, query)]


def recount(db: Database) -> list[str]:
    """Recount the derived tables inside the open write transaction; return those that differed."""
    different = differing(db)
    for table, query in COUNTING_QUERIES.items():
        db.execute(f"INSERT OR REPLACE INTO {table} {query}")

    db.execute("INSERT OR REPLACE INTO habit_streaks (habit_id) SELECT id FROM habits")
    # Triggers put a mark that is written into its month.
    db.execute("DELETE FROM habit_months")
    db.execute("UPDATE habit_marks SET status = status")
    return different
