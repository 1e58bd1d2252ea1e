"""Schedules of habits: the days that are due, and the course of a habit through schedules and pauses."""

from collections.abc import Iterator, Mapping
from datetime import date
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from tools.onepercent import days
from tools.onepercent.days import WEEK, Unreadable

NAMED = {"daily": "1,2,3,4,5,6,7", "weekdays": "1,2,3,4,5", "weekends": "6,7"}
DETAILS = {"custom": "schedule_days", "times_per_week": "times", "every_n_days": "n", "monthly": "month_days"}
"""The column that says more of a frequency."""
FREQUENCIES = (*NAMED, "weekly", *DETAILS)
COLUMNS = {"frequency_type", *DETAILS.values()}  # the columns of a habit that say when it is due

BEGINNING = "0001-01-01"
"""The first day of a habit's first schedule: it also holds for marks made before the habit was."""
LAST = "9999-12-31"
FOREVER = date.max.toordinal()


class Schedule(NamedTuple):
    """`times` in each ISO week, on any days; if it is 0: each of `weekdays`; every `n` days from `anchor`;
    `month_days`."""

    weekdays: tuple[int, ...] = ()
    times: int = 0
    n: int = 0
    anchor: int = 0
    month_days: tuple[int, ...] = ()


@lru_cache(maxsize=256)  # many habits have the same schedule
def due(schedule: Schedule, first: int, length: int) -> list[range]:
    """Places of the due days among `length` days from the ordinal `first` on."""
    if len(schedule.weekdays) == WEEK:
        return [range(length)]
    if schedule.n:
        return [range((schedule.anchor - first) % schedule.n, length, schedule.n)]
    if not schedule.month_days:
        return [range((weekday - days.weekday(first)) % WEEK, length, WEEK) for weekday in schedule.weekdays]
    # In a shorter month its last day stands for those after it: the day before the first of the next.
    dates = [date.fromordinal(first + place) for place in range(length + 1)]
    is_due = (
        day.day in schedule.month_days or (day.day < max(schedule.month_days) and after.day == 1)
        for day, after in pairwise(dates)
    )
    return [range(place, place + 1) for place, due in enumerate(is_due) if due]


class Course(NamedTuple):
    """The schedules of a habit in order, each with the ordinal of its first day; pauses as first and last
    ordinals."""

    schedules: tuple[tuple[int, Schedule], ...]
    pauses: tuple[tuple[int, int], ...] = ()

    def _spans(self, first: int, last: int) -> list[tuple[Schedule, int, int]]:
        """The schedules that hold between two days, each with the whole span in which it holds."""
        end = FOREVER
        spans = []
        for begin, schedule in reversed(self.schedules):
            if begin <= last and end >= first:
                spans.append((schedule, begin, end))
            end = begin - 1
        return spans[::-1]

    def due(self, first: int, last: int) -> Iterator[slice]:
        """Places, counted from `first`, of the days that are due between two days, but of habits that count
        by weeks."""
        for schedule, begin, end in self._spans(first, last):
            start = max(begin, first)
            for places in () if schedule.times else due(schedule, start, min(end, last) - start + 1):
                yield slice(places.start + start - first, places.stop + start - first, places.step)

    def weeks(self, first: int, last: int) -> Iterator[tuple[int, int, int, bool]]:
        """The ISO weeks that want some times: how many, first and last day, and if the week is whole and
        without a pause.

        A change of the schedule cuts a week.
        """
        for schedule, begin, end in self._spans(first, last):
            mondays = range(days.monday(max(first, begin)), min(last, end) + 1, WEEK)
            for monday in mondays if schedule.times else ():
                start = max(monday, begin)
                stop = min(monday + WEEK - 1, end)
                is_paused = any(paused <= stop and until >= start for paused, until in self.pauses)
                yield schedule.times, start, stop, stop - start == WEEK - 1 and not is_paused

    def pause(self, day: int) -> int | None:
        """The last day of the pause that a day is in; None if it is in none."""
        return max((end for begin, end in self.pauses if begin <= day <= end), default=None)

    def at(self, day: int) -> Schedule:
        """The schedule that holds on a day."""
        return self._spans(day, day)[0][0]

    def period(self, day: int) -> str:
        """What a streak counts: weeks, days, or times if the days lie apart."""
        schedule = self.at(day)
        if schedule.times:
            return "week"
        return "time" if schedule.n or schedule.month_days else "day"

    def is_due(self, day: int) -> bool:
        """True if something is due on a day; a habit that counts by weeks is due on any."""
        schedule = self.at(day)
        return not self.pause(day) and (bool(schedule.times) or any(due(schedule, day, 1)))


def detail(habit: Mapping[str, Any]) -> str | None:
    """The details of a habit's frequency, as text: `1,3,5`, `3`."""
    column = DETAILS.get(habit["frequency_type"])
    return None if column is None or habit[column] is None else str(habit[column])


def numbers(text: str | None) -> list[int] | None:
    """The numbers of a text like `1,3,5`. Raises Unreadable."""
    try:
        return [int(number) for number in text.split(",")] if text else None
    except (ValueError, AttributeError):
        raise Unreadable(f"not numbers: {text!r:.40}") from None


@lru_cache(maxsize=256)
def schedule(frequency_type: str, detail: str | None, anchor: int = 0) -> Schedule:
    """The schedule that a frequency and what says more of it mean. Raises Unreadable."""
    said = tuple(numbers(NAMED.get(frequency_type) or detail) or (1,))
    if frequency_type in NAMED or frequency_type == "custom":
        return Schedule(weekdays=said)
    if frequency_type == "monthly":
        return Schedule(month_days=said)
    if frequency_type in ("weekly", "times_per_week") and said[0] > 0:
        return Schedule(times=said[0])
    if frequency_type == "every_n_days" and said[0] > 0:
        return Schedule(n=said[0], anchor=anchor)
    raise Unreadable(f"not a frequency: {frequency_type!r:.40} {detail!r:.40}")
