"""The rules of streaks and signs once more, slow and plain: day by day through a whole life."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta

DAY = timedelta(1)
NAMED = {"daily": range(1, 8), "weekdays": range(1, 6), "weekends": (6, 7)}


@dataclass
class PlainHabit:
    """`schedules`: first day, frequency and its numbers, in order; `marks`: `+`, `-`, `e` or `~` by day."""

    created: date
    schedules: list[tuple[date, str, list[int]]]
    pauses: list[tuple[date, date]] = field(default_factory=list)
    marks: dict[date, str] = field(default_factory=dict)

    def streak(self, today: date) -> tuple[int, int]:
        """(run, best)."""
        run = best = 0
        for period, times in self._periods(min(self.marks, default=today), today):
            marks = [self.marks.get(day) for day in period if day <= today and not self.is_paused(day)]
            if times:
                is_kept = marks.count("+") >= times
                is_excused = len(period) < 7 or "e" in marks or any(self.is_paused(day) for day in period)
                is_over = period[-1] < today
            else:
                is_kept, is_excused = marks == ["+"], marks in ([], ["e"])
                is_over = period[0] < today or marks == ["-"]
            if is_kept:
                run += 1
            elif is_over and not is_excused:
                run = 0
            best = max(best, run)
        return run, best

    def signs(self, first: date, last: date, today: date) -> str:
        """A sign for each day."""
        started = min([self.created, *self.marks])
        due = set()
        for period, times in self._periods(min(first, started), max(last, today)):
            if not times:
                due.update(period)
                continue
            missing = times - sum(day in self.marks for day in period)
            if period[-1] >= today:
                due.update([today] if missing > 0 and today in period else [])
            elif len(period) == 7 and not any(self.is_paused(day) for day in period):
                due.update([day for day in reversed(period) if day not in self.marks][: max(missing, 0)])
        signs = ""
        for day in _days(first, last):
            if day in self.marks:
                signs += self.marks[day]
            elif not started <= day <= today:
                signs += "."
            elif self.is_paused(day):
                signs += "p"
            else:
                signs += "?" if day in due else "."
        return signs

    def is_paused(self, day: date) -> bool:
        return any(first <= day <= last for first, last in self.pauses)

    def _periods(self, first: date, last: date) -> Iterator[tuple[list[date], int]]:
        """Due days, and weeks with the times that they want; a week is cut where the schedule changed."""
        week: list[date] = []
        held: tuple = ()
        for day in _days(first - DAY * first.weekday(), last + DAY * (6 - last.weekday())):
            schedule = max((one for one in self.schedules if one[0] <= day), key=lambda one: one[0])
            if week and (day.weekday() == 0 or schedule != held):
                yield week, held[2][0]
                week = []
            held = schedule
            _, frequency, numbers = schedule
            if frequency == "times_per_week":
                week.append(day)
            elif _is_due(day, frequency, numbers, max(schedule[0], self.created)):
                yield [day], 0
        if week:
            yield week, held[2][0]


def _is_due(day: date, frequency: str, numbers: list[int], anchor: date) -> bool:
    if frequency == "every_n_days":
        return (day - anchor).days % numbers[0] == 0
    if frequency == "monthly":
        is_last = (day + DAY).day == 1
        return day.day in numbers or (is_last and max(numbers) > day.day)
    return day.isoweekday() in (numbers if frequency == "custom" else NAMED[frequency])


def _days(first: date, last: date) -> Iterator[date]:
    while first <= last:
        yield first
        first += DAY
