"""How the systems are used together: what a client tells its model when it connects.

It lies here and not with the systems because it is sent before they are imported.
"""

from tools.settings import Settings

TEXTS = (
    (
        "klipper",
        False,
        "Klipper: search_docs first, then read_doc the page a snippet points to; name it in the answer.",
    ),
    ("klipper", True, "If the description of sync_docs says the docs are outdated, offer to run it."),
    ("onepercent", False, "Goals, habits, diary: get_user_snapshot gives the ids; never guess one, ask."),
    (
        "onepercent",
        True,
        "Every change: preview_actions, show its diff in words and wait for a clear yes, then apply_actions; "
        "cancel_preview on a no.",
    ),
    ("anki", True, "Anki: anki_model_info shows the fields before notes are added; ask before deleting."),
    ("search", False, "Web: search, for what the other tools do not know."),
)
"""(system, whether it is about changes, text)."""


def instructions(settings: Settings) -> str:
    """The sentences about what these settings offer."""
    said = [
        text
        for system, write, text in TEXTS
        if (not settings.toolsets or system in settings.toolsets) and not (write and settings.read_only)
    ]
    return " ".join([*said, "Errors carry a hint: what to do next."])
