"""Anki flashcards, through the AnkiConnect add-on of a running Anki."""

from tools.core.toolsets import Instruction

INSTRUCTIONS = (
    Instruction(
        "Anki: anki_model_info shows the fields before notes are added; ask before deleting.",
        write=True,
    ),
)
