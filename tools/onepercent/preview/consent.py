"""The person's consent to a preview, asked for by the server, not by the model."""

from tools.core import calls
from tools.core.errors import ToolError
from tools.onepercent import days, settings, words
from tools.onepercent.database import store
from tools.onepercent.preview import previews
from tools.onepercent.preview.dry_run import dry_run


def obtain(preview_id: str, key: str) -> None:
    """With ONEPERCENT_CONFIRM=elicit ask the person, showing the changes in words. A call repeated
    with the same `key` after the apply needs no second consent.

    Raises ToolError: DECLINED (the preview is cancelled then), NOT_CONFIRMED, CANNOT_ASK.
    """
    if settings.current().onepercent_confirm != "elicit":
        return
    question = _question(preview_id, key)
    answer = calls.ask(question) if question else "accept"
    if answer == "decline":
        _cancel(preview_id)
        raise ToolError(
            "The person declined", "The preview is cancelled. Ask what should be different.", code="DECLINED"
        )
    if answer != "accept":
        raise ToolError(
            "The person has not answered",
            "Nothing was changed; the preview can still be applied.",
            code="NOT_CONFIRMED",
        )


def _question(preview_id: str, key: str) -> str:
    """The question; empty if the call can be answered without consent."""
    with store.writing() as db:
        preview, moment = previews.find(db, preview_id), days.now()
        if preview["status"] == "applied" and preview["idempotency_key"] == key:
            return ""
        if previews.is_expired(preview, moment):
            return ""
        previews.check_pending(preview, moment)
        tried = dry_run(db, previews.planned(preview), moment)
    return "\n".join([words.say("preview.question"), *tried.lines()])


def _cancel(preview_id: str) -> None:
    with store.writing() as db:
        preview, moment = previews.find(db, preview_id), days.now()
        if not previews.is_expired(preview, moment):
            previews.check_pending(preview, moment)
        previews.cancel(db, preview_id)
