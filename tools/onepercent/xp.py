"""Experience points: what they are worth."""

from tools.core.json_types import JsonObject

GOAL_COMPLETED = 150
STEP_COMPLETED = 25
DIARY_WRITTEN = 10
A_LEVEL = 1000


def charged(balance: int, xp: int) -> int:
    """What a change of `xp` comes to: a penalty takes what is there and no more."""
    return max(xp, -balance)


def levels(balance: int, lifetime: int) -> JsonObject:
    """The snapshot's section: level n starts at 1000·(n−1) of balance; progress in percent."""
    level = balance // A_LEVEL + 1
    return {
        "balance": balance,
        "lifetime": lifetime,
        "level": level,
        "level_progress": balance % A_LEVEL * 100 // A_LEVEL,
        "next_level_xp": level * A_LEVEL,
    }


def score(status: str, steps_completed: int) -> int:
    """What a goal has brought: its steps and, once complete, itself."""
    return steps_completed * STEP_COMPLETED + (GOAL_COMPLETED if status == "complete" else 0)
