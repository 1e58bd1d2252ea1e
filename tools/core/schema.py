"""JSON Schema of a tool's arguments, from its signature alone.

Markers stand inside `Annotated[…]`: `Limits`, `Alias`; a plain string is the description, a dictionary is
what `tools/list` shows in place of the derived schema. A schema says nothing of limits: every conversation
would pay for them, some model APIs refuse them, and what does not fit is an error that names the limit.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from functools import cache
from math import inf
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin

from .json_types import JsonObject

Members = Mapping[str, inspect.Parameter]

SIMPLE: dict[object, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}


class Limits(NamedTuple):
    """Constraints on the annotated type: numbers from `ge` to `le`; text or list of a length from
    `min_length` to `max_length`; `strip`: text is stripped of blanks at its ends."""

    ge: float = -inf
    le: float = inf
    min_length: int = 0
    max_length: float = inf
    strip: bool = False


class Alias(NamedTuple):
    """Another name that a client may send the annotated argument or field under."""

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
    return [name for name, member in members.items() if member.default is member.empty]


def derive_object(members: Members) -> JsonObject:
    """The object schema of parameters or fields. It leaves out that unknown names are refused."""
    properties = {}
    for name, member in members.items():
        properties[name] = derive(member.annotation)
        # Left out: defaults that a model expects anyway (empty, false, 0), and those that are made for each
        # call.
        if isinstance(member.default, str | int | float | tuple) and member.default:
            properties[name]["default"] = member.default
    schema: JsonObject = {"type": "object", "properties": properties}
    if names := required_names(members):
        schema["required"] = names
    return schema


def unwrap(annotation: object) -> tuple[object, list[object]]:
    """The annotation without `Annotated` and `| None`, and the markers that were on it."""
    markers: list[object] = []
    while True:
        parts = get_args(annotation)
        if get_origin(annotation) is Annotated:
            annotation, *marks = parts
            markers += marks
        elif type(None) in parts:
            annotation = parts[0]  # None stands last
        else:
            return annotation, markers


def derive(annotation: object) -> JsonObject:
    """The schema of one annotation. Raises TypeError for a type that JSON Schema cannot express."""
    kind, markers = unwrap(annotation)
    schema = _derive_type(kind)
    for marker in markers:
        if isinstance(marker, dict):  # stands before a description
            schema = dict(marker)
        elif isinstance(marker, str):
            schema["description"] = marker
    return schema


def _derive_type(kind: object) -> JsonObject:
    origin = get_origin(kind) or kind
    inner = get_args(kind)
    if kind in (Any, object):
        return {}
    if kind in SIMPLE:
        return {"type": SIMPLE[kind]}
    if origin is list:
        return {"type": "array", "items": derive(inner[0])}
    if origin is dict:
        values = derive(inner[1])
        return {"type": "object", "additionalProperties": values} if values else {"type": "object"}
    if origin is Literal:
        return {"type": SIMPLE[type(inner[0])], "enum": list(inner)}
    if isinstance(kind, type) and is_dataclass(kind):
        return derive_object(members(kind))
    raise TypeError(f"No JSON Schema for {kind!r}")
