"""OnePercent: goals with steps, habits and a diary, changed in two phases."""

INSTRUCTION = "OnePercent (goals, habits, diary): get_user_snapshot gives the ids; never guess one, ask. Dates are YYYY-MM-DD."
WRITE_INSTRUCTION = (
    "Every change: preview_actions, show its message and wait for a clear yes, then apply_actions; "
    "cancel_preview on a no. If a page shows it, do not repeat it."
)
