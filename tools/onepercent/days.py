"""Days as a person counts them: the local date, and which days a habit is scheduled on."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone

from tools.onepercent import settings

WEEK = 7
YEAR = 366
EVERY_DAY = frozenset(range(1, 8))
NAMED = {"daily": EVERY_DAY, "weekdays": frozenset(range(1, 6)), "weekends": frozenset((6, 7))}
FREQUENCIES = (*NAMED, "weekly", "custom")


class Unreadable(ValueError):
    """The database holds a value that the tools never wrote."""


def now() -> datetime:
    """This moment, in UTC."""
    return datetime.now(timezone.utc)


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


def midnight(day: date) -> str:
    """The moment at which a local day begins, as the database keeps moments."""
    start = datetime.combine(day, time())
    if name := settings.current().onepercent_tz:
        from zoneinfo import ZoneInfo

        start = start.replace(tzinfo=ZoneInfo(name))
    return stamp(start.astimezone(timezone.utc))


def zone_name() -> str:
    """The zone that decides what today is."""
    return settings.current().onepercent_tz or f"{now().astimezone():%Z}"


def date_hint(value: object) -> str:
    """What today is, and the date that a word like «завтра» means, for the hint of an error."""
    present = today(now())
    hint = f"Today is {present} ({present:%A})."
    word = value.strip().lower() if isinstance(value, str) else ""
    if word in AHEAD:
        return f"{hint} «{word}» is {present + timedelta(days=AHEAD[word])}."
    if word in WEEKDAY_NAMES:
        ahead = (WEEKDAY_NAMES.index(word) % WEEK - present.weekday() - 1) % WEEK + 1
        return f"{hint} The next «{word}» is {present + timedelta(days=ahead)}."
    return hint


AHEAD = {
    "позавчера": -2, "вчера": -1, "сегодня": 0, "завтра": 1, "послезавтра": 2,
    "yesterday": -1, "today": 0, "tomorrow": 1,
}  # fmt: skip
WEEKDAY_NAMES = (
    "понедельник", "вторник", "среда", "четверг", "пятница", "суббота", "воскресенье",
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
)  # fmt: skip


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


def parsed(day: str) -> date:
    """A date as the database keeps it.

    Raises Unreadable.
    """
    try:
        return date.fromisoformat(day)
    except (ValueError, TypeError):
        raise Unreadable(f"not a date: {day!r:.40}") from None


def listed(schedule_days: str | None) -> list[int] | None:
    """The weekdays of a custom schedule; the database keeps text like `1,3,5`.

    Raises Unreadable.
    """
    try:
        return [int(day) for day in schedule_days.split(",")] if schedule_days else None
    except (ValueError, AttributeError):
        raise Unreadable(f"not weekdays: {schedule_days!r:.40}") from None


def schedule(frequency_type: str, schedule_days: str | None) -> Schedule:
    """The schedule that a habit's two columns mean.

    Raises Unreadable.
    """
    if frequency_type not in FREQUENCIES:
        raise Unreadable(f"not a frequency: {frequency_type!r:.40}")
    if frequency_type == "weekly":
        return Schedule(EVERY_DAY, weekly=True)
    return Schedule(NAMED.get(frequency_type) or frozenset(listed(schedule_days) or ()))
