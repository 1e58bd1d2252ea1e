"""The tool that gives up a preview."""

from typing import Annotated

from tools.core.json_types import JsonObject
from tools.core.schema import Published
from tools.core.tool import Tool
from tools.onepercent import days, fields, words
from tools.onepercent.database import audit, store
from tools.onepercent.preview import previews

Uuid = Annotated[str, Published(fields.Uuid().schema())]


@Tool("cancel_preview", title="Cancel a preview", order=40, write=True, lock=False, on_call=audit.entry)
def cancel_preview(preview_id: Uuid) -> JsonObject:
    """Give up a pending preview when the person says no.

    Source: README.md, “What it does with your data”.
    """
    preview_id = fields.identifier("preview_id", preview_id)
    with store.writing() as db:
        preview, moment = previews.find(db, preview_id), days.now()
        if not previews.is_expired(preview, moment):
            previews.check_pending(preview, moment)
        previews.cancel(db, preview_id)
        answer = {
            "success": True,
            "preview_id": preview_id,
            "status": "cancelled",
            "message": words.say("preview.cancelled"),
        }
        audit.record(db, answer)
    return answer
