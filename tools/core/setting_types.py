"""Parsers of settings: each turns the text of a variable into a value, or raises ValueError that says what is expected."""

from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit


def text(value: str) -> str:
    return value


def path(value: str) -> Path:
    return Path(value).expanduser()


def flag(value: str) -> bool:
    word = value.lower()
    if word in ("1", "true", "yes", "on"):
        return True
    if word in ("0", "false", "no", "off"):
        return False
    raise ValueError("expected 1 or 0")


def one_of(*choices: str) -> Callable[[str], str]:
    def parse(value: str) -> str:
        if value.lower() not in choices:
            raise ValueError(f"expected one of {', '.join(choices)}")
        return value.lower()

    return parse


def count(value: str, least: int = 0) -> int:
    number = int(value) if value.isascii() and value.isdigit() else -1
    if number < least:
        raise ValueError(f"expected a whole number, {least} or more")
    return number


def positive(value: str) -> int:
    return count(value, 1)


def zone(value: str) -> str:
    from zoneinfo import ZoneInfo

    try:
        ZoneInfo(value)
    except (ValueError, OSError, LookupError):
        raise ValueError("expected a time zone like Europe/Berlin that this machine knows") from None
    return value


def url(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        raise ValueError("expected an http(s) address such as http://127.0.0.1:8765")
    _ = parts.port  # raises ValueError if it is not a number up to 65535
    return value


def header(value: str) -> str:
    if not value.isascii() or not value.isprintable():
        raise ValueError("expected plain ASCII characters")
    return value
