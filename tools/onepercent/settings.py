"""Settings of OnePercent, and whose data a call is about."""

import re
from pathlib import Path

from tools.core import settings
from tools.core.calls import remote_user
from tools.core.settings import Section, setting


def zone(value: str) -> str:
    """Check an IANA time zone and return it. Raises ValueError."""
    from zoneinfo import ZoneInfo

    try:
        ZoneInfo(value)
    except (ValueError, OSError, LookupError):
        raise ValueError(
            "expected a time zone like Europe/Berlin that this machine knows"
        ) from None
    return value


def _time_of_day(value: str) -> str:
    if not re.fullmatch("([01][0-9]|2[0-3]):[0-5][0-9]", value):
        raise ValueError("expected a time like 08:00")
    return value


class OnePercentSettings(Section):
    """The owner of the data, its file, the consent that a change needs, the address of notices."""

    onepercent_db: Path = setting(
        Path("onepercent.sqlite3"),
        "OnePercent's database; a relative path is below MCP_STATE_DIR",
        settings.path,
        writes=lambda path: (settings.current().state_dir / path).parent,
    )
    onepercent_backup_dir: Path = setting(
        Path("backups"),
        "folder for a daily copy of the database, best on another disk; a relative path is beside the database",
        settings.path,
    )
    onepercent_user: str = setting(
        "local",
        "whose goals, habits and diary these are; over HTTP the token decides",
    )
    onepercent_tz: str = setting(
        "",
        "time zone that decides what today is, e.g. `Europe/Berlin`; empty: the machine's",
        zone,
    )
    onepercent_preview_ttl_s: int = setting(
        300,
        "seconds for which a preview can be applied",
        settings.positive,
    )
    onepercent_rate_limit: bool = setting(
        True, "`off` lifts the limits on calls per minute", settings.flag
    )
    onepercent_confirm: str = setting(
        "off",
        "`elicit` asks the person through the client before anything is applied",
        settings.one_of("off", "elicit"),
    )
    notify_url: str = setting(
        "",
        "where notices are sent: a topic of ntfy, Gotify's `/message?token=…`, a webhook; "
        "empty: none",
        settings.url,
        secret=True,
    )
    notify_body: str = setting(
        "",
        'what a webhook expects, with `{title}` and `{text}` in it, e.g. `{"content": "{text}"}`',
    )
    notify_morning: str = setting("08:00", "time of the notice about the day ahead", _time_of_day)
    notify_evening: str = setting("21:00", "time of the notice about what is left", _time_of_day)
    notify_private: bool = setting(False, "1 sends counts, no titles", settings.flag)


current = OnePercentSettings.current


def user() -> str:
    """User whose data this call is about."""
    return remote_user() or current().onepercent_user
