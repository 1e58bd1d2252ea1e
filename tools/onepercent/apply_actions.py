"""The tool that does what a preview showed."""

import json
from collections.abc import Collection
from typing import Annotated

from tools.core import calls
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.tool import Tool
from tools.onepercent import days, dispatch, fields, settings
from tools.onepercent.database import store
from tools.onepercent.database.types import Database, Row
from tools.onepercent.page import keys
from tools.onepercent.preview import stored
from tools.onepercent.preview.apply import apply
from tools.onepercent.preview.dry_run import dry_run

CONFIRMATION = fields.text(500, line=True)


@Tool(
    "apply_actions", title="Apply a preview", order=30, write=True, destructive=True, idempotent=True, lock=False,
    on_call=dispatch.dispatch,
)  # fmt: skip
def apply_actions(
    preview_id: str,
    user_confirmation: Annotated[str, "the person's words of consent"],
    idempotency_key: Annotated[str | None, "default: the preview's own: a repeated call does nothing twice"] = None,
) -> JsonObject:
    """Phase 2: apply a preview, all or nothing, only after the person said yes to its diff.

    An expired or stale preview is not applied: the error brings a new preview_id and diff to be confirmed.
    Source: docs/manual.md, “Your data”.
    """
    preview_id = fields.identifier("preview_id", preview_id)
    key = preview_id if idempotency_key is None else fields.identifier("idempotency_key", idempotency_key)
    CONFIRMATION.read("user_confirmation", user_confirmation)
    calls.checkpoint()
    if settings.current().onepercent_confirm == "elicit":
        _ask(preview_id, key)
    return applied(preview_id, key)


def applied(preview_id: str, key: str, without: Collection[str] = ()) -> JsonObject:
    """Apply a preview that the person has agreed to, but for the actions `without`; return the recorded answer.

    Raises ToolError.
    """
    moment = days.now()
    try:
        with store.writing() as db:
            preview = stored.find(db, preview_id, moment)
            if repeated := _repeated(db, preview, key):
                return dispatch.recorded(db, repeated)
            stored.check_unused(preview)
            if preview["status"] == "expired":
                raise ToolError("Preview expired", stored.REPEAT, code="PREVIEW_EXPIRED")
            preview = stored.narrowed(preview, without)
            answer = apply(db, preview, key, moment)
    except ToolError as error:
        if error.code in ("PREVIEW_EXPIRED", "PREVIEW_STALE"):
            with store.writing() as db:
                stored.renew(db, preview, moment, error)
        raise
    store.checkpoint()
    return answer


def _ask(preview_id: str, key: str) -> None:
    """Ask the person, not the model, showing the changes in words. Calls that change nothing need no consent: one that
    is repeated after the apply, and that of an expired preview.

    Raises ToolError: DECLINED (the preview is cancelled then), NOT_CONFIRMED, CANNOT_ASK.
    """
    moment = days.now()
    with store.writing() as db:
        preview = stored.find(db, preview_id, moment)
        if preview["status"] == "applied" and preview["idempotency_key"] == key:
            return
        stored.check_unused(preview)
        if preview["status"] == "expired":
            return
        question = dry_run(db, stored.plan(preview).actions, moment).question()
    answer = calls.ask(question, keys.of_question(preview_id))
    if answer == "decline":
        with store.writing() as db:
            stored.cancel(db, preview_id, days.now())
        hint = "The preview is cancelled. Ask what should be different."
        raise ToolError("The person declined", hint, code="DECLINED")
    if answer != "accept":
        hint = "Nothing was changed; the preview can still be applied."
        raise ToolError("The person has not answered", hint, code="NOT_CONFIRMED")


def _repeated(db: Database, preview: Row, key: str) -> JsonObject | None:
    """The stored answer if this call was already answered.

    Raises ToolError IDEMPOTENCY_CONFLICT if the key belongs to another preview.
    """
    statement = """SELECT p.id, a.answer FROM previews p JOIN audit a ON a.id = p.audit_id
        WHERE p.user = ? AND p.idempotency_key = ?"""
    row = db.execute(statement, (preview["user"], key)).fetchone()
    if row and row["id"] != preview["id"]:
        message, hint = "idempotency_key was already used for another preview", "Use a new UUID for this preview."
        raise ToolError(message, hint, code="IDEMPOTENCY_CONFLICT")
    return json.loads(row["answer"]) if row else None
