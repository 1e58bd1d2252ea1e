"""The database file: opened, read, written, copied."""
