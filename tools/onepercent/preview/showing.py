"""Answers that hold a preview."""

from datetime import datetime

from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.onepercent import words
from tools.onepercent.database import audit
from tools.onepercent.database.types import Database, Row
from tools.onepercent.preview import previews
from tools.onepercent.preview.dry_run import DryRun, Planned, dry_run


def shown(db: Database, tried: DryRun) -> JsonObject:
    """Store the preview and return it as an answer shows it."""
    preview_id, ttl_s = previews.store_preview(tried)
    return {
        "preview_id": preview_id,
        "expires_in_seconds": ttl_s,
        "diff": tried.diff(),
        "xp_total": tried.xp,
        **({"warnings": tried.warnings} if tried.warnings else {}),
        "message": "\n".join([words.say("preview.head"), *tried.lines(), words.say("preview.ask")]),
    }


def answered(db: Database, tried: DryRun) -> JsonObject:
    """Record and return the answer of the current call."""
    answer = {"success": True, **shown(db, tried)}
    audit.record(db, answer)
    return answer


def made_again(db: Database, preview: Row, moment: datetime) -> ToolError:
    """The error of an expired preview, with a fresh one of the same actions to be confirmed, if it can be made."""
    every: list[Planned] = previews.planned(preview)
    tried = dry_run(db, every, moment) if every else None
    if tried is None or not tried.planned:
        return previews.expired()
    hint = (
        "Nothing was applied. Show the person this new diff; on a yes apply its preview_id with a new idempotency_key."
    )
    error = ToolError("Preview expired", hint, code="PREVIEW_EXPIRED")
    error.data = shown(db, tried)
    return error
