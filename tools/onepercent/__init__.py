"""OnePercent: goals with steps, habits and a diary, changed in two phases."""

from tools.core.toolsets import Instruction

INSTRUCTIONS = (
    Instruction(
        "OnePercent (goals, habits, diary): get_user_snapshot gives the ids; never guess one, ask. Dates are YYYY-MM-DD."
    ),
    Instruction(
        "Every change: preview_actions, show its message and wait for a clear yes, then apply_actions; "
        "cancel_preview on a no. If a page shows it, do not repeat it.",
        write=True,
    ),
)
