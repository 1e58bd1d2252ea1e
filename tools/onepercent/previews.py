"""Previews: shown by a tool, kept as shown, found again, given up, renewed once they no longer hold."""

import json
from collections.abc import Collection
from datetime import date
from itertools import zip_longest
from typing import Annotated, NamedTuple

from tools.core import calls
from tools.toolkit import JsonObject, ToolError, compact_json

from . import actions as declared
from . import settings
from .actions.unit_of_work import stale
from .base import days, fields, rules, words
from .database import Database, Row, store
from .page import person_pages
from .phases import dispatch
from .phases.dry_run import Diff, Planned, Run, dry_run

SCHEMA_RULES = (
    "* required. Ids: get_user_snapshot, or $ref:<client_action_id or place> "
    "of a create before; goal_id null: the last. update: as create; null clears, "
    "append {field: text} adds. score 1-10."
)
REPEAT = "Call preview_actions again."


def actions_schema() -> JsonObject:
    """The JSON Schema of a list of actions.

    It is paid for in every conversation, and read by model APIs that refuse unions, patterns and conditions:
    one flat object of all fields with their types. Words say which action takes which field; the tool itself
    checks everything.
    """
    every = declared.ordered()
    kinds: dict[str, fields.Field] = {}
    # By domain, beside the id of its own: `unmark date, from, to`; a star marks what is required. Written
    # out: some clients sort the fields, so no description may lean on their order.
    takes: dict[str, list[str]] = {}
    for action in every:
        kinds |= action.fields
        taken = [name for name in action.fields if name != f"{action.domain}_id"]
        if taken and not action.updates:
            verb = action.name.partition(".")[2]
            stars = dict.fromkeys(action.required, "*")
            starred = [name + stars.get(name, "") for name in taken]
            takes.setdefault(action.domain, []).append(f"{verb} {', '.join(starred)}")
    by_domain = [f"{domain}: {'; '.join(verbs)}." for domain, verbs in takes.items()]
    params = {
        "type": "object",
        "description": " ".join([SCHEMA_RULES, *by_domain]),
        "properties": {name: kind.schema for name, kind in kinds.items()},
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
    # The number of actions.
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

    # The dry run of them. Some may be refused, but not all, and by default none beside one that deletes.
    calls.checkpoint()
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

        # The preview that is kept and shown.
        return dispatch.recorded(db, keep_and_show(dry))


@dispatch.writing_tool("cancel_preview", title="Cancel a preview", order=40)
def cancel_preview(preview_id: str) -> JsonObject:
    """Give up a pending preview when the person says no.

    Source: docs/manual.md, “Your data”.
    """
    preview_id = fields.identifier("preview_id", preview_id)
    shown = {
        "preview_id": preview_id,
        "status": "cancelled",
        "message": words.text_of("preview.cancelled"),
    }
    with store.writing() as db:
        cancel(db, preview_id)
        return dispatch.recorded(db, shown)


def keep_and_show(dry: Run) -> JsonObject:
    """Store what a dry run showed; return the answer that shows it."""
    return {
        "preview_id": keep(dry),
        "expires_in_seconds": settings.current().onepercent_preview_ttl_s,
        "diff": Diff(dry),
        "xp_total": dry.xp,
        "message": "\n".join(
            [words.text_of("preview.head"), *dry.lines(), words.text_of("preview.ask")]
        ),
    }


def keep(dry: Run) -> str:
    """Store what a dry run showed; return the preview's id."""
    import uuid

    unit = dry.unit
    preview_id = str(uuid.uuid4())
    plan = {
        "today": unit.day,
        "actions": [planned[:-1] for planned, _ in dry.done],
        "entries": [outcome.entries_as_json for _, outcome in dry.done],
        "seen": unit.seen,
        "dropped": dry.errors,
    }
    expires_at = unit.moment.timestamp() + settings.current().onepercent_preview_ttl_s
    unit.db.execute(
        """INSERT INTO previews (id, user, status, created_at, expires_at, plan)
        VALUES (?, ?, 'pending', ?, ?, ?)""",
        (preview_id, unit.user, unit.stamp, expires_at, compact_json(plan)),
    )
    return preview_id


class Plan(NamedTuple):
    """A preview as it is kept: what it did, with the entries that it showed, and what it read (`seen`)."""

    today: date
    actions: list[Planned]
    seen: JsonObject
    dropped: list[JsonObject]


def plan_of(preview: Row, without: Collection[str] = ()) -> Plan:
    """The plan of a preview that is pending or has expired, except the actions `without`, by their
    client_action_id. Raises ToolError, PREVIEW_STALE for one that another version has kept in another
    form."""
    check_unused(preview)
    try:
        kept = {"entries": [], "seen": {}, "dropped": []} | json.loads(preview["plan"])
        planned = []
        for values, shown in zip_longest(kept["actions"], kept["entries"]):
            action = Planned(*values)._replace(shown=shown)
            if action.kind and action.client_action_id not in without:
                planned.append(action)
        today = date.fromisoformat(kept["today"])
    except (KeyError, TypeError, ValueError):
        raise stale("another version made it") from None
    return Plan(today, planned, kept["seen"], kept["dropped"])


def preview_of(db: Database, preview_id: str) -> Row:
    """This user's preview, with the answer that applied it. Its status is that of now: one that is pending
    has expired after ONEPERCENT_PREVIEW_TTL, its time to live. Raises ToolError PREVIEW_NOT_FOUND."""
    statement = """SELECT p.plan, p.idempotency_key, a.answer,
        iif(p.status = 'pending' AND p.expires_at <= ?, 'expired', p.status) AS status
        FROM previews p LEFT JOIN audit a ON a.id = p.audit_id WHERE p.id = ? AND p.user = ?"""
    values = (days.now().timestamp(), preview_id, settings.user())
    preview: Row | None = db.execute(statement, values).fetchone()
    if preview is None:
        raise ToolError("Preview not found or already used", REPEAT, "PREVIEW_NOT_FOUND")
    return preview


def check_unused(preview: Row) -> None:
    """Raises ToolError PREVIEW_APPLIED or PREVIEW_CANCELLED. An expired one passes; PREVIEW_EXPIRED is its
    applier's."""
    status = preview["status"]
    if status in ("applied", "cancelled"):
        raise ToolError(
            f"Preview already {status}",
            "get_user_snapshot shows the present state; preview what should still change.",
            f"PREVIEW_{status.upper()}",
        )


def cancel(db: Database, preview_id: str) -> None:
    """Cancel a preview that is pending or has expired. Raises ToolError."""
    check_unused(preview_of(db, preview_id))
    db.execute("UPDATE previews SET status = 'cancelled', plan = NULL WHERE id = ?", (preview_id,))
