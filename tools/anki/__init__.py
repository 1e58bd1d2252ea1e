"""Anki flashcards, through the AnkiConnect add-on of a running Anki."""
