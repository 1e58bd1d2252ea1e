"""The tools that show what actions would do, and give that up again."""

from collections.abc import Iterator
from typing import Annotated

from tools.core import calls
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.schema import Published
from tools.core.tool import Tool
from tools.onepercent import actions as declared
from tools.onepercent import days, dispatch, fields, words
from tools.onepercent.database import store
from tools.onepercent.page import person_pages
from tools.onepercent.preview import stored
from tools.onepercent.preview.dry_run import dry_run

MOST_ACTIONS = 50

RULES = (
    "* required; a-b: a to b. Dates: YYYY-MM-DD. Ids: get_user_snapshot, or $ref:<client_action_id or place> "
    "of a create before; goal_id null: the last. update: as create; null clears, append {field: text} adds. score 1-10."
)
SHORTEST_RUN = 3
"""Fields in the order of the schema of which only the first and the last are named."""


def actions_schema() -> JsonObject:
    """The JSON Schema of a list of actions.

    It is paid for in every conversation, and read by model APIs that refuse unions, patterns and conditions: one flat
    object of all fields with their types; which action takes what is said in words. The tool itself checks everything.
    """
    every = declared.ordered()
    kinds = {name: kind for action in every for name, kind in action.fields.items()}
    takes: dict[str, list[str]] = {}  # By domain, beside the id of its own: `create name*-target`, `unmark date`.
    for action in every:
        named = [name for name in action.fields if name != f"{action.domain}_id"]
        if named and not action.updates:
            shown = ", ".join(_runs(named, list(kinds), action.required))
            takes.setdefault(action.domain, []).append(f"{action.name.partition('.')[2]} {shown}")
    item = {
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": [action.name for action in every]},
            "client_action_id": {"type": "string"},
            "params": {
                "type": "object",
                "description": " ".join(
                    [RULES, *(f"{domain}: {'; '.join(verbs)}." for domain, verbs in takes.items())]
                ),
                "properties": {name: kind.schema for name, kind in kinds.items()},
                "additionalProperties": False,
            },
        },
        "required": ["action", "params"],
        "additionalProperties": False,
    }
    return {"type": "array", "minItems": 1, "maxItems": MOST_ACTIONS, "items": item}


def _runs(named: list[str], names: list[str], required: tuple[str, ...]) -> Iterator[str]:
    """The names, of several in the order of `names` the first and the last; a star behind what is required."""
    while named:
        at, length = names.index(named[0]), 1
        while named[length : length + 1] == names[at + length : at + length + 1] != []:
            length += 1
        run = [name + "*" * (name in required) for name in named[:length]]
        yield from [f"{run[0]}-{run[-1]}"] if length >= SHORTEST_RUN else run
        named = named[length:]


@Tool(
    "preview_actions", title="Preview changes", order=20, write=True, lock=False, on_call=dispatch.dispatch,
    page=person_pages.PREVIEW,
)  # fmt: skip
def preview_actions(
    actions: Annotated[list[object], Published(actions_schema())],
    partial: Annotated[bool | None, "delete even beside a refused action"] = None,
) -> JsonObject:
    """OnePercent: show what actions would do; nothing changes yet.

    Show message; apply_actions after a clear yes, else cancel_preview.
    Source: the declarations in tools/onepercent/actions; docs/manual.md, “Your data”.
    """
    if not actions:
        raise ToolError("No actions provided", f"Send 1 to {MOST_ACTIONS} actions.", code="NO_ACTIONS")
    if len(actions) > MOST_ACTIONS:
        message = f"Too many actions: {len(actions)}, at most {MOST_ACTIONS}"
        raise ToolError(message, "Preview and apply them in several rounds.", code="TOO_MANY_ACTIONS")
    calls.checkpoint()
    with store.writing() as db:
        dispatch.purge(db)
        dry = dry_run(db, actions, days.now())
        if not dry.planned:
            hint = "Fix them as errors says, then preview again."
            raise ToolError("All actions failed validation", hint, code="ALL_FAILED", errors=dry.errors)
        if dry.is_unsafe and not partial:
            hint = "Fix or leave out what errors names; or partial: true, if the person wants the rest without it."
            raise ToolError("Refused beside a deletion", hint, code="REFUSED_BESIDE_DELETION", errors=dry.errors)
        return dispatch.recorded(db, {"success": True, **stored.shown(dry)})


@Tool("cancel_preview", title="Cancel a preview", order=40, write=True, lock=False, on_call=dispatch.dispatch)
def cancel_preview(preview_id: str) -> JsonObject:
    """Give up a pending preview when the person says no.

    Source: docs/manual.md, “Your data”.
    """
    preview_id = fields.identifier("preview_id", preview_id)
    shown = {"preview_id": preview_id, "status": "cancelled", "message": words.say("preview.cancelled")}
    with store.writing() as db:
        stored.cancel(db, preview_id, days.now())
        return dispatch.recorded(db, {"success": True, **shown})
