"""Pages for the person: of a preview, and of the days."""
