"""The way from a question to its page."""
