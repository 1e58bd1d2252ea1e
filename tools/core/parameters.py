"""Reading a call's arguments as clients really send them, by the types of a function's signature.

Clients send null for what they leave out, JSON inside a string where a list is wanted, a name they remember
from elsewhere. Unambiguous mistakes are corrected; the rest become errors that suggest a fix and name the
place (`notes.0.fields`).
"""

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import is_dataclass
from typing import Any, Literal, get_args, get_origin

from . import schema
from .errors import ToolError, did_you_mean
from .json_types import JsonObject
from .schema import Limits, Members

# The texts that some clients send in place of null.
ABSENT_TEXTS = ("", "null")
# Before each capital except the first letter: where snake_case has its `_`.
CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")
TYPE_NAMES = schema.SIMPLE | {list: "list", dict: "dictionary"}


class ValueMismatch(Exception):
    """A value does not fit its type; the text says what is expected."""


class InvalidArguments(ToolError):
    """Values that do not fit, each with its place."""


class Parameters:
    """The parameters of a tool or prompt: `schema` is their JSON Schema, `usage` one line for hints."""

    def __init__(self, name: str, function: Callable[..., object]):
        self.members = schema.members(function)
        self.schema = schema.derive_object(self.members)
        self.required = schema.required_names(self.members)
        parameters = []
        for parameter, schema_of_value in self.schema["properties"].items():
            expected = schema_of_value.get("type", "any")
            if "enum" in schema_of_value:
                expected = f"one of {', '.join(map(str, schema_of_value['enum']))}"
            if parameter not in self.required:
                expected += ", optional"
            parameters.append(f"{parameter} ({expected})")
        self.usage = f"{name} takes {', '.join(parameters) or 'no arguments'}."

    def parse(self, arguments: Mapping[str, object]) -> JsonObject:
        """Arguments as a client sent them, as values of the declared types. Raises ToolError that names every
        argument that does not fit."""
        return _parse_members(arguments, self.members, "", self.usage)


# One pass over the values, in this order for each: its name (in either spelling, or an alias), null in place
# of nothing, JSON in a text, blanks, the type, the limits, then the items of a list. An unknown name ends the
# pass at once; the problems of arguments are collected, so that a model reads them in one answer; of a list
# only the first item that does not fit is named.
def _parse_members(
    raw_values: Mapping[str, object], members: Members, prefix: str, usage: str
) -> JsonObject:
    """Values as a client sent them, by their declared names and without those that stand for nothing.
    `prefix`: their place, ending in a dot, empty for arguments; `usage`: the hint of an error. Raises
    ToolError for an unknown name; InvalidArguments."""
    names = schema.declared_names(members)
    by_spelling = {_snake_case(spelling): names[spelling] for spelling in names}
    values: JsonObject = {}
    problems = []
    for raw_name, value in raw_values.items():
        name = by_spelling.get(_snake_case(raw_name))
        if not name:
            raise _unknown(raw_name[:80], names, prefix, usage)
        member = members[name]
        is_blank = value in ABSENT_TEXTS and schema.unwrap(member.annotation)[0] is not str
        is_absent = value is None or is_blank or is_no_id(name, value)
        if is_absent and member.default is not member.empty:
            continue
        if name in values:
            problems.append(f"{prefix}{name}: given twice, also as {raw_name}")
        values[name] = None
        try:
            values[name] = parse_value(member.annotation, value, prefix + name)
        except InvalidArguments as problem:
            problems.append(problem.message)
    for name in schema.required_names(members):
        if name not in values:
            problems.append(f"{prefix}{name}: Field required")
    if problems:
        raise InvalidArguments("; ".join(problems), usage, "INVALID_ARGUMENTS")
    return values


def is_no_id(name: str, value: object) -> bool:
    """True for a 0 in place of an id, which clients send if they fill every field; no id is 0."""
    return value in (0, "0") and f"_{_snake_case(name)}".endswith("_id")


def _snake_case(name: str) -> str:
    """A name as `note_ids`, however it is written: clients also send `noteIds`."""
    return CAPITAL.sub("_", name).lower()


def parse_value(annotation: object, value: object, place: str) -> Any:
    """A value as a client sent it, as a value of the declared type. Raises ToolError, also for its limits."""
    declared_type, markers = schema.unwrap(annotation)
    limits = next((marker for marker in markers if isinstance(marker, Limits)), Limits())
    json_type = dict if is_dataclass(declared_type) else get_origin(declared_type) or declared_type
    # JSON in a text, where another type is expected.
    if isinstance(value, str) and json_type is not str and json_type in TYPE_NAMES:
        with suppress(ValueError, RecursionError):
            value = json.loads(value.lower() if json_type is bool else value)
    try:
        if isinstance(value, str) and limits.strip:
            value = value.strip()
        if json_type in TYPE_NAMES:
            value = _as_type(json_type, value)
        _check_limits(limits, value)
        return _convert_inner(declared_type, value, place)
    except ValueMismatch as mismatch:
        message = f"{place}: {mismatch}"
        hint = "Correct it and send it again."
        raise InvalidArguments(message, hint, "INVALID_ARGUMENTS") from None


def _convert_inner(declared_type: object, value: Any, place: str) -> object:
    """A value of the right type with the values in it converted. Raises ValueMismatch, InvalidArguments."""
    origin = get_origin(declared_type)
    inner = get_args(declared_type)
    if origin is Literal and value not in inner:
        raise ValueMismatch(f"Input should be {' or '.join(map(repr, inner))}")
    if origin is list:
        return [parse_value(inner[0], item, f"{place}.{i}") for i, item in enumerate(value)]
    if origin is dict:
        return {key: parse_value(inner[1], value[key], f"{place}.{key}") for key in value}
    if isinstance(declared_type, type) and is_dataclass(declared_type):
        fields = schema.members(declared_type)
        return declared_type(
            **_parse_members(value, fields, f"{place}.", f"It takes {', '.join(fields)}.")
        )
    return value


def _unknown(raw_name: str, names: Mapping[str, str], prefix: str, usage: str) -> ToolError:
    """The error of an unknown name, which suggests one that contains it (`noteId` for `id`) or the
    nearest."""
    where = f" in {prefix[:-1]}" if prefix else ""
    lower = raw_name.lower()
    longer = next((name for name in names.values() if lower in name.lower()), "")
    hint = f"Did you mean {longer}?" if longer else did_you_mean(lower, names, cutoff=0.5)
    return ToolError(
        f"Unknown argument{where}: {raw_name}", f"{hint} {usage}".strip(), "UNKNOWN_ARGUMENT"
    )


def _as_type(json_type: Any, value: Any) -> Any:
    """A value of this type; a whole number may come as `5.0`, true and false as 1 and 0. Raises
    ValueMismatch."""
    if json_type is int and isinstance(value, float) and value.is_integer():
        value = int(value)
    if json_type is float and type(value) is int:
        with suppress(OverflowError):
            value = float(value)
    if json_type is bool and value in (0, 1):
        value = bool(value)
    if type(value) is not json_type or value != value:  # NaN is not a number
        raise ValueMismatch(f"Input should be a valid {TYPE_NAMES[json_type]}")
    return value


def _check_limits(limits: Limits, value: object) -> None:
    """Check the limits of a number, a text or a list. Raises ValueMismatch in pydantic's words."""
    if isinstance(value, int | float):
        if value < limits.ge:
            raise ValueMismatch(f"Input should be greater than or equal to {limits.ge}")
        if value > limits.le:
            raise ValueMismatch(f"Input should be less than or equal to {limits.le}")
    if isinstance(value, str | list):
        if len(value) < limits.min_length:
            raise _wrong_length(value, "at least", limits.min_length)
        if len(value) > limits.max_length:
            raise _wrong_length(value, "at most", limits.max_length)


def _wrong_length(value: str | list[object], bound: str, limit: float) -> ValueMismatch:
    plural = "" if limit == 1 else "s"
    size = f"String should have {bound} {limit} character{plural}"
    if isinstance(value, list):
        size = f"List should have {bound} {limit} item{plural} after validation"
    return ValueMismatch(f"{size}, not {len(value)}")
