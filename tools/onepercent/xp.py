"""Experience points: what they are worth."""

from tools.core.json_types import JsonObject

GOAL_COMPLETED = 150
STEP_COMPLETED = 25
DIARY_WRITTEN = 10
A_LEVEL = 1000


def charged(balance: int, xp: int) -> int:
    """The amount a change of `xp` really makes: a penalty takes at most the balance."""
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
    """The XP of a goal: of its completed steps, and of its own completion."""
    return steps_completed * STEP_COMPLETED + (GOAL_COMPLETED if status == "complete" else 0)
