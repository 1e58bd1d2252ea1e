"""JSON Schema of a tool's arguments, from its signature alone.

Markers inside `Annotated[…]` are `Limits`, `Alias`, a string (the description), and a dictionary (the schema
that `tools/list` shows in place of the derived one). A schema says nothing about limits: every conversation
would pay for them, some model APIs refuse them, and a value that does not fit is an error that names its
limit.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from functools import cache
from math import inf
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin

from .json_types import JsonObject, filled

Members = Mapping[str, inspect.Parameter]

SIMPLE = {str: "string", int: "integer", float: "number", bool: "boolean"}


class Limits(NamedTuple):
    """Limits of the annotated type: numbers are from `ge` to `le`; texts and lists have a length from
    `min_length` to `max_length`; `strip` removes blanks at both ends of a text."""

    ge: float = -inf
    le: float = inf
    min_length: int = 0
    max_length: float = inf
    strip: bool = False


class Alias(NamedTuple):
    """Another name under which a client may send the annotated argument or field."""

    name: str


@cache
def members(callee: Callable[..., object]) -> Members:
    """Each parameter of a function, or field of a dataclass, by name."""
    return inspect.signature(callee, eval_str=True).parameters


def declared_names(members: Members) -> dict[str, str]:
    """The declared name by each name that a client may send."""
    declared = {}
    for name, member in members.items():
        declared[name] = name
        for marker in unwrap(member.annotation)[1]:
            if isinstance(marker, Alias):
                declared[marker.name] = name
    return declared


def required_names(members: Members) -> list[str]:
    """The members without a default."""
    return [name for name, member in members.items() if member.default is member.empty]


def derive_object(members: Members) -> JsonObject:
    """The object schema of parameters or fields. It does not say that unknown names are refused."""
    properties = {}
    for name, member in members.items():
        properties[name] = derive(member.annotation)
        # Without the defaults that a model expects anyway (empty, false, 0), and those made for each call.
        if isinstance(member.default, str | int | float | tuple) and member.default:
            properties[name]["default"] = member.default
    return {"type": "object", "properties": properties} | filled(required=required_names(members))


def unwrap(annotation: object) -> tuple[object, list[object]]:
    """An annotation without `Annotated` and `| None`, and its markers."""
    markers = []
    while True:
        parts = get_args(annotation)
        if get_origin(annotation) is Annotated:
            annotation, *own_markers = parts
            markers += own_markers
        elif type(None) in parts:
            annotation = parts[0]  # None stands last
        else:
            return annotation, markers


def derive(annotation: object) -> JsonObject:
    """The schema of one annotation. Raises TypeError for a type that JSON Schema cannot express."""
    declared_type, markers = unwrap(annotation)
    schema = _derive_type(declared_type)
    for marker in markers:
        if isinstance(marker, dict):  # stands before a description
            schema = dict(marker)
        elif isinstance(marker, str):
            schema["description"] = marker
    return schema


def _derive_type(declared_type: object) -> JsonObject:
    origin = get_origin(declared_type) or declared_type
    inner = get_args(declared_type)
    if declared_type in (Any, object):
        return {}
    if declared_type in SIMPLE:
        return {"type": SIMPLE[declared_type]}
    if origin is list:
        return {"type": "array", "items": derive(inner[0])}
    if origin is dict:
        return {"type": "object"} | filled(additionalProperties=derive(inner[1]))
    if origin is Literal:
        return {"type": SIMPLE[type(inner[0])], "enum": list(inner)}
    if isinstance(declared_type, type) and is_dataclass(declared_type):
        return derive_object(members(declared_type))
    raise TypeError(f"No JSON Schema for {declared_type!r}")
