"""Copies, exports and imports of the database, and other programs' files."""
