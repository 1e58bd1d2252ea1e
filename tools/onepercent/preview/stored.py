"""Stored previews: kept as they were shown, found again, cancelled, made anew once they no longer hold."""

import json
from collections.abc import Collection
from datetime import date, datetime
from typing import Any, NamedTuple

from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.onepercent import actions, dispatch, settings, words
from tools.onepercent.database.types import Database, Row
from tools.onepercent.preview.dry_run import DryRun, Planned, dry_run

REPEAT = "Call preview_actions again."


def shown(dry: DryRun) -> JsonObject:
    """Store what a dry run showed; return the answer that shows it."""
    preview_id = store(dry)
    return {
        "preview_id": preview_id,
        "expires_in_seconds": settings.current().onepercent_preview_ttl_s,
        "diff": dry.diff(),
        "xp_total": dry.xp,
        **({"warnings": dry.warnings} if dry.warnings else {}),
        "message": "\n".join([words.say("preview.head"), *dry.lines(), words.say("preview.ask")]),
    }


def store(dry: DryRun) -> str:
    """Store what a dry run showed; return the preview's id."""
    import uuid

    unit, preview_id = dry.unit, str(uuid.uuid4())
    plan = {
        "today": unit.today.isoformat(),
        "actions": [[each.kind.name, each.client_action_id, each.values, each.place] for each in dry.planned],
        "entries": [outcome.entries for outcome in dry.outcomes],
        "seen": unit.seen,
        "dropped": dry.errors,
    }
    expires_at = unit.moment.timestamp() + settings.current().onepercent_preview_ttl_s
    unit.db.execute(
        "UPDATE previews SET status = 'expired' WHERE user = ? AND status = 'pending' AND expires_at <= ?",
        (unit.user, unit.moment.timestamp()),
    )
    unit.db.execute(
        "INSERT INTO previews (id, user, status, created_at, expires_at, plan) VALUES (?, ?, 'pending', ?, ?, ?)",
        (preview_id, unit.user, unit.stamp, expires_at, dispatch.packed(plan)),
    )
    return preview_id


class Plan(NamedTuple):
    """A preview as it is kept: what it read (`seen`, by row) and did (`entries` of the diff, by action)."""

    today: date
    actions: list[Planned]
    entries: list[list[Any]]
    seen: JsonObject
    dropped: list[JsonObject]


def plan(preview: Row) -> Plan:
    """The plan of a preview that is pending or has expired."""
    kept = json.loads(preview["plan"])
    planned = [Planned(actions.ACTIONS[name], *rest) for name, *rest in kept["actions"]]
    return Plan(date.fromisoformat(kept["today"]), planned, kept["entries"], kept["seen"], kept["dropped"])


def narrowed(preview: Row, without: Collection[str]) -> Row:
    """The preview but for some of its actions, by their client_action_id."""
    kept = json.loads(preview["plan"])
    left = [place for place, (_, sent, *_) in enumerate(kept["actions"]) if sent not in without]
    kept |= {name: [kept[name][place] for place in left] for name in ("actions", "entries")}
    return {**preview, "plan": json.dumps(kept)}


def find(db: Database, preview_id: str, moment: datetime) -> Row:
    """This user's preview. Its status is that of the moment: one whose time is over has expired, whatever is stored.

    Raises ToolError PREVIEW_NOT_FOUND.
    """
    statement = "SELECT * FROM previews WHERE id = ? AND user = ?"
    row = db.execute(statement, (preview_id, settings.current().onepercent_user)).fetchone()
    if row is None:
        raise ToolError("Preview not found or already used", REPEAT, code="PREVIEW_NOT_FOUND")
    is_over = row["status"] == "pending" and moment.timestamp() >= row["expires_at"]
    return {**dict(row), "status": "expired" if is_over else row["status"]}


def check_unused(preview: Row) -> None:
    """Raises ToolError PREVIEW_APPLIED or PREVIEW_CANCELLED; a preview that has expired passes."""
    if preview["status"] == "applied":
        raise ToolError("Preview already applied", "get_user_snapshot shows the present state.", code="PREVIEW_APPLIED")
    if preview["status"] == "cancelled":
        raise ToolError("Preview already cancelled", REPEAT, code="PREVIEW_CANCELLED")


def cancel(db: Database, preview_id: str, moment: datetime) -> None:
    """Cancel a preview that is pending or has expired. Raises ToolError."""
    check_unused(find(db, preview_id, moment))
    db.execute("UPDATE previews SET status = 'cancelled', plan = NULL WHERE id = ?", (preview_id,))


def renew(db: Database, preview: Row, moment: datetime, error: ToolError) -> None:
    """Add to the error of a preview that no longer holds a fresh one of the same actions, if it can be made."""
    dry = dry_run(db, plan(preview).actions, moment) if preview["plan"] else None
    if dry and dry.planned and not dry.is_unsafe:
        error.hint = "Nothing was applied. Show the person this new diff; on a yes apply its preview_id."
        error.data |= shown(dry)
