"""The reference of all actions, from their declarations."""

from typing import Any

from tools.catalog import Resource
from tools.onepercent import actions, fields, xp
from tools.onepercent.actions import Action

HEAD = f"""\
# OnePercent actions

For preview_actions: `{{"action": "goal.create", "client_action_id": "<a new UUID>", "params": {{…}}}}`, 1 to 50 in order.

- An id is one of get_user_snapshot, or `"{fields.REFERENCE}<client_action_id>"` of an earlier action that creates it; `goal_id: null` is the goal created last before it in this preview.
- In an update, send what changes; `null` clears a field that may be empty.
- XP: goal.complete +{xp.GOAL_COMPLETED}, step.complete +{xp.STEP_COMPLETED}, diary.create_entry +{xp.DIARY_WRITTEN}; marks of a habit bring its xp_reward or cost its xp_penalty.
"""


@Resource("onepercent://actions", "OnePercent actions")
def reference() -> str:
    """Every action that preview_actions takes, with its parameters.

    Source: the declarations in actions/
    """
    actions.load()
    return "\n".join([HEAD, *(_section(one) for one in actions.ACTIONS.values() if one.published)])


def _section(one: Action) -> str:
    rows = [f"- {_name(name, one)}: {_told(kind.schema())}" for name, kind in one.fields.items()]
    return "\n".join([f"## {one.name}\n", *rows, ""])


def _name(name: str, one: Action) -> str:
    return f"**{name}** (required)" if name in one.required else name


def _told(schema: dict[str, Any]) -> str:
    """A field's JSON Schema in words."""
    if "anyOf" in schema:
        return " or ".join(map(_told, schema["anyOf"]))
    if "enum" in schema:
        return ", ".join("null" if word is None else f"`{word}`" for word in schema["enum"])
    if "pattern" in schema:
        return f"an id or `{fields.REFERENCE}…`" + (", or null" if "null" in schema["type"] else "")
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    items = f" of {_told(schema['items'])}" if "items" in schema else ""
    return " or ".join(kinds) + items + _limits(schema)


def _limits(schema: dict[str, Any]) -> str:
    said = [schema["format"]] if "format" in schema else []
    if "minLength" in schema or "maxLength" in schema:
        said.append(f"{schema.get('minLength', 0)} to {schema['maxLength']} characters")
    if "maximum" in schema:
        said.append(f"{schema['minimum']} to {schema['maximum']}")
    return f" ({', '.join(said)})" if said else ""
