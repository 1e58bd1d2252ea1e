"""Schedules of habits: which days are due, and the course of a habit through schedules and pauses."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

from ..base import days
from ..base.days import WEEK, Unreadable

WEEKDAYS_OF = {"daily": "1,2,3,4,5,6,7", "weekdays": "1,2,3,4,5", "weekends": "6,7"}
# The column with the details of a frequency.
DETAILS = {
    "custom": "schedule_days",
    "times_per_week": "times",
    "every_n_days": "n",
    "monthly": "month_days",
}
FREQUENCIES = (*WEEKDAYS_OF, "weekly", *DETAILS)

# The first day of a habit's first schedule, which holds for marks older than the habit too.
BEGINNING = "0001-01-01"
LAST_DATE = "9999-12-31"
FOREVER = date.max.toordinal()


class Schedule(NamedTuple):
    """A frequency with its numbers.

    anchor: the day from which every n days are counted, the first one or the last one done; of weeks a
    Monday.
    times: how often it is to be done in each ISO week, on any days; 0 if certain days are due.
    length: the days of a week, or of a turn of every n days; else 1.
    """

    frequency: str
    numbers: tuple[int, ...]
    anchor: int
    times: int
    length: int

    @property
    def is_turn(self) -> bool:
        """True if it is to be done once in every n days."""
        return self.frequency == "every_n_days"

    def days_due(self, first: int, last: int) -> Iterable[int]:
        """Due days between two days, one by one; of a week or turn its first."""
        span = range(first, last + 1)
        if self.times or self.is_turn:
            return span[(self.anchor - first) % self.length :: self.length]
        if self.frequency == "monthly":
            return filter(self._is_due_in_month, span)
        # No call per day: this runs over years of habits.
        return (day for day in span if (day - 1) % WEEK + 1 in self.numbers)

    def _is_due_in_month(self, day: int) -> bool:
        # In a shorter month its last day stands for those after it: the day before the first of the next.
        of_month = date.fromordinal(day).day
        is_last = date.fromordinal(day + 1).day == 1
        return of_month in self.numbers or (is_last and of_month < max(self.numbers))


class Period(NamedTuple):
    """A due day, an ISO week, or a turn of every n days.

    begin, end: its first and last day; times: how often a habit is to be kept in it.
    is_whole: no pause is in it, and nothing cuts it: neither a change of the schedule, nor the habit's last
    day, nor a turn that began early.
    is_turn: it is due from its first day on until it is done.
    """

    begin: int
    end: int
    times: int
    is_whole: bool
    is_turn: bool


# Schedules in order, each with the ordinal of its first day.
Schedules = Sequence[tuple[int, Schedule]]


class Course(NamedTuple):
    """The schedules of a habit, its pauses by their first and last days, and its last day."""

    schedules: Schedules
    pauses: Sequence[tuple[int, int]]
    last_day: int = FOREVER

    def spans(self, first: int, last: int) -> Iterator[tuple[Schedule, int, int]]:
        """Schedules that hold between two days, each with the first and last day of its time."""
        ends = [begin - 1 for begin, _ in self.schedules[1:]]
        for (begin, schedule), end in zip(self.schedules, [*ends, FOREVER]):
            if begin <= last and end >= first:
                yield schedule, begin, end

    def periods(self, first: int, last: int) -> Iterator[Period]:
        """Due days between two days, and weeks and turns that have a day among them."""
        for schedule, begin, end in self.spans(first, last):
            end = min(end, self.last_day)
            # Of a week or turn that `first` cuts, the days before it belong to the period, too.
            start = max(begin, first)
            start -= (start - schedule.anchor) % schedule.length
            for day in schedule.days_due(start, min(end, last)):
                # If the week continues under another weekly schedule, that schedule judges the whole week.
                last_of_period = day + schedule.length - 1
                is_continued = schedule.times and end < last_of_period
                if is_continued and self.schedule_on(end + 1).times:
                    continue

                # Of the period, the days between `begin` and `end` count.
                opening = max(day, begin)
                closing = min(last_of_period, end)
                is_cut = (opening, closing) != (day, last_of_period)
                is_paused = any(
                    since <= closing and until >= opening for since, until in self.pauses
                )
                while schedule.times and opening > day and self.schedule_on(opening - 1).times:
                    opening -= 1
                is_whole = not (is_cut or is_paused)
                yield Period(opening, closing, schedule.times or 1, is_whole, schedule.is_turn)

    def pause_end(self, day: int) -> int | None:
        """Last day of the pause that a day is in; None if it is in none."""
        return max((end for begin, end in self.pauses if begin <= day <= end), default=None)

    def schedule_on(self, day: int) -> Schedule:
        """Schedule that holds on a day."""
        schedule, _, _ = next(self.spans(day, day))
        return schedule

    def is_due(self, day: int) -> bool:
        """True if something is due on a day; a habit that counts by weeks is due on any, a turn on its
        first."""
        if day > self.last_day or self.pause_end(day):
            return False
        schedule = self.schedule_on(day)
        return bool(schedule.times) or any(schedule.days_due(day, day))


def detail_of(habit: Mapping[str, Any]) -> str | None:
    """Details of a habit's frequency, as text: `1,3,5`, `3`."""
    column = DETAILS.get(habit["frequency_type"])
    return str(habit[column]) if column and habit[column] else None


def parsed_numbers(text: str | None) -> list[int] | None:
    """Numbers of a text like `1,3,5`. Raises Unreadable."""
    try:
        return [int(number) for number in text.split(",")] if text else None
    except ValueError:
        raise Unreadable(f"not numbers: {text!r:.40}") from None


def schedule_of(frequency_type: str, detail: str | None, anchor: int = 0) -> Schedule:
    """Schedule of a frequency with its details, `1,3,5` or `3`. Raises Unreadable."""
    values = tuple(parsed_numbers(WEEKDAYS_OF.get(frequency_type) or detail) or (1,))
    if frequency_type not in FREQUENCIES or min(values) < 1:
        raise Unreadable(f"not a frequency: {frequency_type!r:.40} {detail!r:.40}")
    if frequency_type in ("weekly", "times_per_week"):
        return Schedule(frequency_type, values, days.monday(anchor), values[0], WEEK)
    length = values[0] if frequency_type == "every_n_days" else 1
    return Schedule(frequency_type, values, anchor, 0, length)
