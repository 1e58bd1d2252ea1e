"""The reference of all actions, from their declarations."""

from typing import Any

from tools.core.resources import Resource
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
    return "\n".join([HEAD, *(_section(action) for action in actions.ordered())])


def _section(action: Action) -> str:
    rows = [f"- {_name(name, action)}: {kind.words()}{_default(kind)}" for name, kind in action.fields.items()]
    return "\n".join([f"## {action.name}\n", *rows, ""])


def _name(name: str, action: Action) -> str:
    return f"**{name}** (required)" if name in action.required else name


def _default(kind: Any) -> str:
    return f"; `{kind.default}` unless said otherwise" if kind.default is not None else ""
