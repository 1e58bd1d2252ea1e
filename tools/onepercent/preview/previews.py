"""The two-phase commit: what a preview keeps, and how it is applied once and as shown.

A preview runs its actions for real and rolls them back; applying runs the same code again and compares what it reads
and does with what the preview read and did.
"""

import json
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.onepercent import actions, days, settings, words
from tools.onepercent.actions import Outcome
from tools.onepercent.actions.unit_of_work import Change, UnitOfWork
from tools.onepercent.database import audit, faults, store
from tools.onepercent.database.types import Database, Row
from tools.onepercent.habits import histories
from tools.onepercent.preview.dry_run import DryRun, Planned
from tools.onepercent.preview.fingerprints import digested, stale

REPEAT = "Call preview_actions again."

UNDONE_AT_MOST = 20
"""How many applies can be undone, one after the other."""


def store_preview(tried: DryRun) -> tuple[str, int]:
    """Store what a dry run showed; return the preview's id and the seconds for which it can be applied."""
    import uuid

    unit, ttl_s, preview_id = tried.unit, settings.current().onepercent_preview_ttl_s, str(uuid.uuid4())
    plan = {
        "today": unit.today.isoformat(),
        "actions": [[planned.kind.name, planned.client_action_id, planned.values] for planned in tried.planned],
        "entries": [outcome.entries for outcome in tried.outcomes],
        "seen": unit.seen,
        "dropped": [{name: error[name] for name in ("action", "error") if name in error} for error in tried.errors],
    }
    unit.db.execute(
        "UPDATE previews SET status = 'expired' WHERE user = ? AND status = 'pending' AND expires_at <= ?",
        (unit.user, unit.moment.timestamp()),
    )
    unit.db.execute(
        "INSERT INTO previews (id, user, status, created_at, expires_at, plan) VALUES (?, ?, 'pending', ?, ?, ?)",
        (preview_id, unit.user, unit.stamp, unit.moment.timestamp() + ttl_s, audit.packed(plan)),
    )
    return preview_id, ttl_s


def planned(preview: Row) -> list[Planned]:
    """The actions of a preview that is pending or expired; none of one whose plan is not kept any more."""
    plan = read_plan(preview["plan"]) if preview["plan"] else {"actions": []}
    return [Planned(actions.ACTIONS[name], key, values) for name, key, values in plan["actions"]]


def read_plan(text: str) -> JsonObject:
    """What a preview would do.

    Raises Unreadable.
    """
    try:
        plan = json.loads(text)
        date.fromisoformat(plan["today"])
        if len(plan["actions"]) != len(plan["entries"]) or not all(
            action[0] in actions.ACTIONS for action in plan["actions"]
        ):
            raise ValueError
    except (ValueError, KeyError, TypeError, IndexError):
        raise days.Unreadable("a preview's plan") from None
    return plan


def find(db: Database, preview_id: str) -> Row:
    """The row of this user's preview.

    Raises ToolError PREVIEW_NOT_FOUND.
    """
    row = db.execute(
        "SELECT * FROM previews WHERE id = ? AND user = ?", (preview_id, settings.current().onepercent_user)
    ).fetchone()
    if row is None:
        raise ToolError("Preview not found or already used", REPEAT, code="PREVIEW_NOT_FOUND")
    return row


def check_pending(preview: Row, moment: datetime) -> None:
    """Raises ToolError for a preview that can be neither applied nor cancelled any more."""
    if preview["status"] == "applied":
        raise ToolError("Preview already applied", "get_user_snapshot shows the present state.", code="PREVIEW_APPLIED")
    if preview["status"] == "cancelled":
        raise ToolError("Preview already cancelled", REPEAT, code="PREVIEW_CANCELLED")
    if is_expired(preview, moment):
        raise expired()


def expired() -> ToolError:
    """The error for an expired preview."""
    return ToolError("Preview expired", REPEAT, code="PREVIEW_EXPIRED")


def cancel(db: Database, preview_id: str) -> None:
    """Cancel a preview."""
    db.execute("UPDATE previews SET status = 'cancelled', plan = NULL WHERE id = ?", (preview_id,))


def is_expired(preview: Row, moment: datetime) -> bool:
    """Whether its time is over, whether or not its status says so yet."""
    return preview["status"] == "expired" or (
        preview["status"] == "pending" and moment.timestamp() >= preview["expires_at"]
    )


@dataclass(frozen=True, slots=True)
class Applied:
    """What applying a preview did: the answer, and what is kept to take it back."""

    answer: JsonObject
    journal: list[Change]
    lines: list[str]
    reversal: tuple[int, bool] | None


def apply(db: Database, preview: Row, moment: datetime) -> Applied:
    """Apply a pending preview.

    Raises ToolError that names the `failed_action`; the transaction is to be rolled back then.
    """
    plan, every = read_plan(preview["plan"]), planned(preview)
    unit = UnitOfWork(db, preview["user"], moment, date.fromisoformat(plan["today"]), plan["seen"])
    outcomes: list[Outcome] = []
    for action, entries in zip(every, plan["entries"], strict=True):
        try:
            outcomes.append(_applied(unit, action, entries))
        except ToolError as error:
            raise _failed(error, every, outcomes) from error
    histories.settle(db, unit.journal, days.today(moment))
    lines = [line for outcome in outcomes for line in outcome.done()]
    answer = _answer(unit, every, outcomes, lines, plan.get("dropped", []))
    return Applied(
        answer, unit.journal, lines, next((outcome.reversal for outcome in outcomes if outcome.reversal), None)
    )


def _applied(unit: UnitOfWork, planned: Planned, entries: list[Any]) -> Outcome:
    import sqlite3

    try:
        outcome = planned.run(unit)
    except sqlite3.Error as error:
        raise faults.translated(error, store.path()) from error
    if [list(entry) for entry in outcome.entries] != entries:
        raise stale(f"{planned.kind.name} would now do something else than it showed")
    return outcome


def _failed(error: ToolError, every: list[Planned], outcomes: list[Outcome]) -> ToolError:
    failed = every[len(outcomes)]
    return ToolError(
        error.message,
        error.hint,
        code=error.code,
        **error.data,
        failed_action={"index": len(outcomes), "client_action_id": failed.client_action_id, "action": failed.kind.name},
        results=[result | {"rollback": True} for result in _results(every, outcomes)],
    )


def _answer(
    unit: UnitOfWork, every: list[Planned], outcomes: list[Outcome], lines: list[str], dropped: list[JsonObject]
) -> JsonObject:
    total = len(outcomes)
    refused = [words.say("dropped", action=error.get("action", "?"), error=error["error"]) for error in dropped]
    return {
        "success": True,
        "results": _results(every, outcomes),
        "summary": {"total": total, "successful": total, "failed": 0},
        "xp": {"delta": sum(outcome.xp for outcome in outcomes), "balance": unit.balance()[0]},
        **({"dropped": dropped} if dropped else {}),
        "message": "\n".join([f"✓ {line}" for line in lines] + refused),
    }


def _results(every: list[Planned], outcomes: list[Outcome]) -> list[JsonObject]:
    return [_result(planned, outcome) for planned, outcome in zip(every, outcomes, strict=False)]


def _result(planned: Planned, outcome: Outcome) -> JsonObject:
    result = {"client_action_id": planned.client_action_id, "action": planned.kind.name, "success": True}
    if outcome.created_id is not None:
        result["created_id"] = outcome.created_id
    if outcome.xp:
        result["xp"] = outcome.xp
    return result


def finish(db: Database, preview: Row, key: str, audit_id: int, applied: Applied) -> None:
    """Mark a preview applied, and keep what it takes to undo it."""
    db.execute(
        "UPDATE previews SET status = 'applied', plan = NULL, idempotency_key = ?, audit_id = ? WHERE id = ?",
        (key, audit_id, preview["id"]),
    )
    changes = [
        change._replace(values=change.values and {name: digested(value) for name, value in change.values.items()})
        for change in applied.journal
    ]
    if applied.reversal:
        _turn(db, *applied.reversal, changes)
    else:
        _keep(db, preview, audit.packed({"changes": changes, "lines": applied.lines}))


def _turn(db: Database, applied_id: int, undone: bool, changes: list[Change]) -> None:
    journal = json.loads(db.execute("SELECT journal FROM applied WHERE id = ?", (applied_id,)).fetchone()[0])
    text = audit.packed({"changes": changes, "lines": journal["lines"]})
    db.execute("UPDATE applied SET undone = ?, journal = ? WHERE id = ?", (undone, text, applied_id))


def _keep(db: Database, preview: Row, journal: str) -> None:
    """Keep the journal. What was undone can no longer be redone; the last UNDONE_AT_MOST applies stay."""
    user = preview["user"]
    db.execute("DELETE FROM applied WHERE user = ? AND undone = 1", (user,))
    db.execute("INSERT INTO applied (user, preview_id, journal) VALUES (?, ?, ?)", (user, preview["id"], journal))
    db.execute(
        """DELETE FROM applied WHERE user = ? AND id <=
        (SELECT id FROM applied WHERE user = ? ORDER BY id DESC LIMIT 1 OFFSET ?)""",
        (user, user, UNDONE_AT_MOST),
    )
