"""The tool that shows what actions would do."""

from typing import Annotated

from tools.core import calls
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.schema import Published
from tools.core.tool import Tool
from tools.onepercent import days, fields
from tools.onepercent.database import audit, store
from tools.onepercent.page import pages
from tools.onepercent.preview import published, showing
from tools.onepercent.preview.dry_run import dry_run

MOST_ACTIONS = 50


@Tool(
    "preview_actions",
    title="Preview changes",
    order=20,
    write=True,
    lock=False,
    on_call=audit.entry,
    page=pages.PREVIEW,
)
def preview_actions(actions: Annotated[list[object], Published(published.of_actions(MOST_ACTIONS))]) -> JsonObject:
    """Phase 1 of every change: what actions would do; nothing changes yet.

    Show message and warnings; apply_actions only after a clear yes, else cancel_preview.
    Source: the declarations in tools/onepercent/actions; README.md, “What it does with your data”.
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
        audit.purge(db)
        tried = dry_run(db, actions, days.now())
        if not tried.planned:
            raise _all_failed(tried.errors)
        return showing.answered(db, tried)


def _all_failed(errors: list[JsonObject]) -> ToolError:
    return ToolError(
        "All actions failed validation",
        "Fix them as errors says, then preview again.",
        code="ALL_FAILED",
        errors=errors,
    )
