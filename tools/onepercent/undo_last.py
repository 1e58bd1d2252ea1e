"""The tool that takes back what was applied last."""

from typing import Annotated

from tools.core import calls
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.tool import Tool
from tools.onepercent import actions, days, dispatch, settings, words
from tools.onepercent.actions import undo
from tools.onepercent.database import store
from tools.onepercent.database.types import Database
from tools.onepercent.page import person_pages
from tools.onepercent.preview import stored
from tools.onepercent.preview.dry_run import Planned, dry_run

FEW_LINES = 3
"""Lines by which the list names a change."""


@Tool("undo_last", title="Undo", order=50, write=True, lock=False, on_call=dispatch.dispatch, page=person_pages.PREVIEW)
def undo_last(
    redo: Annotated[bool, "bring back what was undone last"] = False,
    number: Annotated[int, "take back only the n-th of what stands, newest first"] = 1,
    list: Annotated[bool, "only name the last 20 changes, newest first"] = False,
) -> JsonObject:
    """Preview the exact reversal of what was applied last, XP included; confirm it with apply_actions.

    Applied again and again it walks back, up to 20 changes. Fails, saying why, if what it touches has changed since.
    Source: the journals of what was applied.
    """
    calls.checkpoint()
    with store.writing() as db:
        if list:
            return dispatch.recorded(db, {"success": True, "changes": _changes(db)})
        row = undo.applied(db, settings.current().onepercent_user, bool(redo), number)
        if row is None:
            only = "Only what was undone, and nothing applied since, can be redone."
            hint = only if redo else "Nothing (more) is kept."
            raise ToolError(f"Nothing to {'redo' if redo else 'undo'}", hint, code="NOTHING_TO_UNDO")
        kind = actions.ACTIONS["undo.redo" if redo else "undo.last"]
        dry = dry_run(db, [Planned(kind, "1", {"applied_id": row["id"]})], days.now()).checked()
        return dispatch.recorded(db, {"success": True, **stored.shown(dry)})


def _changes(db: Database) -> list[JsonObject]:
    """Everything that undo and redo reach: when it was applied, on the person's clock, and what it was in words."""
    rows = db.execute(
        """SELECT a.journal, a.undone, c.at FROM applied a JOIN previews p ON p.id = a.preview_id
        LEFT JOIN audit c ON c.id = p.audit_id WHERE a.user = ? ORDER BY a.id DESC""",
        (settings.current().onepercent_user,),
    )
    changes = []
    for journal, undone, at in rows:
        _, lines = undo.read_journal(journal)
        when = {"at": f"{days.local(days.moment_of(at)):%Y-%m-%d %H:%M}"} if at else {}
        change = "; ".join(words.more(lines, FEW_LINES))
        changes.append({**when, "change": change, **({"undone": True} if undone else {})})
    return changes
