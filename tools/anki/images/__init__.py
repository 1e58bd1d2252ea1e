"""Images for flashcards: fetched, recognized, made small, stored, shown in fields."""
