"""Images for flashcards: fetched, told apart, made small, stored, placed."""
