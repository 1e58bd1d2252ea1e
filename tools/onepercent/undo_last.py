"""The tool that takes back what was applied last."""

import uuid
from typing import Annotated

from tools.core import calls
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.tool import Tool
from tools.onepercent import actions, days, settings
from tools.onepercent.actions import undo
from tools.onepercent.database import audit, store
from tools.onepercent.database.types import Database
from tools.onepercent.page import pages
from tools.onepercent.preview import showing
from tools.onepercent.preview.dry_run import Planned, dry_run


@Tool("undo_last", title="Undo", order=50, write=True, lock=False, on_call=audit.entry, page=pages.PREVIEW)
def undo_last(redo: Annotated[bool, "bring back what was undone last"] = False) -> JsonObject:
    """Preview the exact reversal of what was applied last, XP included; confirm it with apply_actions.

    Applied again and again it walks back, up to 20 changes. Fails, saying why, if what it touches has changed since.
    Source: the journals of what was applied.
    """
    calls.checkpoint()
    with store.writing() as db:
        tried = dry_run(db, [_reversal(db, redo)], days.now())
        if tried.errors:
            error = tried.errors[0]
            raise ToolError(error["error"], error["hint"], code=error["code"])
        return showing.answered(db, tried)


def _reversal(db: Database, redo: bool) -> Planned:
    user = settings.current().onepercent_user
    row = undo.to_redo(db, user) if redo else undo.to_undo(db, user)
    if row is None and redo:
        raise ToolError(
            "Nothing to redo", "What was undone comes back until something new is applied.", code="NOTHING_TO_UNDO"
        )
    if row is None:
        raise ToolError("Nothing to undo", "Nothing (more) that was applied is kept.", code="NOTHING_TO_UNDO")
    kind = actions.ACTIONS["undo.redo" if redo else "undo.last"]
    return Planned(kind, str(uuid.uuid4()), {"applied_id": row["id"]})
