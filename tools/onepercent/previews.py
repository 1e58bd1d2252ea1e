"""First phase: the tools that show what actions would do, and that cancel such a preview."""

from typing import Annotated

from tools.toolkit import JsonObject, ToolError, checkpoint

from . import actions as declared
from .base import fields, rules, words
from .database import store
from .page import person_pages
from .phases import dispatch, plans
from .phases.dry_run import dry_run

SCHEMA_RULES = (
    "* required. Ids: get_user_snapshot, or $ref:<client_action_id or place> "
    "of a create before; goal_id null: the last. update: as create; null clears, "
    "append {field: text} adds. score 1-10."
)


def actions_schema() -> JsonObject:
    """The JSON Schema of a list of actions.

    It is paid for in every conversation, and read by model APIs that refuse unions, patterns and conditions:
    one flat object of all fields with their types. Words say which action takes which field; the tool itself
    checks everything.
    """
    every = declared.ordered()
    all_fields: dict[str, fields.Field] = {}
    # By domain, beside the id of its own: `unmark date, from, to`; a star marks what is required. Written
    # out: some clients sort the fields, so no description may lean on their order.
    usages: dict[str, list[str]] = {}
    for action in every:
        all_fields |= action.fields
        names = [name for name in action.fields if name != f"{action.domain}_id"]
        if names and not action.updates:
            verb = action.name.partition(".")[2]
            stars = dict.fromkeys(action.required, "*")
            starred = [name + stars.get(name, "") for name in names]
            usages.setdefault(action.domain, []).append(f"{verb} {', '.join(starred)}")
    by_domain = [f"{domain}: {'; '.join(verbs)}." for domain, verbs in usages.items()]
    params = {
        "type": "object",
        "description": " ".join([SCHEMA_RULES, *by_domain]),
        "properties": {name: field.schema for name, field in all_fields.items()},
        "additionalProperties": False,
    }
    item = {
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": [action.name for action in every]},
            "client_action_id": {"type": "string"},
            "params": params,
        },
        "required": ["action", "params"],
        "additionalProperties": False,
    }
    return {"type": "array", "items": item}


@dispatch.writing_tool(
    "preview_actions", title="Preview changes", order=20, page=person_pages.PREVIEW
)
def preview_actions(
    actions: Annotated[list[object], actions_schema()],
    partial: Annotated[bool | None, "delete even beside a refused action"] = None,
) -> JsonObject:
    """OnePercent: show what actions would do; nothing changes yet.

    Show message, ask, then apply_actions or cancel_preview.
    Source: the declarations in tools/onepercent/actions; docs/manual.md, “Your data”.
    """
    # Check the number of actions.
    if not actions:
        raise ToolError(
            "No actions provided", f"Send 1 to {rules.MOST_ACTIONS} actions.", "NO_ACTIONS"
        )
    if len(actions) > rules.MOST_ACTIONS:
        raise ToolError(
            f"Too many actions: {len(actions)}, at most {rules.MOST_ACTIONS}",
            "Preview and apply them in several rounds.",
            "TOO_MANY_ACTIONS",
        )

    # Run them dry. Some may be refused, but not all, and by default none beside one that deletes.
    checkpoint()
    with store.writing("NORMAL") as db:
        dispatch.purge(db)
        dry = dry_run(db, actions)
        if not dry.done:
            raise ToolError(
                "All actions failed validation",
                "Fix what `errors` names, then preview again.",
                "ALL_FAILED",
                errors=dry.errors,
            )
        if dry.is_unsafe and not partial:
            raise ToolError(
                "Refused beside a deletion",
                "Fix or leave out what errors names; "
                "or partial: true, if the person wants the rest without it.",
                "REFUSED_BESIDE_DELETION",
                errors=dry.errors,
            )

        # Save the preview and show it.
        return dispatch.record(db, plans.save_and_show(dry))


@dispatch.writing_tool("cancel_preview", title="Cancel a preview", order=40)
def cancel_preview(preview_id: str) -> JsonObject:
    """Give up a pending preview when the person says no.

    Source: docs/manual.md, “Your data”.
    """
    preview_id = fields.identifier("preview_id", preview_id)
    answer = {
        "preview_id": preview_id,
        "status": "cancelled",
        "message": words.text_of("preview.cancelled"),
    }
    with store.writing() as db:
        plans.cancel(db, preview_id)
        return dispatch.record(db, answer)
