"""Tools behind the buttons of pages: the person's own consent, recorded apart from a model's word."""

from typing import Annotated, Literal

from tools.toolkit import JsonObject, ToolError, filled

from . import settings
from .base import days
from .database import scalar, store
from .page import keys, person_pages
from .phases import plans
from .phases.applying import apply_agreed
from .phases.dispatch import writing_tool
from .phases.dry_run import dry_run

Tick = Literal[
    "step.complete", "step.reopen", "habit.mark_completed", "habit.mark_missed", "habit.unmark"
]

AMOUNT_OF_DAY = """SELECT total(amount) FROM habit_marks
    WHERE habit_id = :id AND user = :user AND date = :day"""


@writing_tool(
    "apply_by_press",
    title="Apply (the button)",
    order=24,
    destructive=True,
    idempotent=True,
    page=person_pages.PREVIEW,
    app_only=True,
)
def apply_by_press(
    preview_id: str,
    press_key: str,
    without: Annotated[list[str] | None, "client_action_ids left out"] = None,
) -> JsonObject:
    """Apply a preview, or part of it: the person pressed Apply on its page.

    Source: docs/pages.md
    """
    keys.check(keys.of_preview(preview_id), press_key)
    # A second press brings the same key and gets the answer of the first.
    return apply_agreed(preview_id, f"press {preview_id}", without or ())


@writing_tool(
    "tick_by_press",
    title="Tick (the box)",
    order=25,
    page=person_pages.DAYS,
    app_only=True,
)
def tick_by_press(
    action: Tick,
    id: int,
    press_key: str,
    date: Annotated[str, "default: today"] = "",
    amount: float | None = None,
    seen: Annotated[float | None, "the day's amount as the page shows it"] = None,
    excuse_reason: str = "",
) -> JsonObject:
    """Tick a step or a day of a habit, or take it back: one press previews and applies one action.

    An amount is added only if the day still has what was `seen`: a press whose reply was lost is not added
    again.

    Source: docs/pages.md
    """
    keys.check(keys.of_day(), press_key)
    params = filled(date=date, amount=amount, excuse_reason=excuse_reason)
    params[f"{action.partition('.')[0]}_id"] = id
    with store.writing("NORMAL") as db:
        values = {"id": id, "user": settings.user(), "day": date or f"{days.today()}"}
        stored_amount = scalar(db, AMOUNT_OF_DAY, values)
        if seen not in (None, stored_amount):
            raise ToolError("The amount of the day has changed", "Show the day again.", "ALREADY")
        preview_id = plans.save(dry_run(db, [{"action": action, "params": params}], is_strict=True))
    return apply_agreed(preview_id, preview_id)
