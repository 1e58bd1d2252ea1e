"""Anki flashcards, through the AnkiConnect add-on of a running Anki."""

WRITE_INSTRUCTION = (
    "Anki: anki_model_info shows the fields before notes are added; ask before deleting."
)
