"""JSON Schema of a tool's arguments, from its signature alone.

Constraints are markers inside `Annotated[…]`: `Limits` and `Alias`, and a plain string is the description. pydantic,
which validates in the server, reads the same markers through `__get_pydantic_core_schema__`, so nothing is said twice.
"""

import dataclasses
import inspect
import types
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

SIMPLE = {str: "string", int: "integer", float: "number", bool: "boolean"}

KEYS = {
    "str": {"min_length": "minLength", "max_length": "maxLength", "pattern": "pattern", "strip": None},
    "int": {"ge": "minimum", "le": "maximum"},
    "float": {"ge": "minimum", "le": "maximum"},
    "list": {"min_length": "minItems", "max_length": "maxItems"},
    "dict": {"min_length": "minProperties", "max_length": "maxProperties"},
}
"""For each type the constraints it takes, and what JSON Schema calls them (None: it has no word)."""

CORE_KEYS = {"strip": "strip_whitespace"}


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

    def given(self) -> dict[str, Any]:
        """The constraints that are set."""
        return {name: value for name, value in dataclasses.asdict(self).items() if value is not None}

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> dict[str, Any]:
        core = handler(source)
        inner = core
        while inner["type"] in ("nullable", "default"):
            inner = inner["schema"]
        takes = KEYS.get(inner["type"], {})
        for name, value in self.given().items():
            if name not in takes:
                raise TypeError(f"Limits({name}=…) does not fit {inner['type']}")
            inner[CORE_KEYS.get(name, name)] = value
        return core


@dataclass(frozen=True)
class Alias:
    """Another name under which a client may send the annotated argument or field."""

    name: str


@dataclass(frozen=True)
class Published:
    """The JSON Schema that `tools/list` shows for the annotated argument, in place of the derived one."""

    schema: dict[str, Any] = dataclasses.field(hash=False)


def of_signature(signature: inspect.Signature) -> dict[str, Any]:
    """The object schema of a function's arguments; unknown ones are not allowed."""
    return _object({p.name: (p.annotation, p.default) for p in signature.parameters.values()}, inspect.Parameter.empty)


def of_dataclass(kind: type) -> dict[str, Any]:
    """The object schema of a dataclass."""
    return _object(members(kind), dataclasses.MISSING)


def members(kind: type) -> dict[str, tuple[Any, Any]]:
    """Each field of a dataclass with its annotation and default (MISSING where it is required)."""
    hints = get_type_hints(kind, include_extras=True)
    return {f.name: (hints[f.name], _default(f)) for f in dataclasses.fields(kind)}


def unwrap(annotation: Any) -> tuple[Any, list[Any]]:
    """The annotation without `Annotated` and `| None`, and the markers that were on it."""
    markers: list[Any] = []
    while True:
        if get_origin(annotation) is Annotated:
            annotation, *more = get_args(annotation)
            markers += more
        elif get_origin(annotation) in (Union, types.UnionType) and type(None) in get_args(annotation):
            annotation = Union[tuple(arm for arm in get_args(annotation) if arm is not type(None))]  # noqa: UP007
        else:
            return annotation, markers


def aliases(annotation: Any) -> list[str]:
    """The other names under which an argument may be sent."""
    return [marker.name for marker in unwrap(annotation)[1] if isinstance(marker, Alias)]


def _default(one: dataclasses.Field) -> Any:
    factory = one.default_factory
    return one.default if factory is dataclasses.MISSING else factory()


def _object(named: dict[str, tuple[Any, Any]], required: Any) -> dict[str, Any]:
    properties = {}
    for name, (annotation, default) in named.items():
        properties[name] = of(annotation)
        if default is not required and default not in (None, "", [], {}, ()):
            properties[name]["default"] = default
    found = {"type": "object", "properties": properties}
    if needed := [name for name, (_, default) in named.items() if default is required]:
        found["required"] = needed
    return {**found, "additionalProperties": False}


def of(annotation: Any) -> dict[str, Any]:
    """The schema of one annotation.

    Raises TypeError for a type JSON has no word for, or a constraint that does not fit its type.
    """
    kind, markers = unwrap(annotation)
    found = next((dict(m.schema) for m in markers if isinstance(m, Published)), None)
    if found is None:
        found = _plain(kind)
    for marker in markers:
        if isinstance(marker, str):
            found["description"] = marker
        elif isinstance(marker, Limits):
            found |= _constraints(marker, kind)
    return found


def _plain(kind: Any) -> dict[str, Any]:
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
        return {"enum": list(inner)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [of(arm) for arm in inner]}
    if dataclasses.is_dataclass(kind):
        return of_dataclass(kind)
    raise TypeError(f"No JSON Schema for {kind!r}")


def _constraints(limits: Limits, kind: Any) -> dict[str, Any]:
    takes = KEYS.get((get_origin(kind) or kind).__name__, {})
    found = {}
    for name, value in limits.given().items():
        if name not in takes:
            raise TypeError(f"Limits({name}=…) does not fit {kind!r}")
        if takes[name]:
            found[takes[name]] = value
    return found
