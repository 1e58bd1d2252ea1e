"""Numbers of OnePercent: what earns XP, how far back or ahead a day may lie, how much a call may hold."""

GOAL_COMPLETED = 150
STEP_COMPLETED = 25
DIARY_WRITTEN = 10
# XP; a habit has a reward and a penalty of its own, this is the default of both.
HABIT_REWARD = 10
LEVEL_XP = 1000

STEP_DAYS_BACK = 7
MARK_DAYS_BACK = 30
# A mark that is older is warned of: it may be of another month than was meant.
USUAL_MARK_DAYS_BACK = 7
SHIFT_DAYS = 3660
SCHEDULE_DAYS_AHEAD = 7
LATEST_DAY_START_HOUR = 12

MOST_ACTIONS = 50
MOST_IN_LIST = 50
LONGEST_RANGE_DAYS = 366
LONGEST_MINUTES = 480
# A duration below it was probably meant in hours.
FEWEST_LIKELY_MINUTES = 5
LARGEST_N_DAYS = 365
LARGEST_AMOUNT = 1_000_000_000
LARGEST_PLACE = 10_000
LONGEST_INTERVAL = 366

# The applies that can be undone, one after the other.
UNDONE_AT_MOST = 20

# Calls of a user in a sliding minute. They protect from a model in a loop, which is one process.
CALLS_PER_MINUTE = {
    "get_user_snapshot": 60,
    "preview_actions": 30,
    "apply_actions": 20,
    "cancel_preview": 30,
    "undo_last": 30,
    "apply_by_press": 20,
    "tick_by_press": 60,
}

AUDIT_DAYS_KEPT = 90
BACKUP_DAYS_KEPT = 14
BACKUP_MONTHS_KEPT = 12
# The age of the newest backup from which on something is wrong with making them.
BACKUP_DAYS_OLD = 2
