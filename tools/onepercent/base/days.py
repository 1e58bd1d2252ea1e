"""Days as a person counts them: in the zone they are in, from the hour at which their day begins."""

from contextvars import ContextVar
from datetime import date, datetime, timedelta, timezone
from typing import NamedTuple

from .. import settings
from . import texts

WEEK = 7
YEAR = 366


class Unreadable(ValueError):
    """The database holds a value that no tool wrote."""


class PersonsClock(NamedTuple):
    """The clock by which a person counts days: a `zone`, an IANA name or "" for the machine's; a day begins
    `start_hour` hours after midnight."""

    zone: str
    start_hour: int


# Set by each transaction, which begins by reading it: another session may change it.
CLOCK: ContextVar[PersonsClock] = ContextVar("clock")


def persons_clock() -> PersonsClock:
    """Zone and hour of the present user; outside of a transaction those of the settings."""
    return CLOCK.get(PersonsClock(settings.current().onepercent_tz, 0))


def now() -> datetime:
    """This moment, in UTC."""
    return datetime.now(timezone.utc)


def stamp(moment: datetime) -> str:
    """Write a moment as the database stores it."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def today(moment: datetime | None = None) -> date:
    """Date on the person's clock at a moment, by default now."""
    return (local(moment or now()) - timedelta(hours=persons_clock().start_hour)).date()


def local(moment: datetime) -> datetime:
    """A moment on the person's clock."""
    return _in_zone(moment, persons_clock().zone)


def zone_of_settings() -> str:
    """Name of the default zone; of the machine's its abbreviation."""
    return settings.current().onepercent_tz or f"{now().astimezone():%Z}"


def _in_zone(moment: datetime, zone: str) -> datetime:
    if not zone:
        return moment.astimezone()
    from zoneinfo import ZoneInfo

    return moment.astimezone(ZoneInfo(zone))


def date_of_stamp(stored: str) -> str:
    """Date of a stamp in the zone of the settings."""
    return _in_zone(moment_of(stored), settings.current().onepercent_tz).date().isoformat()


def moment_of(stored: str) -> datetime:
    """Read a stamp."""
    return datetime.fromisoformat(stored.replace("Z", "+00:00"))


DAYS_AHEAD = {
    "позавчера": -2, "вчера": -1, "сегодня": 0, "завтра": 1, "послезавтра": 2,
    "yesterday": -1, "today": 0, "tomorrow": 1,
}  # fmt: skip


def date_hint(value: object) -> str:
    """Say what today is, and which date a word like «завтра» means, for the hint of an error."""
    current = today()
    hint = f"Today is {current} ({current:%A})."
    word = str(value).strip().lower()
    if word in DAYS_AHEAD:
        return f"{hint} «{word}» is {current + timedelta(DAYS_AHEAD[word])}."
    if number := texts.weekday_number(word):
        ahead = (number - current.isoweekday() - 1) % WEEK + 1
        return f"{hint} The next «{word}» is {current + timedelta(ahead)}."
    return hint


def monday(day: int) -> int:
    """First day of the ISO week of an ordinal."""
    return day - (day - 1) % WEEK


def ordinal(day: str) -> int:
    """Ordinal of a date as the database stores it. Raises Unreadable."""
    try:
        return date.fromisoformat(day).toordinal()
    except (ValueError, TypeError):
        raise Unreadable(f"not a date: {day!r:.40}") from None
