"""The JSON Schema of actions, as tools/list shows it."""

from typing import Any

from tools.onepercent import actions, fields


def of_actions() -> dict[str, Any]:
    """The JSON Schema of a list of actions.

    A field that is the same wherever it occurs is described once, for all; an action only names it. Actions that
    take the same share a branch.
    """
    actions.load()
    shared = _shared()
    branches: dict[str, dict[str, Any]] = {}
    for one in actions.ACTIONS.values():
        if one.published:
            takes = {name: {} if name in shared else kind.schema() for name, kind in one.fields.items()}
            params = {"properties": takes, "additionalProperties": False}
            if one.required:
                params["required"] = list(one.required)
            if one.partial:
                params["minProperties"] = 2
            branches.setdefault(str(params), {"names": [], "params": params})["names"].append(one.name)
    return {
        "type": "array",
        "minItems": 1,
        "maxItems": 50,
        "items": {
            "type": "object",
            "properties": {
                "action": {"type": "string"},
                "client_action_id": fields.Uuid().schema(),
                "params": {"type": "object", "properties": shared},
            },
            "required": list(actions.ENVELOPE),
            "additionalProperties": False,
            "anyOf": [
                {"properties": {"action": {"enum": one["names"]}, "params": one["params"]}} for one in branches.values()
            ],
        },
    }


def _shared() -> dict[str, Any]:
    kinds: dict[str, list[Any]] = {}
    for one in actions.ACTIONS.values():
        if one.published:
            for name, kind in one.fields.items():
                kinds.setdefault(name, []).append(kind)
    return {name: same[0].schema() for name, same in kinds.items() if len(set(same)) == 1}
