"""Fields of actions and tools: what each takes, told as JSON Schema, and how a sent value is read.

`read` gives the canonical value or raises ToolError with the contract's code.
"""

import re
from dataclasses import dataclass
from datetime import date
from typing import Any

from tools.errors import ToolError
from tools.onepercent import days

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
REFERENCE = "$ref:"
LARGEST_ID = 2**63 - 1
"""sqlite's; nothing ever has it, so it stands for every larger number."""


def shown(value: Any) -> str:
    """A value as an error may quote it: short, on one line, encodable."""
    if isinstance(value, int | float) and abs(value) < 1e30:
        value = repr(value)
    text = value if isinstance(value, str) else type(value).__name__
    return text[:80].encode("utf-8", "replace").decode().replace("\0", "�")


def invalid(name: str, wanted: str, code: str = "FIELD_INVALID") -> ToolError:
    """The error of a value that does not fit."""
    return ToolError(f"{name} must be {wanted}", f"Send {name} as {wanted}.", code=code, field=name)


def required(name: str) -> ToolError:
    """The error of a value that is not there."""
    return ToolError(f"{name} is required", f"Add {name}; it cannot be empty.", code="FIELD_REQUIRED", field=name)


@dataclass(frozen=True)
class Text:
    """Text of at most `longest` characters; a blank one counts as none. `line`: it cannot be empty."""

    longest: int
    line: bool = False

    def schema(self) -> dict[str, Any]:
        if self.line:
            return {"type": "string", "minLength": 1, "maxLength": self.longest}
        return {"type": ["string", "null"], "maxLength": self.longest}

    def read(self, name: str, value: Any) -> str | None:
        if value is None and not self.line:
            return None
        if not isinstance(value, str):
            raise required(name) if value is None else invalid(name, "text")
        if "\0" in value or not encodable(value):
            raise invalid(name, "text without NUL and lone surrogates")
        if not value.strip():
            if self.line:
                raise required(name)
            return None
        text = value.strip() if self.line else value
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

    words: tuple[str, ...]
    code: str

    def schema(self) -> dict[str, Any]:
        return {"enum": list(self.words)}

    def read(self, name: str, value: Any) -> str:
        if isinstance(value, str) and value in self.words:
            return value
        if value is None:
            raise required(name)
        raise ToolError(
            f"Invalid {name}: {shown(value)}", f"{name} is one of {', '.join(self.words)}.", code=self.code, field=name
        )


@dataclass(frozen=True)
class Whole:
    """A whole number; true and false are none. `empty`: it may be null."""

    least: int
    most: int
    empty: bool = False

    def schema(self) -> dict[str, Any]:
        kind = ["integer", "null"] if self.empty else "integer"
        return {"type": kind, "minimum": self.least, "maximum": self.most}

    def read(self, name: str, value: Any) -> int | None:
        if value is None:
            if self.empty:
                return None
            raise required(name)
        if type(value) is not int or not self.least <= value <= self.most:
            raise invalid(name, f"a whole number from {self.least} to {self.most}")
        return value


@dataclass(frozen=True)
class Day:
    """A date; the canonical value is its text. `empty`: it may be null."""

    empty: bool = False

    def schema(self) -> dict[str, Any]:
        return {"type": ["string", "null"] if self.empty else "string", "format": "date"}

    def read(self, name: str, value: Any) -> str | None:
        if value is None:
            if self.empty:
                return None
            raise required(name)
        try:
            if not isinstance(value, str) or not DATE.fullmatch(value):
                raise ValueError
            date.fromisoformat(value)
        except ValueError:
            raise ToolError(
                f"{name} is no date: {shown(value)}", "Dates are YYYY-MM-DD.", code="INVALID_DATE", field=name
            ) from None
        return value


DURATIONS = {"half": 30, "one": 60, "two": 120, "three": 180, "four": 240}


class Duration:
    """Half an hour to four hours by a word, or minutes; the canonical value is minutes."""

    def schema(self) -> dict[str, Any]:
        return {
            "anyOf": [{"enum": [*DURATIONS, None]}, {"type": "integer", "minimum": 1, "maximum": 480}],
            "description": "hours, or minutes",
        }

    def read(self, name: str, value: Any) -> int | None:
        if isinstance(value, str) and value in DURATIONS:
            return DURATIONS[value]
        if value is None or (type(value) is int and 1 <= value <= 480):
            return value
        raise invalid(name, f"one of {', '.join(DURATIONS)} or minutes from 1 to 480")


def duration(minutes: int) -> dict[str, Any]:
    """Minutes as the snapshot gives them: with the word where one fits."""
    word = next((word for word, length in DURATIONS.items() if length == minutes), None)
    return {"minutes": minutes, "word": word} if word else {"minutes": minutes}


class Weekdays:
    """ISO weekdays; the canonical value is text like `1,3,5`."""

    def schema(self) -> dict[str, Any]:
        return {
            "type": ["array", "null"],
            "items": {"type": "integer", "minimum": 1, "maximum": 7},
            "minItems": 1,
            "uniqueItems": True,
            "description": "1: Monday; for custom",
        }

    def read(self, name: str, value: Any) -> str | None:
        if value is None or value == []:
            return None
        if not isinstance(value, list) or any(type(day) is not int or day not in days.EVERY_DAY for day in value):
            raise invalid(name, "a list of ISO weekdays, 1 (Monday) to 7 (Sunday)")
        if len(set(value)) < len(value):
            raise invalid(name, "a list of different ISO weekdays")
        return ",".join(map(str, sorted(value)))


@dataclass(frozen=True)
class Reference:
    """The id of an entity, or `$ref:<client_action_id>` of the action that creates it.

    The canonical value is the id or that text; `latest`: null stands for the one created last.
    """

    latest: bool = False

    def schema(self) -> dict[str, Any]:
        kinds = ["integer", "string", "null"] if self.latest else ["integer", "string"]
        return {"type": kinds, "pattern": r"^\$ref:"}

    def read(self, name: str, value: Any) -> int | str | None:
        if value is None:
            if self.latest:
                return None
            raise required(name)
        if type(value) is int and value >= 1:
            return min(value, LARGEST_ID)
        if isinstance(value, str) and value.startswith(REFERENCE):
            return REFERENCE + identifier(name, value.removeprefix(REFERENCE))
        raise invalid(name, f"an id or {REFERENCE}<client_action_id>")


def identifier(name: str, value: Any) -> str:
    """A UUID in lower case."""
    if value is None or value == "":
        raise required(name)
    if not isinstance(value, str) or not UUID.fullmatch(value):
        raise ToolError(
            f"{name} is no UUID: {shown(value)}",
            f"Send {name} like 123e4567-e89b-42d3-a456-426614174000.",
            code="INVALID_UUID",
            field=name,
        )
    return value.lower()


class Uuid:
    """A UUID."""

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "format": "uuid"}

    def read(self, name: str, value: Any) -> str:
        return identifier(name, value)
