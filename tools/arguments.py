"""Arguments as clients really send them, made canonical before they are validated.

Clients send null for what they leave out, JSON inside a string where a list is wanted, a name they remember from
elsewhere. What is certain is set right here; what is not becomes an error that says what would be right.
"""

import dataclasses
import difflib
import inspect
import json
from typing import TYPE_CHECKING, Any, get_args, get_origin

from tools import schema
from tools.errors import ToolError

if TYPE_CHECKING:
    from tools.registry import Tool

ABSENT_TEXTS = ("", "null")
"""What some clients send in place of null for an argument that is no text."""


def canonical(tool: "Tool", given: dict[str, Any]) -> dict[str, Any]:
    """`given` with declared names only, without nulls for optional arguments, JSON texts read.

    Raises ToolError: an unknown name (its hint names the nearest right one), a name given twice.
    """
    named = {p.name: (p.annotation, p.default) for p in tool.signature.parameters.values()}
    try:
        return _members(given, named, inspect.Parameter.empty, "")
    except _Unknown as error:
        raise ToolError(error.message, f"{error.hint} {usage(tool)}".strip(), code="UNKNOWN_ARGUMENT") from None
    except _Wrong as error:
        raise invalid(tool, [(error.place, error.message)]) from None


def canonical_value(annotation: Any, value: Any, place: str) -> Any:
    """One value of a declared type made canonical, as `canonical` does with each argument.

    Raises ToolError.
    """
    try:
        return _value(annotation, value, place)
    except _Unknown as error:
        raise ToolError(error.message, error.hint or "Leave it out.", code="UNKNOWN_ARGUMENT") from None
    except _Wrong as error:
        raise unfit([(error.place, error.message)], "Correct it and send it again.") from None


def invalid(tool: "Tool", errors: list[tuple[str, str]]) -> ToolError:
    """The error for arguments that do not fit: (place, what is wrong) of each, and what the tool takes."""
    return unfit(errors, usage(tool))


def unfit(errors: list[tuple[str, str]], hint: str) -> ToolError:
    """The error for values that do not fit: (place, what is wrong) of each."""
    text = "; ".join(f"{place}: {what}" if place else what for place, what in errors[:8])
    return ToolError(text, hint, code="INVALID_ARGUMENTS")


def usage(tool: "Tool") -> str:
    """One line that says what a tool takes: `search_docs takes query (string), limit (integer, optional).`"""
    required = tool.schema.get("required", [])
    words = [
        f"{name} ({_kind(one)}{'' if name in required else ', optional'})"
        for name, one in tool.schema["properties"].items()
    ]
    return f"{tool.wire_name} takes {', '.join(words) or 'no arguments'}."


def _kind(found: dict[str, Any]) -> str:
    return found.get("type") or ("one of " + ", ".join(map(str, found["enum"])) if "enum" in found else "any")


@dataclasses.dataclass
class _Unknown(Exception):
    message: str
    hint: str


@dataclasses.dataclass
class _Wrong(Exception):
    place: str
    message: str


def _members(given: dict[str, Any], named: dict[str, tuple[Any, Any]], required: Any, place: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    aliases = {alias: name for name, (annotation, _) in named.items() for alias in schema.aliases(annotation)}
    for sent, value in given.items():
        name = aliases.get(sent, sent)
        where = f"{place}.{name}" if place else name
        if name not in named:
            raise _unknown(sent, place, [*named, *aliases])
        annotation, default = named[name]
        if default is not required and _absent(annotation, value):
            continue
        if name in found:
            raise _Wrong(where, f"given twice, also as {sent}")
        found[name] = _value(annotation, value, where)
    return found


def _unknown(sent: str, place: str, names: list[str]) -> _Unknown:
    near = difflib.get_close_matches(sent.lower(), names, n=1, cutoff=0.5)
    where = f" in {place}" if place else ""
    return _Unknown(f"Unknown argument{where}: {sent[:80]}", f"Did you mean {near[0]}?" if near else "")


def _absent(annotation: Any, value: Any) -> bool:
    return value is None or (value in ABSENT_TEXTS and schema.unwrap(annotation)[0] is not str)


def _value(annotation: Any, value: Any, place: str) -> Any:
    kind, _ = schema.unwrap(annotation)
    origin = get_origin(kind) or kind
    if kind in (int, float) and isinstance(value, bool):
        raise _Wrong(place, "Input should be a valid " + ("integer" if kind is int else "number"))
    if isinstance(value, str) and (origin in (list, dict) or dataclasses.is_dataclass(kind)):
        value = _read_json(value)
    if origin is list and isinstance(value, list):
        item = (get_args(kind) or (Any,))[0]
        return value if item is Any else [_value(item, one, f"{place}.{index}") for index, one in enumerate(value)]
    if dataclasses.is_dataclass(kind) and isinstance(value, dict):
        return _members(value, schema.members(kind), dataclasses.MISSING, place)
    return value


def _read_json(text: str) -> Any:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return found if isinstance(found, list | dict) else text
