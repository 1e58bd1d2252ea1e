"""Validation of canonical arguments where pydantic is not installed: the shell way, `python3 -m tools call`.

It says of the same arguments the same as pydantic does in the server, in the same words; a test holds the two
together. The server does not use it.
"""

import dataclasses
import inspect
import re
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from tools import arguments, schema

if TYPE_CHECKING:
    from tools.registry import Tool

TRUE, FALSE = {True, "1", "true", "t", "yes", "y", "on"}, {False, "0", "false", "f", "no", "n", "off"}


def validate(tool: "Tool", given: dict[str, Any]) -> dict[str, Any]:
    """`given` as values of the declared types, defaults filled in.

    Raises ToolError that names every argument that does not fit.
    """
    errors: list[tuple[str, str]] = []
    named = {p.name: (p.annotation, p.default) for p in tool.signature.parameters.values()}
    values = _members(given, named, inspect.Parameter.empty, "", errors)
    if errors:
        raise arguments.invalid(tool, errors)
    return values


def one(annotation: Any, given: Any, place: str) -> Any:
    """`given` as one value of a declared type: for what a tool takes as a bare dict and tells apart itself.

    Raises ToolError.
    """
    errors: list[tuple[str, str]] = []
    value = _value(annotation, arguments.canonical_value(annotation, given, place), place, errors)
    if errors:
        raise arguments.unfit(errors, "Correct it and send it again.")
    return value


class _Wrong(Exception):
    """What pydantic would say of the value."""


Errors = list[tuple[str, str]]


def _members(
    given: dict, named: dict[str, tuple[Any, Any]], required: Any, place: str, errors: Errors
) -> dict[str, Any]:
    values = {}
    for name, (annotation, default) in named.items():
        where = f"{place}.{name}" if place else name
        if name in given:
            values[name] = _value(annotation, given[name], where, errors)
        elif default is required:
            errors.append((where, "Field required"))
        else:
            values[name] = default
    return values


def _value(annotation: Any, value: Any, place: str, errors: Errors) -> Any:
    kind, markers = schema.unwrap(annotation)
    limits = [marker for marker in markers if isinstance(marker, schema.Limits)]
    try:
        if any(one.strip for one in limits) and isinstance(value, str):
            value = value.strip()
        if isinstance(value, list):  # of too many items none is looked at
            _check([schema.Limits(max_length=one.max_length) for one in limits], value)
        before = len(errors)
        value = _plain(kind, value, place, errors)
        if len(errors) == before:
            _check(limits, value)
    except _Wrong as wrong:
        errors.append((place, str(wrong)))
    return value


def _plain(kind: Any, value: Any, place: str, errors: Errors) -> Any:
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if origin in (str, int, float, bool):
        return SIMPLE[origin](value)
    if origin is list:
        if not isinstance(value, list):
            raise _Wrong("Input should be a valid list")
        return [_value(inner[0], one, f"{place}.{at}", errors) for at, one in enumerate(value)] if inner else value
    if origin is dict:
        if not isinstance(value, dict):
            raise _Wrong("Input should be a valid dictionary")
        return {key: _value(inner[1], one, f"{place}.{key}", errors) for key, one in value.items()} if inner else value
    if origin is Literal and value not in inner:
        *first, last = map(repr, inner)
        raise _Wrong(f"Input should be {', '.join(first)} or {last}" if first else f"Input should be {last}")
    if dataclasses.is_dataclass(kind):
        if not isinstance(value, dict):
            raise _Wrong(f"Input should be a dictionary or an instance of {kind.__name__}")
        before = len(errors)
        values = _members(value, schema.members(kind), dataclasses.MISSING, place, errors)
        return kind(**values) if len(errors) == before else value
    return value


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise _Wrong("Input should be a valid string")
    return value


def _integer(value: Any) -> int:
    if isinstance(value, float):
        if not value.is_integer():
            raise _Wrong("Input should be a valid integer, got a number with a fractional part")
        return int(value)
    if isinstance(value, str):
        if not re.fullmatch(r"\s*[+-]?\d+(\.0*)?\s*", value):
            raise _Wrong("Input should be a valid integer, unable to parse string as an integer")
        return int(value.strip().partition(".")[0])
    if not isinstance(value, int):
        raise _Wrong("Input should be a valid integer")
    return value


def _number(value: Any) -> float:
    if not isinstance(value, int | float | str):
        raise _Wrong("Input should be a valid number")
    try:
        return float(value)
    except ValueError:
        raise _Wrong("Input should be a valid number, unable to parse string as a number") from None


def _boolean(value: Any) -> bool:
    if not isinstance(value, str | int | float):
        raise _Wrong("Input should be a valid boolean")
    word = value.lower() if isinstance(value, str) else value
    if word not in TRUE | FALSE:
        raise _Wrong("Input should be a valid boolean, unable to interpret input")
    return word in TRUE


SIMPLE = {str: _string, int: _integer, float: _number, bool: _boolean}


def _check(every: list[schema.Limits], value: Any) -> None:
    for limits in every:
        _check_one(limits, value)


def _check_one(limits: schema.Limits, value: Any) -> None:
    if limits.ge is not None and value < limits.ge:
        raise _Wrong(f"Input should be greater than or equal to {limits.ge}")
    if limits.le is not None and value > limits.le:
        raise _Wrong(f"Input should be less than or equal to {limits.le}")
    if limits.min_length is not None and len(value) < limits.min_length:
        raise _Wrong(_length(value, "at least", limits.min_length))
    if limits.max_length is not None and len(value) > limits.max_length:
        raise _Wrong(_length(value, "at most", limits.max_length))
    if limits.pattern is not None and not re.search(limits.pattern, value):
        raise _Wrong(f"String should match pattern '{limits.pattern}'")


def _length(value: Any, bound: str, count: int) -> str:
    if isinstance(value, str):
        return f"String should have {bound} {count} character{'' if count == 1 else 's'}"
    name = "List" if isinstance(value, list) else "Dictionary"
    return f"{name} should have {bound} {count} item{'' if count == 1 else 's'} after validation, not {len(value)}"
