"""The tool that does what a preview showed."""

import json
from datetime import datetime
from typing import Annotated

from tools.core import calls
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.schema import Limits, Published
from tools.core.tool import Tool
from tools.onepercent import days, fields
from tools.onepercent.database import audit, store
from tools.onepercent.database.types import Database, Row
from tools.onepercent.preview import consent, previews, showing

CONFIRMATION = fields.Text(500, line=True)

Uuid = Annotated[str, Published(fields.Uuid().schema())]


@Tool(
    "apply_actions",
    title="Apply a preview",
    order=30,
    write=True,
    destructive=True,
    idempotent=True,
    lock=False,
    on_call=audit.entry,
)
def apply_actions(
    preview_id: Uuid,
    idempotency_key: Annotated[Uuid, "new for each preview; the same when repeating a call"],
    user_confirmation: Annotated[str, "the person's words of consent", Limits(min_length=1, max_length=500)],
) -> JsonObject:
    """Phase 2: apply a preview, all or nothing, only after the person said yes to its diff.

    An expired preview is not applied: the error brings a new preview_id and diff to be confirmed.
    Source: README.md, “What it does with your data”.
    """
    preview_id = fields.identifier("preview_id", preview_id)
    key = fields.identifier("idempotency_key", idempotency_key)
    CONFIRMATION.read("user_confirmation", user_confirmation)
    calls.checkpoint()
    consent.obtain(preview_id, key)
    return applied(preview_id, key)


def applied(preview_id: str, key: str) -> JsonObject:
    """The answer of the call in progress to a preview that the person has agreed to.

    Raises ToolError.
    """
    moment = days.now()
    with store.writing() as db:
        preview = previews.find(db, preview_id)
        answer = _repeated(db, preview, key)
        if answer:
            audit.record(db, answer)
            return answer
        if not previews.is_expired(preview, moment):
            answer = _done(db, preview, key, moment)
        else:
            renewed = showing.made_again(db, preview, moment)
    if answer is None:
        raise renewed
    store.checkpoint()
    return answer


def _done(db: Database, preview: Row, key: str, moment: datetime) -> JsonObject:
    previews.check_pending(preview, moment)
    done = previews.apply(db, preview, moment)
    previews.finish(db, preview, key, audit.record(db, done.answer), done)
    return done.answer


def _repeated(db: Database, preview: Row, key: str) -> JsonObject | None:
    """The stored answer if this call was already answered.

    Raises ToolError IDEMPOTENCY_CONFLICT if the key belongs to another preview.
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
