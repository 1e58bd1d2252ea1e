"""Fields of actions and tools: what each takes, as JSON Schema and in words, and how a sent value is read.

`read` gives the canonical value or raises ToolError with the contract's code. The schemas are plain (no unions, no
patterns or lengths: several model APIs refuse those); `words` says the rest.
"""

import re
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any

from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.parameters import read_value
from tools.core.schema import Limits
from tools.onepercent import days

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
REFERENCE = "$ref:"
LARGEST_ID = 2**63 - 1
"""sqlite's; nothing ever has it, so it stands for every larger number."""


def shown(value: object) -> str:
    """A value as an error may quote it: short, on one line, encodable."""
    if isinstance(value, int | float) and abs(value) < 1e30:
        value = repr(value)
    text = value if isinstance(value, str) else type(value).__name__
    return text[:80].encode("utf-8", "replace").decode().replace("\0", "�")


def invalid(name: str, expected: str, code: str = "FIELD_INVALID") -> ToolError:
    """The error of a value that does not fit."""
    return ToolError(f"{name} must be {expected}", f"Send {name} as {expected}.", code=code, field=name)


def valid(annotation: Any, name: str, value: object, expected: str) -> Any:
    """A value as the tools' own validator reads it.

    Raises ToolError FIELD_INVALID.
    """
    try:
        return read_value(annotation, value, name)
    except ToolError:
        raise invalid(name, expected) from None


def required(name: str) -> ToolError:
    """The error of a value that is not there."""
    return ToolError(f"{name} is required", f"Add {name}; it cannot be empty.", code="FIELD_REQUIRED", field=name)


@dataclass(frozen=True)
class Text:
    """Text of at most `longest` characters; a blank one counts as none. `line`: it cannot be empty."""

    longest: int
    line: bool = False
    default: str | int | None = None

    def schema(self) -> JsonObject:
        return {"type": "string"}

    def words(self) -> str:
        return f"text, {'1 to' if self.line else 'at most'} {self.longest} characters"

    def read(self, name: str, value: object) -> str | None:
        if value is None and not self.line:
            return None
        if value is None:
            raise required(name)
        text = valid(str, name, value, "text")
        if "\0" in text or not encodable(text):
            raise invalid(name, "text without NUL and lone surrogates")
        if not text.strip():
            if self.line:
                raise required(name)
            return None
        text = text.strip() if self.line else text
        if len(text) > self.longest:
            raise ToolError(
                f"{name} is too long: {len(text)} characters, at most {self.longest}",
                f"Shorten {name}.",
                code="FIELD_TOO_LONG",
                field=name,
            )
        return text


def encodable(text: str) -> bool:
    """Whether the text can be written as UTF-8: it has no lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


@dataclass(frozen=True)
class Choice:
    """One of a few words."""

    choices: tuple[str, ...]
    code: str
    default: str | int | None = None

    def schema(self) -> JsonObject:
        return {"type": "string", "enum": list(self.choices)}

    def words(self) -> str:
        return ", ".join(f"`{word}`" for word in self.choices)

    def read(self, name: str, value: object) -> str:
        if isinstance(value, str) and value in self.choices:
            return value
        if value is None:
            raise required(name)
        hint = f"{name} is one of {', '.join(self.choices)}."
        raise ToolError(f"Invalid {name}: {shown(value)}", hint, code=self.code, field=name)


@dataclass(frozen=True)
class Whole:
    """A whole number; true and false are not numbers. `empty`: it may be null."""

    least: int
    most: int
    empty: bool = False
    default: str | int | None = None

    def schema(self) -> JsonObject:
        return {"type": "integer"}

    def words(self) -> str:
        return f"whole number, {self.least} to {self.most}"

    def read(self, name: str, value: object) -> int | None:
        if value is None:
            if self.empty:
                return None
            raise required(name)
        expected = f"a whole number from {self.least} to {self.most}"
        return valid(Annotated[int, Limits(ge=self.least, le=self.most)], name, value, expected)


@dataclass(frozen=True)
class Day:
    """A date; the canonical value is its text. `empty`: it may be null."""

    empty: bool = False
    default: str | int | None = None

    def schema(self) -> JsonObject:
        return {"type": "string"}

    def words(self) -> str:
        return "date, YYYY-MM-DD"

    def read(self, name: str, value: object) -> str | None:
        if value is None or (self.empty and value == ""):
            if self.empty:
                return None
            raise required(name)
        return day(name, value)


def day(name: str, value: object) -> str:
    """A date as its text.

    Raises ToolError INVALID_DATE.
    """
    try:
        if not isinstance(value, str) or not DATE.fullmatch(value):
            raise ValueError
        date.fromisoformat(value)
    except ValueError:
        hint = f"Dates are YYYY-MM-DD. {days.date_hint(value)}"
        raise ToolError(f"{name} is not a date: {shown(value)}", hint, code="INVALID_DATE", field=name) from None
    return value


DURATIONS = {"half": 30, "one": 60, "two": 120, "three": 180, "four": 240}
LONGEST_MINUTES = 480


@dataclass(frozen=True)
class Duration:
    """Half an hour to four hours by a word, or minutes; the canonical value is minutes."""

    default: str | int | None = None

    def schema(self) -> JsonObject:
        return {"type": "string", "description": "hours: half, one, two (=120), three, four; or minutes"}

    def words(self) -> str:
        return f"hours as {', '.join(f'`{word}`' for word in DURATIONS)}, or minutes, 1 to {LONGEST_MINUTES}"

    def read(self, name: str, value: object) -> int | None:
        if value is None or value == "":
            return None
        if isinstance(value, str) and value in DURATIONS:
            return DURATIONS[value]
        expected = f"one of {', '.join(DURATIONS)} or minutes from 1 to {LONGEST_MINUTES}"
        return valid(Annotated[int, Limits(ge=1, le=LONGEST_MINUTES)], name, value, expected)


def duration(minutes: int) -> JsonObject:
    """Minutes as the snapshot gives them: with the word if one fits."""
    word = next((word for word, length in DURATIONS.items() if length == minutes), None)
    return {"minutes": minutes, "word": word} if word else {"minutes": minutes}


@dataclass(frozen=True)
class Weekdays:
    """ISO weekdays; the canonical value is text like `1,3,5`."""

    default: str | int | None = None

    def schema(self) -> JsonObject:
        return {"type": "array", "items": {"type": "integer"}, "description": "1 (Monday) to 7; custom only"}

    def words(self) -> str:
        return "different ISO weekdays, 1 (Monday) to 7, at least one"

    def read(self, name: str, value: object) -> str | None:
        if value is None or value == [] or value == "":
            return None
        weekday = Annotated[int, Limits(ge=1, le=7)]
        numbers = valid(list[weekday], name, value, "a list of ISO weekdays, 1 (Monday) to 7 (Sunday)")
        if len(set(numbers)) < len(numbers):
            raise invalid(name, "a list of different ISO weekdays")
        return ",".join(map(str, sorted(numbers)))


@dataclass(frozen=True)
class Reference:
    """The id of an entity, or `$ref:<client_action_id>` of the action that creates it.

    The canonical value is the id or that text; `latest`: null stands for the one created last.
    """

    latest: bool = False
    default: str | int | None = None

    def schema(self) -> JsonObject:
        return {"type": "string"}

    def words(self) -> str:
        return f"an id or `{REFERENCE}…`" + (", or null" if self.latest else "")

    def read(self, name: str, value: object) -> int | str | None:
        if value is None and self.latest:
            return None
        if value is None or value == "":
            raise required(name)
        if isinstance(value, str) and value.startswith(REFERENCE):
            return REFERENCE + identifier(name, value.removeprefix(REFERENCE))
        key = valid(Annotated[int, Limits(ge=1)], name, value, f"an id or {REFERENCE}<client_action_id>")
        return min(key, LARGEST_ID)


def identifier(name: str, value: object) -> str:
    """A UUID in lower case."""
    if value is None or value == "":
        raise required(name)
    if not isinstance(value, str) or not UUID.fullmatch(value):
        raise ToolError(
            f"{name} is not a UUID: {shown(value)}",
            f"Send {name} like 123e4567-e89b-42d3-a456-426614174000.",
            code="INVALID_UUID",
            field=name,
        )
    return value.lower()


@dataclass(frozen=True)
class Uuid:
    """A UUID."""

    default: str | int | None = None

    def schema(self) -> JsonObject:
        return {"type": "string"}

    def words(self) -> str:
        return "UUID"

    def read(self, name: str, value: object) -> str:
        return identifier(name, value)
