"""The JSON Schema of actions, as tools/list shows it.

It is paid for in every conversation: a domain describes each of its fields once, an action only says which it needs
and which it does not take.
"""

from typing import Any

from tools.onepercent import actions, fields
from tools.onepercent.actions import Action


def of_actions(most: int) -> dict[str, Any]:
    """The schema of a list of 1 to `most` actions."""
    actions.load()
    domains: dict[str, list[Action]] = {}
    for one in actions.ACTIONS.values():
        if one.published:
            domains.setdefault(one.domain, []).append(one)
    item = {
        "type": "object",
        "properties": {"action": {}, "client_action_id": fields.Uuid().schema(), "params": {"type": "object"}},
        "required": list(actions.ENVELOPE),
        "additionalProperties": False,
        "anyOf": [_domain(found) for found in domains.values()],
    }
    return {"type": "array", "minItems": 1, "maxItems": most, "items": item}


def _domain(found: list[Action]) -> dict[str, Any]:
    takes = _fields(found)
    branches: dict[str, tuple[list[str], dict[str, Any]]] = {}
    for one in found:
        params = _params(one, takes)
        branches.setdefault(str(params), ([], params))[0].append(one.name)
    return {
        "properties": {
            "params": {
                "properties": {name: kind.schema() for name, kind in takes.items()},
                "additionalProperties": False,
            }
        },
        "anyOf": [{"properties": {"action": {"enum": same}, "params": params}} for same, params in branches.values()],
    }


def _fields(found: list[Action]) -> dict[str, Any]:
    takes: dict[str, Any] = {}
    for one in found:
        for name, kind in one.fields.items():
            if takes.setdefault(name, kind) != kind:
                raise TypeError(f"{one.name} takes another {name} than the {one.domain} actions before it")
    return takes


def _params(one: Action, takes: dict[str, Any]) -> dict[str, Any]:
    """Only what is true of this action: the fields it requires, and, the shorter way, which of its domain it takes."""
    params: dict[str, Any] = {"required": list(one.required)} if one.required else {}
    if takes.keys() <= one.fields.keys():
        return params
    if list(one.fields) == list(one.required):
        return params | {"maxProperties": len(one.required)}
    # Not `"name": false`, since some clients take every property for an object; what they do not know they pass over.
    taken = {"enum": list(one.fields)}
    refused = {"not": {"enum": [name for name in takes if name not in one.fields]}}
    return params | {"propertyNames": min(taken, refused, key=lambda names: len(str(names)))}
