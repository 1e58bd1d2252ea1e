"""The journal: things as they were before notes, decks, cards or files were changed, and putting them back."""
