"""The reference of all actions, from their declarations, and the page of answers and errors."""

from tools.core.resources import Resource
from tools.toolkit import PROJECT

HEAD = """\
# OnePercent actions

For preview_actions: `{{"action": "goal.create", "params": {{…}}}}`, 1 to 50 in order.

- An id is one of get_user_snapshot, or `"{reference}<client_action_id>"` of an earlier action that creates it; `goal_id: null` is the goal created last before it in this preview.
- In an update, send what changes; `null` clears a field that may be empty.
- XP: goal.complete +{GOAL_COMPLETED}, step.complete +{STEP_COMPLETED}, diary.create_entry +{DIARY_WRITTEN}; marks of a habit bring its xp_reward or cost its xp_penalty.
"""


@Resource("onepercent://actions", "OnePercent actions")
def reference() -> str:
    """Every action that preview_actions takes, with its parameters.

    Source: the declarations in actions/
    """
    # Here, so that a list of resources imports none of them.
    from . import actions
    from .base import fields, rules

    lines = [HEAD.format(reference=fields.REFERENCE, **vars(rules))]
    for action in actions.ordered():
        lines.append(f"## {action.name}\n")
        for name, field in action.fields.items():
            label = f"**{name}** (required)" if name in action.required else name
            default = "" if field.default is None else f"; `{field.default}` unless said otherwise"
            lines.append(f"- {label}: {field.expected}{default}")
        lines.append("")
    return "\n".join(lines)


@Resource("onepercent://errors", "OnePercent answers and errors")
def errors() -> str:
    """The shapes of answers, and every error code with what to do.

    Source: docs/onepercent.md
    """
    return (PROJECT / "docs" / "onepercent.md").read_text("utf-8")
