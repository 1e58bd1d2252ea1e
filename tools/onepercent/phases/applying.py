"""Applying a preview: doing what it showed, once and as shown, or not at all."""

import json
from collections.abc import Collection, Iterator

from tools.toolkit import JsonObject, ToolError, compact_json, filled

from .. import sentences, settings
from ..actions.unit_of_work import UnitOfWork, stale_error
from ..base import days, rules
from ..database import Database, insertion, store
from ..habits import histories
from . import dispatch, plans
from .dry_run import Planned, Run, dry_run

FEW_LINES = 3  # changes that are named one by one once they are done, or undone

# The contract of the two phases. A preview runs its actions for real and rolls them back; it keeps every row
# that they read and every entry that they put into the diff. Applying runs the same code in one transaction:
# - a row that differs from what the preview read, or an entry that differs from what it showed, is
#   PREVIEW_STALE;
# - whatever is raised takes all of it back, XP included: the caller's transaction is rolled back, the preview
#   stays;
# - the audit's row, the preview's status with its key, and the journal for undo are written in the same
#   transaction, so a repeated key is answered from the audit if and only if the changes are there;
# - "today" is the day of the preview: what was previewed before midnight is applied as it was read.


def apply_agreed(preview_id: str, key: str, without: Collection[str] = ()) -> JsonObject:
    """Apply a preview that the person has agreed to, except the actions `without`, and return the recorded
    answer. Raises ToolError."""
    plan = None
    try:
        with store.applying() as db:
            preview = plans.preview_of(db, preview_id)
            if preview["idempotency_key"] == key:  # the stored answer
                return dispatch.record(db, json.loads(preview["answer"]))
            same_key = "SELECT 1 FROM previews WHERE user = ? AND idempotency_key = ?"
            if db.execute(same_key, (settings.user(), key)).fetchone():
                raise ToolError(
                    "idempotency_key was already used for another preview",
                    "Use a new UUID for this preview.",
                    "IDEMPOTENCY_CONFLICT",
                )
            plan = plans.plan_of(preview, without)
            if preview["status"] == "expired":
                raise ToolError("Preview expired", plans.PREVIEW_AGAIN, "PREVIEW_EXPIRED")
            return _apply(db, plan, preview_id, key)
    except ToolError as error:
        if plan and error.code in ("PREVIEW_EXPIRED", "PREVIEW_STALE"):
            with store.writing() as db:
                dry = dry_run(db, plan.actions)
                if dry.done and not dry.is_unsafe:
                    error.hint = "Nothing was applied. Show the person this new diff; on a yes apply its preview_id."
                    error.data |= plans.save_and_show(dry)
        raise


def _apply(db: Database, plan: plans.Plan, preview_id: str, key: str) -> JsonObject:
    """Apply a pending preview inside the open transaction, and return the recorded answer. `key`: its
    idempotency_key. Raises ToolError; the caller then rolls back."""
    run = _run_as_shown(db, plan)
    histories.fold_streaks(db, days.today())

    # The preview has named the changes; if there are many, only their counts are repeated.
    lines = []
    for _, outcome in run.done:
        few = outcome.entries[: FEW_LINES + 1]
        sentences_done = [sentences.sentence_of(entry).done for entry in few]
        lines += [outcome.message] if outcome.message else sentences_done
    done = lines
    if len(lines) > FEW_LINES:
        done = [sentences.counts_in_words(run.entries, is_done=True)]

    # The answer.
    total = len(run.done)
    dropped = [filled(action=error.get("action"), error=error["error"]) for error in plan.dropped]
    message = run.refusals() + [f"✓ {line}" for line in done]
    answer = {
        "results": list(_results_so_far(run)),
        "summary": {"total": total, "successful": total, "failed": 0},
        "xp": {"delta": run.xp, "balance": run.unit.balance},
        **filled(dropped=dropped),
        "message": "\n".join(message),
    }

    # The audit's row, the preview's status with its key, the journal for undo.
    answer = dispatch.record(db, answer)
    state = "status = 'applied', plan = NULL, idempotency_key = ?, audit_id = last_insert_rowid()"
    db.execute(f"UPDATE previews SET {state} WHERE id = ?", (key, preview_id))
    _save_journal(run, preview_id, lines)
    return answer


def _run_as_shown(db: Database, plan: plans.Plan) -> Run:
    """Run the actions of a preview, each of which must do what it showed. Raises ToolError that names the
    `failed_action`."""
    unit = UnitOfWork(db, settings.user(), days.now(), plan.today, plan.seen)
    run = Run(unit, [], plan.dropped)
    for planned in plan.actions:
        try:
            outcome = planned.run(unit)
            if outcome.entries_as_json != planned.shown:
                raise stale_error(f"{planned.name} would now do something else than it showed")
        except ToolError as error:
            # Another apply has done the same since the preview.
            if error.code == "NOTHING_TO_UPDATE":
                error = stale_error(f"another apply has done {planned.name} already")
            error.data["failed_action"] = {"index": len(run.done), **_identity(planned)}
            error.data["results"] = [result | {"rollback": True} for result in _results_so_far(run)]
            raise error from None
        run.done.append((planned, outcome))
    return run


def _identity(planned: Planned) -> JsonObject:
    return {"client_action_id": planned.client_action_id, "action": planned.name}


def _results_so_far(run: Run) -> Iterator[JsonObject]:
    """Results of the actions so far, without empty members."""
    for planned, outcome in run.done:
        values = filled(
            created_id=outcome.created_id, step_ids=outcome.created_steps, xp=outcome.xp
        )
        yield _identity(planned) | values


def _save_journal(run: Run, preview_id: str, lines: list[str]) -> None:
    """Save the changes so that they can be undone.

    An undo or redo replaces the journal of what it reverses by its own; anything else ends what could be
    redone, and leaves the last rules.UNDONE_AT_MOST applies.
    """
    db = run.unit.db
    user = run.unit.user
    changes = run.unit.journal
    # An undo or a redo: replace the journal that it reversed.
    for planned, _ in run.done:
        if planned.name == "undo.last":
            db.execute(
                """UPDATE applied SET undone = 1 - undone, journal = json_set(journal, '$.changes', json(?))
                WHERE id = ?""",
                (compact_json(changes), planned.values["applied_id"]),
            )
            return
    # Anything else: a new journal, after what it ends.
    journal = compact_json(
        {"changes": changes, "lines": lines[:FEW_LINES], "count": len(run.entries)}
    )
    db.execute(
        """DELETE FROM applied WHERE user = :user AND (undone = 1 OR id <= (SELECT id FROM applied
        WHERE user = :user AND undone = 0 ORDER BY id DESC LIMIT 1 OFFSET :most - 1))""",
        {"user": user, "most": rules.UNDONE_AT_MOST},
    )
    db.execute(insertion("applied", "user", "preview_id", "journal"), (user, preview_id, journal))
