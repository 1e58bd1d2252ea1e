"""Images for flashcards: fetched, recognized, made small, stored, placed."""
