"""The person's own yes to a preview, asked by the server and not by the model."""

import json
from typing import Any

from tools import calls, settings
from tools.errors import ToolError
from tools.onepercent import days, previews, rehearsals, store
from tools.onepercent.actions import ACTIONS
from tools.onepercent.rehearsals import Planned, Rehearsal


def obtain(preview_id: str, key: str) -> None:
    """With ONEPERCENT_CONFIRM=elicit ask the person, showing the changes in words. What is applied already, and
    answered again for the same `key`, needs no second yes.

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
    with store.writing() as db:
        preview = previews.find(db, preview_id)
        if preview["status"] == "applied" and preview["idempotency_key"] == key:
            return ""
        moment = days.now()
        previews.check_pending(preview, moment)
        plan = json.loads(preview["plan"])["actions"]
        rehearsal = rehearsals.rehearse(db, [Planned(ACTIONS[name], *rest) for name, *rest in plan], moment)
    return _words(rehearsal)


def _words(rehearsal: Rehearsal) -> str:
    lines = []
    for outcome in rehearsal.outcomes:
        lines.append(f"• {outcome.message}")
        lines += [f"    {line}" for _, entry in outcome.entries for line in _changes(entry)]
    lines += [f"✗ {error['error']}" for error in rehearsal.errors]
    return "\n".join(
        ["Применить эти изменения?", *lines, f"XP: {rehearsal.xp:+d}" if rehearsal.xp else "XP не изменится"]
    )


def _changes(entry: dict[str, Any]) -> list[str]:
    """Each changed field as `field: before → after`."""
    return [f"{name}: {_value(one['from'])} → {_value(one['to'])}" for name, one in entry.get("changes", {}).items()]


def _value(value: Any) -> str:
    return "—" if value is None else str(value)


def _cancel(preview_id: str) -> None:
    with store.writing() as db:
        previews.check_pending(previews.find(db, preview_id), days.now())
        db.execute("UPDATE previews SET status = 'cancelled', plan = NULL WHERE id = ?", (preview_id,))
