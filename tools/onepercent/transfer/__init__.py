"""What goes out of the database and comes in: copies, exports, other programs' files."""
