"""Days as a person counts them: the local date, and which days a habit is scheduled on."""

from dataclasses import dataclass
from datetime import UTC, date, datetime

from tools import settings

WEEK = 7
EVERY_DAY = frozenset(range(1, 8))
NAMED = {"daily": EVERY_DAY, "weekdays": frozenset(range(1, 6)), "weekends": frozenset((6, 7))}
FREQUENCIES = (*NAMED, "weekly", "custom")


def now() -> datetime:
    """This moment, in UTC."""
    return datetime.now(UTC)


def stamp(moment: datetime) -> str:
    """A moment as the database keeps it."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def today(moment: datetime) -> date:
    """The local date at that moment: in ONEPERCENT_TZ, else in the machine's zone."""
    name = settings.current().onepercent_tz
    if not name:
        return moment.astimezone().date()
    from zoneinfo import ZoneInfo

    return moment.astimezone(ZoneInfo(name)).date()


def weekday(day: int) -> int:
    """The ISO weekday, 1 (Monday) to 7, of a day given as its ordinal."""
    return (day - 1) % WEEK + 1


def monday(day: int) -> int:
    """The first day of the ISO week; days are ordinals (date.toordinal)."""
    return day - (day - 1) % WEEK


@dataclass(frozen=True)
class Schedule:
    """The days a habit is due: certain weekdays, or any one day of each ISO week."""

    weekdays: frozenset[int]
    weekly: bool = False

    def period(self, day: int) -> int | None:
        """The first day of the stretch that a mark on `day` counts for; None where nothing is due."""
        if self.weekly:
            return monday(day)
        return day if weekday(day) in self.weekdays else None

    def due_between(self, first: int, last: int) -> bool:
        """Whether something is due after `first` and before `last`; for weekly habits both are Mondays."""
        if last - first > WEEK:
            return True
        return not self.weekly and any(weekday(day) in self.weekdays for day in range(first + 1, last))


def listed(schedule_days: str | None) -> list[int] | None:
    """The weekdays of a custom schedule; the database keeps text like `1,3,5`."""
    return [int(day) for day in schedule_days.split(",")] if schedule_days else None


def schedule(frequency_type: str, schedule_days: str | None) -> Schedule:
    """The schedule that a habit's two columns mean."""
    if frequency_type == "weekly":
        return Schedule(EVERY_DAY, weekly=True)
    return Schedule(NAMED.get(frequency_type) or frozenset(listed(schedule_days)))
