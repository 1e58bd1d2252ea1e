"""Values of declared types: the one validator, of the standard library.

It speaks pydantic's words; a property test holds the two together. Clients and models know them, and every error names
its place (`notes.0.fields`).
"""

import dataclasses
import re
from collections.abc import Callable, Mapping, Sized
from typing import Literal, NamedTuple, get_args, get_origin

from tools.core import schema
from tools.core.json_types import JsonObject
from tools.core.schema import Limits, Member

TRUE, FALSE = {True, "1", "true", "t", "yes", "y", "on"}, {False, "0", "false", "f", "no", "n", "off"}
INTEGER = re.compile(r"\s*[+-]?\d+(\.0*)?\s*")
"""A whole number as text; `5.0` is one."""
MAX_DIGITS = 4300
"""Digits that Python converts to a number in linear time."""


class Problem(NamedTuple):
    """What is wrong with the value at `place`."""

    place: str
    message: str


class Misfit(Exception):
    """A value does not fit its type; the text is what pydantic would say."""


def of_members(
    values: Mapping[str, object], named: Mapping[str, Member], place: str, problems: list[Problem]
) -> JsonObject:
    """`values` as those of `named`, defaults filled in; what does not fit is added to `problems`."""
    result = {}
    for name, member in named.items():
        where = f"{place}.{name}" if place else name
        if name in values:
            result[name] = of(member.annotation, values[name], where, problems)
        elif member.required:
            problems.append(Problem(where, "Field required"))
        else:
            result[name] = member.default
    return result


def of(annotation: object, value: object, place: str, problems: list[Problem]) -> object:
    """`value` as one of a declared type; what does not fit is added to `problems`."""
    kind, markers = schema.unwrap(annotation)
    limits = [marker for marker in markers if isinstance(marker, Limits)]
    before = len(problems)
    try:
        if isinstance(value, str) and any(limit.strip for limit in limits):
            value = value.strip()
        if isinstance(value, list):  # too long a list is refused before its items are looked at
            _check([Limits(max_length=limit.max_length) for limit in limits], value)
        value = _plain(kind, value, place, problems)
        if len(problems) == before:
            _check(limits, value)
    except Misfit as misfit:
        problems.append(Problem(place, str(misfit)))
    return value


def _plain(kind: object, value: object, place: str, problems: list[Problem]) -> object:
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if read := SCALARS.get(origin):
        return read(value)
    if origin is list:
        if not isinstance(value, list):
            raise Misfit("Input should be a valid list")
        return [of(inner[0], item, f"{place}.{i}", problems) for i, item in enumerate(value)] if inner else value
    if origin is dict:
        if not isinstance(value, dict):
            raise Misfit("Input should be a valid dictionary")
        return {key: of(inner[1], item, f"{place}.{key}", problems) for key, item in value.items()} if inner else value
    if origin is Literal:
        return _choice(inner, value)
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return _instance(kind, value, place, problems)
    return value


def _choice(choices: tuple[object, ...], value: object) -> object:
    if not isinstance(value, list | dict) and value in choices:
        return value
    *first, last = map(repr, choices)
    raise Misfit(f"Input should be {', '.join(first)} or {last}" if first else f"Input should be {last}")


def _instance(kind: type, value: object, place: str, problems: list[Problem]) -> object:
    if not isinstance(value, dict):
        raise Misfit(f"Input should be a dictionary or an instance of {kind.__name__}")
    before = len(problems)
    values = of_members(value, schema.members(kind), place, problems)
    return kind(**values) if len(problems) == before else value


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise Misfit("Input should be a valid string")
    return value


def _integer(value: object) -> int:
    if isinstance(value, float):
        if not value.is_integer():
            raise Misfit("Input should be a valid integer, got a number with a fractional part")
        return int(value)
    if isinstance(value, str):
        if len(value) > MAX_DIGITS or not INTEGER.fullmatch(value):
            raise Misfit("Input should be a valid integer, unable to parse string as an integer")
        return int(value.strip().partition(".")[0])
    if not isinstance(value, int):
        raise Misfit("Input should be a valid integer")
    return value


def _number(value: object) -> float:
    if not isinstance(value, int | float | str):
        raise Misfit("Input should be a valid number")
    try:
        return float(value)
    except (ValueError, OverflowError):
        raise Misfit("Input should be a valid number, unable to parse string as a number") from None


def _boolean(value: object) -> bool:
    if not isinstance(value, str | int | float) or (isinstance(value, float) and value not in (0, 1)):
        raise Misfit("Input should be a valid boolean")
    word = value.lower() if isinstance(value, str) else value
    if word not in TRUE | FALSE:
        raise Misfit("Input should be a valid boolean, unable to interpret input")
    return word in TRUE


SCALARS: dict[object, Callable[[object], object]] = {str: _string, int: _integer, float: _number, bool: _boolean}


def _check(limits: list[Limits], value: object) -> None:
    for limit in limits:
        if message := _exceeded(limit, value):
            raise Misfit(message)


def _exceeded(limit: Limits, value: object) -> str:
    if isinstance(value, int | float):
        return _out_of_range(limit, value)
    if not isinstance(value, str | list | dict):
        return ""
    if limit.min_length is not None and len(value) < limit.min_length:
        return _length(value, "at least", limit.min_length)
    if limit.max_length is not None and len(value) > limit.max_length:
        return _length(value, "at most", limit.max_length)
    if limit.pattern is not None and isinstance(value, str) and not re.search(limit.pattern, value):
        return f"String should match pattern '{limit.pattern}'"
    return ""


def _out_of_range(limit: Limits, number: float) -> str:
    if limit.ge is not None and number < limit.ge:
        return f"Input should be greater than or equal to {limit.ge}"
    if limit.le is not None and number > limit.le:
        return f"Input should be less than or equal to {limit.le}"
    return ""


def _length(value: Sized, bound: str, count: int) -> str:
    if isinstance(value, str):
        return f"String should have {bound} {count} character{'' if count == 1 else 's'}"
    name = "List" if isinstance(value, list) else "Dictionary"
    return f"{name} should have {bound} {count} item{'' if count == 1 else 's'} after validation, not {len(value)}"
