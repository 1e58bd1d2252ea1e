"""Stored previews: saved with what they showed, loaded for apply, cancelled."""

import json
from collections.abc import Collection
from datetime import date
from typing import NamedTuple

from tools.toolkit import JsonObject, ToolError, compact_json

from .. import settings
from ..actions.unit_of_work import stale_error
from ..base import days, words
from ..database import Database, Row
from .dry_run import Diff, Planned, Run

PREVIEW_AGAIN = "Call preview_actions again."


def save_and_show(dry: Run) -> JsonObject:
    """Save a dry run as a preview; return the answer that shows it."""
    return {
        "preview_id": save(dry),
        "expires_in_seconds": settings.current().onepercent_preview_ttl_s,
        "diff": Diff(dry),
        "xp_total": dry.xp,
        "message": "\n".join(
            [words.text_of("preview.head"), *dry.lines(), words.text_of("preview.ask")]
        ),
    }


def save(dry: Run) -> str:
    """Save a dry run as a preview; return the preview's id."""
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
    """A stored preview: its actions, with the entries that they showed, the rows that they read (`seen`), and
    the errors of those that were refused (`dropped`)."""

    today: date
    actions: list[Planned]
    seen: JsonObject
    dropped: list[JsonObject]


def plan_of(preview: Row, without: Collection[str] = ()) -> Plan:
    """Load the plan of a preview that is pending or has expired, except the actions `without`, by their
    client_action_id. Raises ToolError: PREVIEW_STALE if another version has stored it in another form."""
    check_unused(preview)
    try:
        stored = json.loads(preview["plan"])
        actions = []
        for values, shown in zip(stored["actions"], stored["entries"], strict=True):
            planned = Planned(*values)._replace(shown=shown)
            if planned.action and planned.client_action_id not in without:
                actions.append(planned)
        today = date.fromisoformat(stored["today"])
        return Plan(today, actions, stored["seen"], stored["dropped"])
    except (KeyError, TypeError, ValueError):
        raise stale_error("another version made it") from None


def preview_of(db: Database, preview_id: str) -> Row:
    """Find a preview of this user, with the answer that applied it. A pending one has the status expired
    after ONEPERCENT_PREVIEW_TTL, its time to live. Raises ToolError PREVIEW_NOT_FOUND."""
    statement = """SELECT p.plan, p.idempotency_key, a.answer,
        iif(p.status = 'pending' AND p.expires_at <= ?, 'expired', p.status) AS status
        FROM previews p LEFT JOIN audit a ON a.id = p.audit_id WHERE p.id = ? AND p.user = ?"""
    values = (days.now().timestamp(), preview_id, settings.user())
    preview: Row | None = db.execute(statement, values).fetchone()
    if preview is None:
        raise ToolError("Preview not found or already used", PREVIEW_AGAIN, "PREVIEW_NOT_FOUND")
    return preview


def check_unused(preview: Row) -> None:
    """Raise ToolError PREVIEW_APPLIED or PREVIEW_CANCELLED. An expired one passes; applying it raises
    PREVIEW_EXPIRED."""
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
