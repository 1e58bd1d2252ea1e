"""Days as a person counts them: by the zone they are in and the hour at which their day begins."""

from contextvars import ContextVar
from datetime import date, datetime, timedelta, timezone
from typing import NamedTuple

from .. import settings
from . import texts

WEEK = 7
YEAR = 366


class Unreadable(ValueError):
    """The database holds a value that the tools never wrote."""


class PersonsClock(NamedTuple):
    """`zone`: an IANA name, or "" for the machine's; a day begins `start_hour` hours after midnight."""

    zone: str
    start_hour: int


# Set inside of a transaction, which begins by reading it: another session may change it.
CLOCK: ContextVar[PersonsClock] = ContextVar("clock")


def persons_clock() -> PersonsClock:
    """The present user's zone and hour; outside of a transaction those of the settings."""
    return CLOCK.get(PersonsClock(settings.current().onepercent_tz, 0))


def now() -> datetime:
    """This moment, in UTC."""
    return datetime.now(timezone.utc)


def stamp(moment: datetime) -> str:
    """A moment as the database keeps it."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def today(moment: datetime | None = None) -> date:
    """The person's date at that moment, by default at this one."""
    return (local(moment or now()) - timedelta(hours=persons_clock().start_hour)).date()


def local(moment: datetime) -> datetime:
    """The moment on the person's clock."""
    return _in_zone(moment, persons_clock().zone)


def zone_of_settings() -> str:
    """The default zone: its name, or the machine's abbreviation."""
    return settings.current().onepercent_tz or f"{now().astimezone():%Z}"


def _in_zone(moment: datetime, zone: str) -> datetime:
    if not zone:
        return moment.astimezone()
    from zoneinfo import ZoneInfo

    return moment.astimezone(ZoneInfo(zone))


def date_of_stamp(text: str) -> str:
    """The date, in the zone of the settings, of a moment as the database keeps it."""
    return _in_zone(moment_of(text), settings.current().onepercent_tz).date().isoformat()


def moment_of(text: str) -> datetime:
    """A moment as the database keeps it."""
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


DAYS_AHEAD = {
    "позавчера": -2, "вчера": -1, "сегодня": 0, "завтра": 1, "послезавтра": 2,
    "yesterday": -1, "today": 0, "tomorrow": 1,
}  # fmt: skip


def date_hint(value: object) -> str:
    """Today, and the date that a word like «завтра» means, for the hint of an error."""
    present = today()
    hint = f"Today is {present} ({present:%A})."
    word = str(value).strip().lower()
    if word in DAYS_AHEAD:
        return f"{hint} «{word}» is {present + timedelta(days=DAYS_AHEAD[word])}."
    if number := texts.weekday_number(word):
        ahead = (number - present.isoweekday() - 1) % WEEK + 1
        return f"{hint} The next «{word}» is {present + timedelta(days=ahead)}."
    return hint


def weekday(day: int) -> int:
    """The ISO weekday, 1 (Monday) to 7, of a day given as its ordinal (date.toordinal)."""
    return (day - 1) % WEEK + 1


def monday(day: int) -> int:
    """The first day of the ISO week of an ordinal."""
    return day - (day - 1) % WEEK


def ordinal(day: str) -> int:
    """The ordinal of a date as the database keeps it. Raises Unreadable."""
    try:
        return date.fromisoformat(day).toordinal()
    except (ValueError, TypeError):
        raise Unreadable(f"not a date: {day!r:.40}") from None
