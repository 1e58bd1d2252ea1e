"""OnePercent: goals with steps, habits and a diary, changed in two phases."""

from tools.core.instructions import Instruction

INSTRUCTIONS = (
    Instruction("Goals, habits, diary: get_user_snapshot gives the ids; never guess one, ask."),
    Instruction(
        "Every change: preview_actions, show its diff in words and wait for a clear yes, then apply_actions; "
        "cancel_preview on a no.",
        write=True,
    ),
)
