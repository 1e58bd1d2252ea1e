"""Schedules of habits: the days that are due, and the course of a habit through schedules and pauses."""

from collections.abc import Iterable, Iterator, Mapping
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
LAST = "9999-12-31"
FOREVER = date.max.toordinal()


class Schedule(NamedTuple):
    """A frequency with its numbers.

    anchor: every n days are counted from it, the first day or that on which it was done last; weeks from a
    Monday.
    times: how often each ISO week wants it, on any days; 0 if certain days are due.
    turn: the days of a turn of every n days, in which it is to be done once; 0 for another frequency.
    """

    frequency: str
    numbers: tuple[int, ...]
    anchor: int
    times: int
    turn: int

    def due(self, first: int, last: int) -> Iterable[int]:
        """The days between two that are due, one by one, for a schedule of certain days; of a turn its
        first."""
        span = range(first, last + 1)
        if turn := self.turn:
            return range(first + (self.anchor - first) % turn, last + 1, turn)
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
    is_whole: no pause is in it, and nothing cuts it: no change of the schedule, no end, no new beginning of
    the turn.
    is_turn: it is due from its first day on until it is done.
    """

    begin: int
    end: int
    times: int
    is_whole: bool
    is_turn: bool = False


class Course(NamedTuple):
    """The schedules of a habit in order, each with the ordinal of its first day; pauses as first and last
    ordinals; the last day of the habit."""

    schedules: tuple[tuple[int, Schedule], ...]
    pauses: tuple[tuple[int, int], ...]
    last_day: int = FOREVER

    def spans(self, first: int, last: int) -> Iterator[tuple[Schedule, int, int]]:
        """The schedules that hold between two days, each with the whole span in which it holds."""
        ends = [begin - 1 for begin, _ in self.schedules[1:]]
        for (begin, schedule), end in zip(self.schedules, [*ends, FOREVER], strict=True):
            if begin <= last and end >= first:
                yield schedule, begin, end

    def periods(self, first: int, last: int) -> Iterator[Period]:
        """The due days between two days, and the weeks and turns that have a day of them."""
        for schedule, begin, span_end in self.spans(first, last):
            end = min(span_end, self.last_day)
            start = max(begin, first)
            stop = min(end, last)
            length = WEEK if schedule.times else schedule.turn
            if not length:
                for day in schedule.due(start, stop):
                    yield Period(day, day, 1, not self._is_paused(day, day))
                continue
            # Of a week or turn that `first` cuts, the days before it belong to the period, too.
            for day in range(start - (start - schedule.anchor) % length, stop + 1, length):
                opening = max(day, begin)
                closing = min(day + length - 1, end)
                is_cut = closing - opening < length - 1
                if schedule.times:
                    if closing < day + length - 1 and self.schedule_on(closing + 1).times:
                        continue  # The last rate of a week judges all its days that count by the week.
                    while opening > day and self.schedule_on(opening - 1).times:
                        opening -= 1
                is_whole = not is_cut and not self._is_paused(opening, closing)
                yield Period(opening, closing, schedule.times or 1, is_whole, bool(schedule.turn))

    def _is_paused(self, first: int, last: int) -> bool:
        return any(begin <= last and end >= first for begin, end in self.pauses)

    def pause_end(self, day: int) -> int | None:
        """The last day of the pause that a day is in; None if it is in none."""
        return max((end for begin, end in self.pauses if begin <= day <= end), default=None)

    def schedule_on(self, day: int) -> Schedule:
        """The schedule that holds on a day."""
        schedule, _, _ = next(self.spans(day, day))
        return schedule

    def unit_of_streak(self, day: int) -> str:
        """The unit of a streak: weeks, days, or times if the days lie apart."""
        schedule = self.schedule_on(day)
        if schedule.times:
            return "week"
        return "time" if schedule.frequency in ("every_n_days", "monthly") else "day"

    def is_due(self, day: int) -> bool:
        """True if something is due on a day; a habit that counts by weeks is due on any, a turn on its
        first."""
        if day > self.last_day or self.pause_end(day):
            return False
        schedule = self.schedule_on(day)
        return bool(schedule.times) or any(schedule.due(day, day))


def detail_of(habit: Mapping[str, Any]) -> str | None:
    """The details of a habit's frequency, as text: `1,3,5`, `3`."""
    column = DETAILS.get(habit["frequency_type"])
    value = habit[column] if column else None
    return None if value is None else str(value)


def parsed_numbers(text: str | None) -> list[int] | None:
    """The numbers of a text like `1,3,5`. Raises Unreadable."""
    try:
        return [int(number) for number in text.split(",")] if text else None
    except (ValueError, AttributeError):
        raise Unreadable(f"not numbers: {text!r:.40}") from None


def schedule_of(frequency_type: str, detail: str | None, anchor: int = 0) -> Schedule:
    """The schedule of a frequency with its details, `1,3,5` or `3`. Raises Unreadable."""
    values = tuple(parsed_numbers(WEEKDAYS_OF.get(frequency_type) or detail) or (1,))
    if frequency_type not in FREQUENCIES or min(values) < 1:
        raise Unreadable(f"not a frequency: {frequency_type!r:.40} {detail!r:.40}")
    times = values[0] if frequency_type in ("weekly", "times_per_week") else 0
    turn = values[0] if frequency_type == "every_n_days" else 0
    return Schedule(frequency_type, values, days.monday(anchor) if times else anchor, times, turn)
