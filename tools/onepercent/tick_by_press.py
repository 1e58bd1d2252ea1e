"""The tool behind the check boxes of the days' page: one press previews and applies one action."""

import uuid
from typing import Annotated

from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.schema import Published
from tools.core.tool import Tool
from tools.onepercent import days, fields
from tools.onepercent.apply_actions import applied
from tools.onepercent.database import audit, store
from tools.onepercent.page import keys, pages
from tools.onepercent.preview import previews
from tools.onepercent.preview.dry_run import dry_run

TICKS = ("step.complete", "step.reopen", "habit.mark_completed", "habit.unmark")
TICK = fields.Choice(TICKS, "UNKNOWN_ACTION")


@Tool(
    "tick_by_press", order=25, write=True, lock=False, on_call=audit.entry, page=pages.DAYS, app_only=True,
)  # fmt: skip
def tick_by_press(
    action: Annotated[str, Published({"type": "string", "enum": list(TICKS)})], id: int, press_key: str
) -> JsonObject:
    """Tick a step or today's mark of a habit, or take it back: the person pressed its check box.

    Source: docs/pages.md
    """
    keys.check(keys.of_day(), press_key)
    entity_id = fields.Whole(1, fields.LARGEST_ID).read("id", id)
    if entity_id is None:
        raise fields.required("id")
    preview_id = _previewed(TICK.read("action", action), entity_id)
    return applied(preview_id, str(uuid.uuid4()))


def _previewed(action: str, entity_id: int) -> str:
    """The id of a preview of the one action.

    Raises ToolError.
    """
    params: JsonObject = {f"{action.partition('.')[0]}_id": entity_id}
    if action == "habit.unmark":
        params["date"] = days.today(days.now()).isoformat()
    sent = {"action": action, "client_action_id": str(uuid.uuid4()), "params": params}
    with store.writing() as db:
        tried = dry_run(db, [sent], days.now())
        if tried.errors:
            error = tried.errors[0]
            raise ToolError(error["error"], error["hint"], code=error["code"])
        return previews.store_preview(tried)[0]
