"""The tools that change goals, habits and the diary, in two phases."""

import json
from typing import Annotated, Any

from tools import calls, settings
from tools.errors import ToolError
from tools.onepercent import audit, consent, days, fields, previews, published, rehearsals, store
from tools.onepercent.actions import ACTIONS
from tools.onepercent.rehearsals import Planned, Rehearsal
from tools.registry import Tool
from tools.schema import Limits, Published

MOST_ACTIONS = 50
CONFIRMATION = fields.Text(500, line=True)

Uuid = Annotated[str, Published(fields.Uuid().schema())]


@Tool("preview_actions", write=True, lock=False, entry=audit.entry)
def preview_actions(actions: Annotated[list[Any], Published(published.of_actions(MOST_ACTIONS))]) -> dict[str, Any]:
    """Phase 1 of every change: show what actions would do. Nothing changes yet.

    Show the person the diff; apply_actions only after a clear yes, else cancel_preview. goal_id null: the goal created
    last before it; "$ref:<client_action_id>": what that action creates. In an update null clears.
    Source: spec onepercent, Two-phase commit 1
    """
    if not isinstance(actions, list):
        raise fields.invalid("actions", "a list of actions")
    if not actions:
        raise ToolError("No actions provided", f"Send 1 to {MOST_ACTIONS} actions.", code="NO_ACTIONS")
    if len(actions) > MOST_ACTIONS:
        raise ToolError(
            f"Too many actions: {len(actions)}, at most {MOST_ACTIONS}",
            "Preview and apply them in several rounds.",
            code="TOO_MANY_ACTIONS",
        )
    calls.checkpoint()
    with store.writing() as db:
        rehearsal = rehearsals.rehearse(db, actions, days.now())
        if not rehearsal.planned:
            raise _all_failed(rehearsal.errors)
        return _kept(db, rehearsal)


@Tool("undo_last", write=True, lock=False, entry=audit.entry)
def undo_last() -> dict[str, Any]:
    """Preview the exact reversal of what was applied last, XP included; confirm it with apply_actions.

    Undoing an undo brings the changes back. Fails, saying why, when something it touched has changed since.
    Source: the journal of the last apply.
    """
    calls.checkpoint()
    with store.writing() as db:
        rehearsal = rehearsals.rehearse(db, [_reversal(db)], days.now())
        if rehearsal.errors:
            error = rehearsal.errors[0]
            raise ToolError(error["error"], error["hint"], code=error["code"])
        return _kept(db, rehearsal)


def _reversal(db: Any) -> Planned:
    import uuid

    user = settings.current().onepercent_user
    row = db.execute("SELECT preview_id FROM last_applied WHERE user = ?", (user,)).fetchone()
    if row is None:
        raise ToolError("Nothing to undo", "Nothing has been applied yet.", code="NOTHING_TO_UNDO")
    return Planned(ACTIONS["undo.last"], str(uuid.uuid4()), {"preview_id": row["preview_id"]})


def _kept(db: Any, rehearsal: Rehearsal) -> dict[str, Any]:
    preview_id, ttl_s = previews.store_preview(rehearsal)
    answer = {
        "success": True,
        "preview_id": preview_id,
        "expires_in_seconds": ttl_s,
        "diff": rehearsal.diff(),
        "xp_total": rehearsal.xp,
        "message": _message(rehearsal),
    }
    audit.record(db, answer)
    return answer


def _all_failed(errors: list[dict[str, Any]]) -> ToolError:
    return ToolError(
        "All actions failed validation",
        "Mend them as errors says, then preview again.",
        code="ALL_FAILED",
        errors=errors,
    )


def _message(rehearsal: Rehearsal) -> str:
    lines = [f"• {outcome.message}" for outcome in rehearsal.outcomes]
    if rehearsal.errors:
        lines.append(f"Не пройдут из-за ошибок: {len(rehearsal.errors)}")
    return "\n".join(
        [
            "Предпросмотр, пока ничего не изменено:",
            *lines,
            f"XP: {rehearsal.xp:+d}" if rehearsal.xp else "XP не изменится",
            "Применить?",
        ]
    )


@Tool("apply_actions", write=True, destructive=True, idempotent=True, lock=False, entry=audit.entry)
def apply_actions(
    preview_id: Uuid,
    idempotency_key: Annotated[Uuid, "new for each preview; the same when repeating a call"],
    user_confirmation: Annotated[str, "the person's words of consent", Limits(min_length=1, max_length=500)],
) -> dict[str, Any]:
    """Phase 2: apply a preview, all or nothing, only after the person said yes to its diff.

    Source: spec onepercent, Two-phase commit 2
    """
    preview_id = fields.identifier("preview_id", preview_id)
    key = fields.identifier("idempotency_key", idempotency_key)
    CONFIRMATION.read("user_confirmation", user_confirmation)
    calls.checkpoint()
    consent.obtain(preview_id, key)
    with store.writing() as db:
        preview = previews.find(db, preview_id)
        answer = _repeated(db, preview, key)
        if answer:
            audit.record(db, answer)
            return answer
        moment = days.now()
        previews.check_pending(preview, moment)
        answer, journal = previews.apply(db, preview, moment)
        lines = [result["message"] for result in answer["results"]]
        previews.finish(db, preview, key, audit.record(db, answer), journal, lines)
    return answer


def _repeated(db: Any, preview: Any, key: str) -> dict[str, Any] | None:
    """The stored answer where this call was already answered.

    Raises ToolError IDEMPOTENCY_CONFLICT where the key belongs to another preview.
    """
    row = db.execute(
        """SELECT p.id, a.answer FROM previews p JOIN audit a ON a.id = p.audit_id
        WHERE p.user = ? AND p.idempotency_key = ?""",
        (preview["user"], key),
    ).fetchone()
    if row is None:
        return None
    if row["id"] != preview["id"]:
        raise ToolError(
            "idempotency_key was already used for another preview",
            "Use a new UUID for this preview.",
            code="IDEMPOTENCY_CONFLICT",
        )
    return json.loads(row["answer"])


@Tool("cancel_preview", write=True, lock=False, entry=audit.entry)
def cancel_preview(preview_id: Uuid) -> dict[str, Any]:
    """Give up a pending preview when the person says no.

    Source: spec onepercent, Two-phase commit 4
    """
    preview_id = fields.identifier("preview_id", preview_id)
    with store.writing() as db:
        previews.check_pending(previews.find(db, preview_id), days.now())
        db.execute("UPDATE previews SET status = 'cancelled', plan = NULL WHERE id = ?", (preview_id,))
        answer = {
            "success": True,
            "preview_id": preview_id,
            "status": "cancelled",
            "message": "Предпросмотр отменён, ничего не изменено",
        }
        audit.record(db, answer)
    return answer
