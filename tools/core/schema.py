"""JSON Schema of a tool's arguments, from its signature alone.

Constraints are markers inside `Annotated[…]`: `Limits` and `Alias`; a plain string is the description.
"""

import dataclasses
import inspect
import types
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from tools.core.json_types import JsonObject

Schema = JsonObject

SIMPLE: dict[object, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}

KEYWORDS: dict[str, dict[str, str | None]] = {
    "str": {"min_length": "minLength", "max_length": "maxLength", "pattern": "pattern", "strip": None},
    "int": {"ge": "minimum", "le": "maximum"},
    "float": {"ge": "minimum", "le": "maximum"},
    "list": {"min_length": "minItems", "max_length": "maxItems"},
    "dict": {"min_length": "minProperties", "max_length": "maxProperties"},
}
"""For each type the constraints it takes, and their JSON Schema keyword (None: there is none)."""


@dataclass(frozen=True)
class Limits:
    """Constraints on the annotated type: numbers from `ge` to `le`; length of text, list or dict from `min_length`
    to `max_length`; text matches `pattern` and is stripped of blanks at its ends with `strip`."""

    ge: float | None = None
    le: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    strip: bool | None = None

    def declared(self) -> JsonObject:
        """The constraints that are set."""
        return {name: value for name, value in dataclasses.asdict(self).items() if value is not None}


@dataclass(frozen=True)
class Alias:
    """Another name under which a client may send the annotated argument or field."""

    name: str


@dataclass(frozen=True)
class Published:
    """The JSON Schema that `tools/list` shows for the annotated argument, in place of the derived one."""

    schema: Schema = dataclasses.field(hash=False)


class Member(NamedTuple):
    """A parameter of a function or a field of a dataclass."""

    annotation: object
    required: bool
    default: object


def parameters(signature: inspect.Signature) -> dict[str, Member]:
    """Each parameter of a function, by name."""
    return {
        parameter.name: Member(parameter.annotation, parameter.default is parameter.empty, parameter.default)
        for parameter in signature.parameters.values()
    }


def members(kind: type) -> dict[str, Member]:
    """Each field of a dataclass, by name."""
    hints = get_type_hints(kind, include_extras=True)
    return {field.name: _member(hints[field.name], field) for field in dataclasses.fields(kind)}


def _member(annotation: object, field: dataclasses.Field) -> Member:
    if field.default_factory is not dataclasses.MISSING:
        return Member(annotation, False, field.default_factory())
    return Member(annotation, field.default is dataclasses.MISSING, field.default)


def of_members(named: Mapping[str, Member]) -> Schema:
    """The object schema of parameters or fields; unknown names are not allowed."""
    properties = {}
    for name, member in named.items():
        properties[name] = of(member.annotation)
        if not member.required and member.default not in (None, "", [], {}, ()):
            properties[name]["default"] = member.default
    schema: Schema = {"type": "object", "properties": properties}
    if required := [name for name, member in named.items() if member.required]:
        schema["required"] = required
    return {**schema, "additionalProperties": False}


def of_dataclass(kind: type) -> Schema:
    """The object schema of a dataclass."""
    return of_members(members(kind))


def unwrap(annotation: object) -> tuple[object, list[object]]:
    """The annotation without `Annotated` and `| None`, and the markers that were on it."""
    markers: list[object] = []
    while True:
        if get_origin(annotation) is Annotated:
            annotation, *more = get_args(annotation)
            markers += more
        elif get_origin(annotation) in (Union, types.UnionType) and type(None) in get_args(annotation):
            annotation = Union[tuple(arm for arm in get_args(annotation) if arm is not type(None))]  # noqa: UP007
        else:
            return annotation, markers


def aliases(annotation: object) -> list[str]:
    """The other names under which an argument may be sent."""
    return [marker.name for marker in unwrap(annotation)[1] if isinstance(marker, Alias)]


def of(annotation: object) -> Schema:
    """The schema of one annotation.

    Raises TypeError for a type JSON Schema has no word for, or a constraint that does not fit its type.
    """
    kind, markers = unwrap(annotation)
    published = next((dict(marker.schema) for marker in markers if isinstance(marker, Published)), None)
    schema = _plain(kind) if published is None else published
    for marker in markers:
        if isinstance(marker, str):
            schema["description"] = marker
        elif isinstance(marker, Limits):
            schema |= _constraints(marker, kind)
    return schema


def _plain(kind: object) -> Schema:
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if kind is Any:
        return {}
    if kind in SIMPLE:
        return {"type": SIMPLE[kind]}
    if origin is list:
        return {"type": "array", **({"items": of(inner[0])} if inner else {})}
    if origin is dict:
        values = of(inner[1]) if inner else {}
        return {"type": "object", **({"additionalProperties": values} if values else {})}
    if origin is Literal:
        return {"type": SIMPLE[type(inner[0])], "enum": list(inner)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [of(arm) for arm in inner]}
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return of_dataclass(kind)
    raise TypeError(f"No JSON Schema for {kind!r}")


def _constraints(limits: Limits, kind: object) -> Schema:
    keywords = KEYWORDS.get(getattr(get_origin(kind) or kind, "__name__", ""), {})
    constraints = {}
    for name, value in limits.declared().items():
        if name not in keywords:
            raise TypeError(f"Limits({name}=…) does not fit {kind!r}")
        if keyword := keywords[name]:
            constraints[keyword] = value
    return constraints
