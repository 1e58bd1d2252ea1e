"""Intervals as Anki writes them on its buttons: 30s, 10m, 12d, 1.2mo, 2y."""

MINUTE, HOUR, DAY = 60, 3600, 86400
MONTH, YEAR = 30 * DAY, 365 * DAY

WHOLE = ((MINUTE, 1, "s"), (HOUR, MINUTE, "m"))
"""(below, unit in seconds, name); hours, months and years have one decimal, days none."""


def span(seconds: float) -> str:
    """So many seconds in Anki's short form."""
    for below, unit, name in WHOLE:
        if seconds < below:
            return f"{round(seconds / unit)}{name}"
    if seconds < DAY:
        return f"{_short(seconds / HOUR)}h"
    if seconds < MONTH:
        return f"{round(seconds / DAY)}d"
    if seconds < YEAR:
        return f"{_short(seconds / MONTH)}mo"
    return f"{_short(seconds / YEAR)}y"


def of_log(interval: int) -> str:
    """An interval of the review log: days, or seconds if it is negative."""
    return span(interval * DAY if interval >= 0 else -interval)


def _short(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
