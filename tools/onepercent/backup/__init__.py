"""Export, import, backup and restore of the database."""
