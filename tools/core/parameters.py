"""Reading a call's arguments as clients really send them.

Clients send null for what they leave out, JSON inside a string where a list is wanted, a name they remember from
elsewhere. What is certain is corrected here; what is not becomes an error that says what would be right.
"""

import dataclasses
import inspect
import json
from collections.abc import Mapping
from typing import Any, TypeVar, cast, get_args, get_origin

from tools.core import schema, values
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.schema import Member
from tools.core.suggest import did_you_mean
from tools.core.values import Problem

ABSENT_TEXTS = ("", "null")
"""What some clients send in place of null for an argument that is not text."""
SHOWN_PROBLEMS = 8

Value = TypeVar("Value")


class Parameters:
    """What a tool or prompt takes: `schema` is its JSON Schema, `usage` one line for hints."""

    def __init__(self, name: str, signature: inspect.Signature):
        self.members = schema.parameters(signature)
        self.schema = schema.of_members(self.members)
        self.required = [name for name, member in self.members.items() if member.required]
        self.usage = self._usage(name)

    def _usage(self, name: str) -> str:
        words = [
            f"{parameter} ({_kind(described)}{'' if parameter in self.required else ', optional'})"
            for parameter, described in self.schema["properties"].items()
        ]
        return f"{name} takes {', '.join(words) or 'no arguments'}."

    def read(self, arguments: Mapping[str, object]) -> JsonObject:
        """`arguments`, as a client sent them, as values of the declared types, defaults filled in.

        Raises ToolError that names every argument that does not fit.
        """
        problems: list[Problem] = []
        result = values.of_members(self.canonical(arguments), self.members, "", problems)
        if problems:
            raise _invalid(problems, self.usage)
        return result

    def canonical(self, arguments: Mapping[str, object]) -> JsonObject:
        """`arguments` under their declared names, without nulls for optional ones, JSON texts read.

        Raises ToolError: an unknown name (the hint names the nearest right one), a name sent twice.
        """
        try:
            return _named(arguments, self.members, "")
        except _UnknownName as error:
            hint = error.hint if error.place else f"{error.hint} {self.usage}".strip()
            raise ToolError(error.message, hint, code="UNKNOWN_ARGUMENT") from None
        except _BadArgument as error:
            raise _invalid([error.problem], self.usage) from None


def read_value(annotation: type[Value], value: object, place: str) -> Value:
    """`value`, as a client sent it, as one of a declared type: for what a tool takes as a bare dict.

    Raises ToolError.
    """
    problems: list[Problem] = []
    try:
        result = values.of(annotation, _canonical(annotation, value, place), place, problems)
    except _UnknownName as error:
        raise ToolError(error.message, error.hint or "Leave it out.", code="UNKNOWN_ARGUMENT") from None
    except _BadArgument as error:
        problems.append(error.problem)
    if problems:
        raise _invalid(problems, "Correct it and send it again.")
    return cast(Value, result)


def _invalid(problems: list[Problem], hint: str) -> ToolError:
    text = "; ".join(f"{place}: {message}" if place else message for place, message in problems[:SHOWN_PROBLEMS])
    return ToolError(text, hint, code="INVALID_ARGUMENTS")


def _kind(described: schema.Schema) -> str:
    if "enum" in described:
        return "one of " + ", ".join(map(str, described["enum"]))
    return described.get("type", "any")


class _UnknownName(Exception):
    """`names` are those that are known at the place, each with the declared one."""

    def __init__(self, sent: str, place: str, names: Mapping[str, str]):
        self.place = place
        self.message = f"Unknown argument{f' in {place}' if place else ''}: {sent[:80]}"
        self.hint = _meant(sent[:80].lower(), names)
        if place:
            declared = [name for name in names if names[name] == name]
            self.hint = f"{self.hint} It takes {', '.join(declared)}.".strip()


def _meant(sent: str, names: Mapping[str, str]) -> str:
    """`Did you mean X?`: the nearest name, or the one that `sent` is a part of: `id` of `noteId`, `tags` of `addTags`."""
    near = did_you_mean(sent, names, cutoff=0.7)
    part_of = next((name for name in names.values() if sent and sent in name.lower()), "")
    return near or (f"Did you mean {part_of}?" if part_of else did_you_mean(sent, names, cutoff=0.5))


class _BadArgument(Exception):
    def __init__(self, place: str, message: str):
        self.problem = Problem(place, message)


def _named(sent: Mapping[str, object], members: Mapping[str, Member], place: str) -> JsonObject:
    names = {alias: name for name, member in members.items() for alias in schema.aliases(member.annotation)}
    names |= {name: name for name in members}
    result: JsonObject = {}
    for sent_name, value in sent.items():
        if sent_name not in names:
            raise _UnknownName(sent_name, place, names)
        name = names[sent_name]
        where = f"{place}.{name}" if place else name
        if not members[name].required and _is_absent(members[name].annotation, value):
            continue
        if name in result:
            raise _BadArgument(where, f"given twice, also as {sent_name}")
        result[name] = _canonical(members[name].annotation, value, where)
    return result


def _is_absent(annotation: object, value: object) -> bool:
    return value is None or (value in ABSENT_TEXTS and schema.unwrap(annotation)[0] is not str)


def _canonical(annotation: object, value: object, place: str) -> object:
    kind, _ = schema.unwrap(annotation)
    origin = get_origin(kind) or kind
    if kind in (int, float) and isinstance(value, bool):
        raise _BadArgument(place, "Input should be a valid " + ("integer" if kind is int else "number"))
    if isinstance(value, str) and (origin in (list, dict) or dataclasses.is_dataclass(kind)):
        value = _read_json(value)
    if origin is list and isinstance(value, list):
        item_kind = (get_args(kind) or (Any,))[0]
        return (
            value if item_kind is Any else [_canonical(item_kind, item, f"{place}.{i}") for i, item in enumerate(value)]
        )
    if isinstance(kind, type) and dataclasses.is_dataclass(kind) and isinstance(value, dict):
        return _named(value, schema.members(kind), place)
    return value


def _read_json(text: str) -> object:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, list | dict) else text
