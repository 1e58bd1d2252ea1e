"""What was there before notes, decks or files were changed or deleted, and putting it back."""
