"""Fields of actions and tools: JSON Schema, description and reader of each kind of value.

The schemas are plain (no unions, no patterns or lengths: several model APIs refuse those); `expected` says
the rest.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from typing import Annotated, Any

from tools.core.errors import LINE_BREAKERS
from tools.core.parameters import is_no_id, parse_value
from tools.core.schema import derive
from tools.toolkit import JsonObject, Limits, ToolError, filled, nearest_names

from . import days, rules, texts
from .unknown_names import hint_for, sent_words

UUID = "(?i)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
# NUL ends a text for sqlite; half a surrogate pair has no UTF-8.
UNSTORABLE = "[\0\ud800-\udfff]"
NEVER_IN_LINE = f"{UNSTORABLE}|{LINE_BREAKERS.pattern}"
# Likeness from which on a name is another one misspelt, or may mean it (difflib's ratio).
MISSPELT_LIKENESS = 0.75
MEANT_LIKENESS = 0.6
REFERENCE = "$ref:"
# SQLite's largest integer. No row gets this id.
LARGEST_ID = 2**63 - 1

# “2 hours”, `1h30m`, “1,5 часа”, “90 мин”.
SPOKEN_DURATION = r"(?i)(?:(\d+(?:[.,]\d+)?) *[hч]\D*)?(?:(\d+) *[mм]\D*)?"

DURATIONS = {"half": 30, "one": 60, "two": 120, "three": 180, "four": 240}

DIARY_FIELDS = ("what_done", "what_not_done", "reflection", "plans")
DIARY_COLUMNS = ", ".join(DIARY_FIELDS)


@dataclass(frozen=True, eq=False)
class Field:
    """A kind of value.

    - `expected`: what a value must be, for errors and the reference;
    - `convert`: takes the field's name and a value as sent, which is not empty, and returns the canonical
      value, or raises ToolError with the contract's code;
    - `nullable`: the value may be missing, which null, blank text and an empty list stand for.
    """

    schema: JsonObject
    expected: str
    convert: Callable[[str, Any], Any]
    default: str | int | None = None
    nullable: bool = False

    def parse(self, name: str, value: object) -> Any:
        """Read a value as sent; return the canonical one. Raises ToolError."""
        is_blank = isinstance(value, str) and not value.strip()
        if value is not None and not is_blank and not (value == [] and self.nullable):
            return self.convert(name, value)
        if self.nullable:
            return None
        raise missing_error(name)


Fields = Mapping[str, Field]  # by their names


def of_type(annotation: Any, expected: str, **options: Any) -> Field:
    """Field of a type as tools have them in their signatures; `options` are those of Field."""

    def convert(name: str, value: object) -> Any:
        try:
            return parse_value(annotation, value, name)
        except ToolError:
            raise invalid_error(name, expected) from None

    return Field(derive(annotation), expected, convert, **options)


def text(longest: int, *, line: bool = False, **options: Any) -> Field:
    """Field of text of at most `longest` characters; a blank one counts as none. `line`: one line, which
    cannot be empty; `options`: those of Field."""
    noun = "one line of text" if line else "text"
    forbidden = NEVER_IN_LINE if line else UNSTORABLE

    def convert(name: str, value: object) -> str:
        if not isinstance(value, str) or re.search(forbidden, value.strip()):
            raise invalid_error(name, f"{noun} without control characters")
        content = value.strip() if line else value
        if len(content) > longest:
            raise ToolError(
                f"{name} is too long: {len(content)} characters, at most {longest}",
                f"Shorten {name}.",
                "FIELD_TOO_LONG",
                field=name,
            )
        return content

    return Field(
        {"type": "string"},
        f"text, {'1 to' if line else 'at most'} {longest} characters",
        convert,
        nullable=not line,
        **options,
    )


def choice(choices: Mapping[str, str], code: str, **options: Any) -> Field:
    """Field of one of a few words.

    - `choices`: the words, each with other ones that stand for it, in lower case;
    - `code`: of the error for any other word; `options`: those of Field.
    """

    def convert(name: str, value: object) -> str:
        for word, others in choices.items():
            if value == word or str(value).lower() in others.split():
                return word
        hint = hint_for(name.partition(".")[0])
        raise ToolError(
            f"Invalid {name}: {printable(value)}",
            f"{name} is one of {', '.join(choices)}. {hint}".rstrip(),
            code,
            field=name,
        )

    expected = ", ".join(f"`{word}`" for word in choices)
    return Field({"type": "string", "enum": list(choices)}, expected, convert, **options)


def integer(least: int, most: int, expected: str = "", **options: Any) -> Field:
    """Field of a whole number; true and false are not numbers.

    - `least`, `most`: its limits; `expected`: unless the limits say it;
    - `options`: those of Field.
    """
    annotation = Annotated[int, Limits(ge=least, le=most)]
    return of_type(annotation, expected or f"a whole number from {least} to {most}", **options)


def amount(least: float) -> Field:
    """Field of an amount of at least so much."""
    annotation = Annotated[float, Limits(ge=least, le=rules.LARGEST_AMOUNT)]
    return of_type(annotation, f"a number from {least} to {rules.LARGEST_AMOUNT}")


FLAG = of_type(bool, "true or false")


def day(**options: Any) -> Field:
    """Field of a date; the canonical value is its text."""
    return Field({"type": "string"}, "date, YYYY-MM-DD", parse_day, **options)


def list_of(each: Field, description: str = "", *, nullable: bool = False) -> Field:
    """Field of a list of values; a single one may be sent without the list."""

    def convert(name: str, value: object) -> list[Any]:
        items = value if isinstance(value, list) else [value]
        if not 1 <= len(items) <= rules.MOST_IN_LIST:
            raise invalid_error(name, f"a list of 1 to {rules.MOST_IN_LIST}")
        return [each.parse(f"{name}[{index}]", item) for index, item in enumerate(items)]

    schema = filled(type="array", items=each.schema, description=description)
    return Field(
        schema, f"list of 1 to {rules.MOST_IN_LIST} {each.expected}", convert, nullable=nullable
    )


WEEKDAY_NUMBER = integer(1, 7, "a weekday: 1 (Monday) to 7, or mon to sun")


def _weekday(name: str, value: object) -> Any:
    """Read an ISO weekday: its number or its name, short or whole, in English or Russian."""
    return WEEKDAY_NUMBER.convert(name, texts.weekday_number(value) or value)


WEEKDAY = replace(WEEKDAY_NUMBER, convert=_weekday)


def _ends_of_range(name: str, value: object) -> list[str]:
    """Read the first and last day of a range; a single day is both."""
    begin, dots, end = printable(value).partition("..")
    first = parse_day(name, begin.strip())
    last = parse_day(name, end.strip()) if dots else first
    length = days.ordinal(last) - days.ordinal(first) + 1
    if not 1 <= length <= rules.LONGEST_RANGE_DAYS:
        raise invalid_error(
            name, f"a range of 1 to {rules.LONGEST_RANGE_DAYS} days, the earlier day first"
        )
    return [first, last]


DATES = list_of(
    Field({"type": "string"}, "dates or ranges `YYYY-MM-DD..YYYY-MM-DD`", _ends_of_range),
    "or first..last",
)

MINUTES = integer(
    1,
    rules.LONGEST_MINUTES,
    f"hours as {', '.join(DURATIONS)}, or minutes, 1 to {rules.LONGEST_MINUTES}",
)


def _minutes_or_words(name: str, value: object) -> Any:
    spoken = re.fullmatch(SPOKEN_DURATION, str(value).strip())
    if spoken and spoken[0]:
        hours = float((spoken[1] or "0").replace(",", "."))
        value = round(hours * 60) + int(spoken[2] or 0)
    return MINUTES.convert(name, DURATIONS.get(str(value), value))


DURATION = replace(
    MINUTES,
    schema={"type": "string", "description": "minutes"},
    convert=_minutes_or_words,
    nullable=True,
)

ID_NUMBER = integer(1, LARGEST_ID, f"an id of get_user_snapshot, or `{REFERENCE}…`")


def _id_or_reference(name: str, value: object) -> Any:
    """Read an id, or the text of a reference."""
    if isinstance(value, str) and value.startswith(REFERENCE):
        return REFERENCE + action_id(name, value.removeprefix(REFERENCE))
    return ID_NUMBER.convert(name, value)


# The id of an entity, or `$ref:<client_action_id>` of the action that creates it, which is kept as that
# text.
ENTITY_ID = replace(ID_NUMBER, schema={"type": "string"}, convert=_id_or_reference)
ENTITY_IDS = list_of(ENTITY_ID)


def object_of(fields: Fields, required: tuple[str, ...] = ()) -> Field:
    """Field of an object with fields of its own."""
    expected = f"object of {', '.join(fields)}"

    def convert(name: str, value: object) -> JsonObject:
        if not isinstance(value, dict) or not value:
            raise invalid_error(name, f"an {expected}")
        return parse_members(value, fields, required, name, f"{name}.")

    return Field({"type": "object"}, expected, convert)


def parse_members(
    sent: JsonObject,
    fields: Fields,
    required: tuple[str, ...],
    owner: str,
    prefix: str = "",
    *,
    keeps_null: bool = False,
) -> JsonObject:
    """Read an object as sent; return its canonical values. Raises ToolError for the first thing that does not
    fit.

    - `fields`: those that it takes; `required`: those that it must have;
    - `owner`: what an error calls the object; `prefix`: what precedes its fields' names there;
    - `keeps_null`: null is an error of a field that is not nullable; otherwise it is left out, as is an empty
      text that is no date, and null is no error of a field that it does not take.
    """
    # Some clients send every field of the schema.
    if not keeps_null:
        sent = {name: value for name, value in sent.items() if name in fields or value is not None}
    check_names(sent, fields, owner)
    values = {}
    for name in dict.fromkeys((*required, *sent)):
        value = sent.get(name)
        field = fields[name]
        is_empty = value is None or (value == "" and field.convert is not parse_day)
        is_absent = is_no_id(name, value) or (is_empty and not (keeps_null or field.nullable))
        if name in required or not is_absent:
            values[name] = field.parse(prefix + name, value)
    return values


def parse_day(name: str, value: object) -> str:
    """Read a date; return it as text. Raises ToolError INVALID_DATE, whose hint says what today is and which
    date a word like «завтра» means."""
    with suppress(ValueError):
        canonical = f"{date.fromisoformat(str(value))}"
        if canonical == value:  # no other form of ISO 8601
            return canonical
    wrong_date = printable(value)
    hint = f"Dates are YYYY-MM-DD. {days.date_hint(value)}"
    if re.search(r"\d:\d\d|\d ?[ap]m\b|\bв \d|\bat \d", wrong_date):  # a time of day
        hint += f" {hint_for('reminder')}"
    raise ToolError(f"{name} is not a date: {wrong_date}", hint, "INVALID_DATE", field=name)


def parse_date(name: str, value: object) -> date:
    """Read a date as `parse_day` does; return the date itself."""
    return date.fromisoformat(parse_day(name, value))


def identifier(name: str, value: object) -> str:
    """Read a UUID; return it in lower case. Raises ToolError INVALID_UUID."""
    if isinstance(value, str) and re.fullmatch(UUID, value):
        return value.lower()
    raise ToolError(
        f"{name} is not a UUID: {printable(value)}",
        f"Send {name} like 123e4567-e89b-42d3-a456-426614174000.",
        "INVALID_UUID",
        field=name,
    )


def action_id(name: str, value: object) -> str:
    """Read the id of an action in its preview: a short text; a UUID in lower case."""
    content = text(40, line=True).parse(name, str(value) if type(value) is int else value)
    return content.lower() if re.fullmatch(UUID, content) else content


def exactly_one(params: JsonObject, *names: str) -> str:
    """Return the only one of `names` that is sent. Raises ToolError FIELD_REQUIRED, FIELD_INVALID."""
    sent = [name for name in names if name in params and params[name] is not False]
    if len(sent) == 1:
        return sent[0]
    code = "FIELD_INVALID" if sent else "FIELD_REQUIRED"
    listed = ", ".join(names)
    raise ToolError(f"One of {listed} is required", f"Send one of {listed}.", code, field=names[0])


def check_names(sent: Iterable[str], names: Collection[str], owner: str) -> None:
    """Raises ToolError FIELD_UNKNOWN, naming the canonical field, if `sent` has a name that `names` lacks."""
    for unknown in sent:
        if unknown in names:
            continue
        lower = unknown.lower()
        hint = hint_for(lower)
        # A name with its own hint needs a closer match to count as a misspelling.
        likeness = MISSPELT_LIKENESS if hint else MEANT_LIKENESS
        others = sent_words("field")
        meant = [name for name in names if lower in others.get(name, "").split()]
        meant = meant or nearest_names(lower, names, likeness, most=1)
        if meant:
            hint = f"Use {' or '.join(meant)}."
        hint = hint or f"{owner} takes {', '.join(names) or 'nothing'}."
        shown = printable(unknown)
        error = ToolError(f"Unknown field: {shown}", hint, "FIELD_UNKNOWN", field=shown)
        if len(meant) == 1:
            error.data["canonical"] = meant[0]
        raise error


def missing_error(name: str) -> ToolError:
    """Error for a value that is missing."""
    return ToolError(
        f"{name} is required", f"Add {name}; it cannot be empty.", "FIELD_REQUIRED", field=name
    )


def invalid_error(name: str, expected: str) -> ToolError:
    """Error for a value that does not fit."""
    return ToolError(
        f"{name} must be {expected}",
        f"Send {name} as {expected}.",
        "FIELD_INVALID",
        field=name,
    )


def printable(value: object) -> str:
    """Text of a value for an error: short, encodable."""
    content = type(value).__name__ if isinstance(value, list | dict) else str(value)
    return content[:80].encode("utf-8", "replace").decode()
