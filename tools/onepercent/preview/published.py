"""The JSON Schema of actions, as tools/list shows it.

It is paid for in every conversation, and read by model APIs that refuse unions, patterns and conditions: one flat
object of all fields with their types; which action takes what is said in words. The tool itself checks everything.
"""

from tools.core.json_types import JsonObject
from tools.onepercent import actions
from tools.onepercent.actions import Action

RULES = (
    "*: required. All but create and ssp.rate need their id: goal_id, step_id, habit_id, diary_id, from "
    "get_user_snapshot, or $ref:<client_action_id> of an earlier action that creates it; "
    "goal_id null: the one created last. update takes what create takes; null clears."
)


def of_actions(most: int) -> JsonObject:
    """The schema of a list of 1 to `most` actions."""
    actions.load()
    every = actions.ordered()
    item = {
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": [action.name for action in every]},
            "client_action_id": {"type": "string", "description": "a new UUID"},
            "params": {
                "type": "object",
                "description": f"{RULES} {'; '.join(_taken(every))}",
                "properties": {name: kind.schema() for name, kind in _fields(every).items()},
                "additionalProperties": False,
            },
        },
        "required": list(actions.ENVELOPE),
        "additionalProperties": False,
    }
    return {"type": "array", "minItems": 1, "maxItems": most, "items": item}


def _fields(every: list[Action]) -> JsonObject:
    return {name: kind for action in every for name, kind in action.fields.items()}


def _taken(every: list[Action]) -> list[str]:
    """Who takes what, beside the id of its own; actions that take the same together."""
    alike: dict[tuple[str, str], list[str]] = {}
    for action in every:
        named = [_name(name, action) for name in action.fields if name != f"{action.domain}_id" or not action.required]
        if named and not action.partial:
            alike.setdefault((action.domain, ", ".join(named)), []).append(action.name.partition(".")[2])
    return [f"{domain}.{'/'.join(verbs)}: {takes}" for (domain, takes), verbs in alike.items()]


def _name(name: str, action: Action) -> str:
    kind = action.fields[name]
    default = f"={kind.default}" if kind.default is not None else ""
    return f"{name}{'*' if name in action.required else ''}{default}"
