"""Names of fields: the error for a wrong name says the right one."""

from collections.abc import Mapping

from tools.core.errors import ToolError
from tools.core.suggest import several
from tools.onepercent.fields import shown

OTHER_NAMES = {
    "id": ("preview_id", "step_id", "habit_id", "diary_id", "goal_id"),
    "uuid": ("client_action_id", "preview_id"),
    "type": ("action",),
    "data": ("params",),
    "deadline": ("dt",),
    "due_date": ("dt",),
    "date": ("dt",),
    "dt": ("date",),
    "duration": ("time_duration",),
    "name": ("title",),
    "title": ("name", "what_done"),
    "task_id": ("step_id",),
    "entry_id": ("diary_id",),
    "description": ("why_important",),
    "frequency": ("frequency_type",),
    "days": ("schedule_days",),
    "reward": ("xp_reward",),
    "penalty": ("xp_penalty",),
    "reason": ("excuse_reason",),
    "excuse": ("excuse_reason",),
    "content": ("what_done", "what_not_done", "reflection", "plans"),
    "text": ("what_done", "what_not_done", "reflection", "plans"),
    "sections": ("include",),
    "status": ("goals_status",),
    "confirmation": ("user_confirmation",),
    "key": ("idempotency_key",),
}
"""What a field is often called elsewhere, and what it is called here: the first one that the object has."""


def known(sent: Mapping[str, object], names: Mapping[str, object], place: str) -> None:
    """Raises ToolError FIELD_UNKNOWN, naming the canonical field, if `sent` has a name that `names` lacks."""
    if not sent.keys() <= names.keys():
        raise _unknown(next(name for name in sent if name not in names), tuple(names), place)


def _unknown(name: str, names: tuple[str, ...], place: str) -> ToolError:
    meant = [other for other in OTHER_NAMES.get(name.lower(), ()) if other in names]
    if len(meant) > 1 and name not in ("content", "text"):
        meant = meant[:1]
    meant = meant or several(name.lower(), names, most=1)
    hint = f"Use {' or '.join(meant)}." if meant else f"{place} takes {', '.join(names) or 'nothing'}."
    data = {"canonical": meant[0]} if len(meant) == 1 else {}
    return ToolError(f"Unknown field: {shown(name)}", hint, code="FIELD_UNKNOWN", field=shown(name), **data)
