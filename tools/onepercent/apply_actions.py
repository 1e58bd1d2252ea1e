"""Second phase: the tool that applies a preview once the person has said yes."""

from typing import Annotated

from tools.core import calls
from tools.toolkit import JsonObject, ToolError

from . import settings
from .base import fields
from .database import store
from .page import keys
from .phases import applying, consent, dispatch, plans
from .phases.dry_run import dry_run


@dispatch.writing_tool(
    "apply_actions",
    title="Apply a preview",
    order=30,
    destructive=True,
    idempotent=True,
)
def apply_actions(
    preview_id: str,
    user_confirmation: Annotated[str, "the person's words of consent"],
    idempotency_key: str = "",
) -> JsonObject:
    """Apply a preview, all or nothing, only after the person said yes to it.

    Source: docs/manual.md, “Your data”.
    """
    preview_id = fields.identifier("preview_id", preview_id)
    key = fields.identifier("idempotency_key", idempotency_key) if idempotency_key else preview_id
    fields.text(500, line=True).parse("user_confirmation", user_confirmation)
    if not consent.is_yes(user_confirmation):
        raise ToolError(
            f"That is not a yes: {fields.printable(user_confirmation)}",
            "Nothing was changed. Ask, then send the person's own yes; cancel_preview gives the preview up.",
            "NOT_CONFIRMED",
        )
    calls.checkpoint()
    if settings.current().onepercent_confirm == "elicit":
        _ask_person(preview_id)
    return applying.apply_agreed(preview_id, key)


def _ask_person(preview_id: str) -> None:
    """Ask the person, not the model, with the changes in words; not about a preview that is not pending.
    Raises ToolError: DECLINED (the preview is cancelled then), NOT_CONFIRMED, CANNOT_ASK."""
    with store.writing() as db:
        preview = plans.preview_of(db, preview_id)
        if preview["status"] != "pending":
            return
        question = dry_run(db, plans.plan_of(preview).actions).question()
    answer = calls.ask(question, keys.of_question(preview_id))
    if answer == "decline":
        with store.writing() as db:
            plans.cancel(db, preview_id)
        raise ToolError(
            "The person declined",
            "The preview is cancelled. Ask what should be different.",
            "DECLINED",
        )
    if answer != "accept":
        raise ToolError(
            "The person has not answered",
            "Nothing was changed; the preview can still be applied.",
            "NOT_CONFIRMED",
        )
