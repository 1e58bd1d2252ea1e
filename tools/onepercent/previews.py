"""The two-phase commit: what a preview keeps, and how it is applied once and as shown.

A preview runs its actions for real and rolls them back; applying runs the same code again and compares what it reads
and does with what the preview read and did.
"""

import json
from datetime import date, datetime
from typing import Any

from tools import settings
from tools.errors import ToolError
from tools.onepercent import actions, audit, days, faults, histories, store
from tools.onepercent.actions import Outcome
from tools.onepercent.fingerprints import digested, stale
from tools.onepercent.rehearsals import Planned, Rehearsal
from tools.onepercent.work import Work

REPEAT = "Call preview_actions again."


def store_preview(rehearsal: Rehearsal) -> tuple[str, int]:
    """Keep what a rehearsal showed, to be applied within ONEPERCENT_PREVIEW_TTL; its id, and that time in seconds."""
    import uuid

    work, ttl_s, preview_id = rehearsal.work, settings.current().onepercent_preview_ttl_s, str(uuid.uuid4())
    plan = {
        "today": work.today.isoformat(),
        "actions": [[one.kind.name, one.client_action_id, one.values] for one in rehearsal.planned],
        "entries": [outcome.entries for outcome in rehearsal.outcomes],
        "seen": work.seen,
    }
    values = (preview_id, work.user, work.stamp, work.moment.timestamp() + ttl_s, audit.packed(plan))
    work.db.execute(
        "UPDATE previews SET status = 'expired', plan = NULL WHERE user = ? AND status = 'pending' AND expires_at <= ?",
        (work.user, work.moment.timestamp()),
    )
    work.db.execute(
        "INSERT INTO previews (id, user, status, created_at, expires_at, plan) VALUES (?, ?, 'pending', ?, ?, ?)",
        values,
    )
    return preview_id, ttl_s


def find(db: Any, preview_id: str) -> Any:
    """The row of this user's preview.

    Raises ToolError PREVIEW_NOT_FOUND.
    """
    row = db.execute(
        "SELECT * FROM previews WHERE id = ? AND user = ?", (preview_id, settings.current().onepercent_user)
    ).fetchone()
    if row is None:
        raise ToolError("Preview not found or already used", REPEAT, code="PREVIEW_NOT_FOUND")
    return row


def check_pending(preview: Any, moment: datetime) -> None:
    """Raises ToolError for a preview that can be neither applied nor cancelled any more."""
    if preview["status"] == "applied":
        raise ToolError("Preview already applied", "get_user_snapshot shows the present state.", code="PREVIEW_APPLIED")
    if preview["status"] == "cancelled":
        raise ToolError("Preview already cancelled", REPEAT, code="PREVIEW_CANCELLED")
    if preview["status"] == "expired" or moment.timestamp() >= preview["expires_at"]:
        raise ToolError("Preview expired", REPEAT, code="PREVIEW_EXPIRED")


def apply(db: Any, preview: Any, moment: datetime) -> tuple[dict[str, Any], list[list[Any]]]:
    """Do what a pending preview showed; the answer, and the journal of changes.

    Raises ToolError that names the `failed_action`; the transaction is to be rolled back then.
    """
    plan = json.loads(preview["plan"])
    work = Work(db, preview["user"], moment, date.fromisoformat(plan["today"]), plan["seen"])
    planned = [Planned(actions.ACTIONS[name], key, values) for name, key, values in plan["actions"]]
    outcomes: list[Outcome] = []
    for one, entries in zip(planned, plan["entries"], strict=True):
        try:
            outcomes.append(_applied(work, one, entries))
        except ToolError as error:
            raise _failed(error, planned, outcomes) from error
    histories.settle(db, work.journal, days.today(moment))
    return _answer(work, planned, outcomes), work.journal


def _applied(work: Work, one: Planned, entries: list[Any]) -> Outcome:
    import sqlite3

    try:
        outcome = one.run(work)
    except sqlite3.Error as error:
        raise faults.translated(error, store.path()) from error
    if outcome.entries != entries:
        raise stale(f"{one.kind.name} would now do something else than it showed")
    return outcome


def _failed(error: ToolError, planned: list[Planned], outcomes: list[Outcome]) -> ToolError:
    failed = planned[len(outcomes)]
    return ToolError(
        error.message,
        error.hint,
        code=error.code,
        **error.data,
        failed_action={"index": len(outcomes), "client_action_id": failed.client_action_id, "action": failed.kind.name},
        results=[result | {"rollback": True} for result in _results(planned, outcomes)],
    )


def _answer(work: Work, planned: list[Planned], outcomes: list[Outcome]) -> dict[str, Any]:
    total = len(outcomes)
    return {
        "success": True,
        "results": _results(planned, outcomes),
        "summary": {"total": total, "successful": total, "failed": 0},
        "xp": {"delta": sum(outcome.xp for outcome in outcomes), "balance": work.balance()[0]},
        "message": "\n".join(f"✓ {outcome.message}" for outcome in outcomes),
    }


def _results(planned: list[Planned], outcomes: list[Outcome]) -> list[dict[str, Any]]:
    return [_result(one, outcome) for one, outcome in zip(planned, outcomes, strict=False)]


def _result(one: Planned, outcome: Outcome) -> dict[str, Any]:
    found = {"client_action_id": one.client_action_id, "action": one.kind.name, "success": True}
    if outcome.created_id is not None:
        found["created_id"] = outcome.created_id
    if outcome.xp:
        found["xp"] = outcome.xp
    return {**found, "message": outcome.message}


def finish(db: Any, preview: Any, key: str, audit_id: int, journal: list[list[Any]], lines: list[str]) -> None:
    """Mark a preview applied. Only what was applied last can be undone, so only its journal is kept."""
    changes = [
        [table, row, replaced, values and {name: digested(value) for name, value in values.items()}]
        for table, row, replaced, values in journal
    ]
    db.execute(
        "UPDATE previews SET status = 'applied', plan = NULL, idempotency_key = ?, audit_id = ? WHERE id = ?",
        (key, audit_id, preview["id"]),
    )
    journal_text = audit.packed({"changes": changes, "lines": lines})
    db.execute("REPLACE INTO last_applied VALUES (?, ?, ?)", (preview["user"], preview["id"], journal_text))
